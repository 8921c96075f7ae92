import Cambium
import Foundation
import TestSupport
import Testing

final class Node: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var name = ""
  @Persisted var rank: Int?
  @Persisted var next: Node?
  @Persisted var children: List<Node>
  @Persisted var words: List<String>
  @Persisted var tag: Tag?
  @Persisted(originProperty: "next") var previous: LinkingObjects<Node>
  @Persisted(originProperty: "children") var parents: LinkingObjects<Node>
}

final class Tag: Object {
  @Persisted(primaryKey: true) var label: String
  @Persisted var weight = 0.0
  @Persisted(originProperty: "tag") var nodes: LinkingObjects<Node>
}

/// What the database should hold, as plain values.
struct ObjectModel: Equatable {
  struct Entry: Equatable {
    var name = ""
    var rank: Int?
    var next: Int?
    var children: [Int] = []
    var words: [String] = []
    var tag: String?
  }

  var nodes: [Int: Entry] = [:]
  var tags: [String: Double] = [:]

  mutating func deleteNode(_ id: Int) {
    nodes[id] = nil
    for key in nodes.keys {
      if nodes[key]?.next == id { nodes[key]?.next = nil }
      nodes[key]?.children.removeAll { $0 == id }
    }
  }

  mutating func deleteTag(_ label: String) {
    tags[label] = nil
    for key in nodes.keys where nodes[key]?.tag == label { nodes[key]?.tag = nil }
  }
}

@Suite struct ObjectModelTests {
  @Test(arguments: [1, 2] as [UInt64])
  func `a Realm in memory holds what a plain model holds`(seed: UInt64) throws {
    let configuration = SampledStore.memory.configuration(
      UUID().uuidString, [Node.self, Tag.self])
    try Run(seed: seed, configuration: configuration).run(steps: 40)
  }

  @Test(arguments: Exhaustive.seeds(4, few: 2).map { $0 + 11 })
  func `a Realm whose transactions are written in parts holds it`(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let store = SampledStore.one(seed: seed, persistent: true)
    var configuration = store.configuration(folder.file("model"), [Node.self, Tag.self])
    configuration.durability = .relaxed
    configuration.databaseOptions.transactionBudgetByteCount = 12 << 10
    try Run(seed: seed, configuration: configuration).run(steps: 20)
    try store.expectSound(configuration)
  }

  @Test(arguments: SampledStore.all.enumerated().map { (UInt64($0) + 3, $1) })
  func `a Realm in each kind of store and codec holds it`(
    seed: UInt64, store: SampledStore
  ) throws {
    let folder = try TemporaryFolder()
    var configuration = store.configuration(folder.file("model"), [Node.self, Tag.self])
    configuration.durability = .relaxed
    try Run(seed: seed, configuration: configuration).run(steps: 20)
    try store.expectSound(configuration)
  }
}

/// One random sequence of transactions.
private struct Run {
  private var random: SeededGenerator
  private let configuration: Realm.Configuration
  private var model = ObjectModel()
  private static let keyLimit = 40

  init(seed: UInt64, configuration: Realm.Configuration) {
    random = SeededGenerator(seed: seed)
    self.configuration = configuration
  }

  func run(steps: Int) throws {
    var run = self
    var kept: Realm?
    for step in 0..<steps {
      // A file is opened anew now and then, so that nothing lives on in accessors alone; memory
      // would be gone.
      let realm = try Realm(configuration: configuration)
      try run.transaction(realm)
      run.check(realm)
      if step % 10 == 9 { run.check(realm.freeze()) }
      kept = configuration.inMemoryIdentifier == nil && step % 7 == 0 ? nil : realm
    }
    withExtendedLifetime(kept) {}
  }

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private mutating func transaction(_ realm: Realm) throws {
    let before = model
    realm.beginWrite()
    for _ in 0..<number(25) {
      change(realm)
      if number(8) == 0 { check(realm) }
    }
    if number(4) == 0 {
      realm.cancelWrite()
      model = before
    } else {
      try realm.commitWrite()
    }
  }

  private mutating func change(_ realm: Realm) {
    let id = number(Self.keyLimit)
    let node = realm.object(ofType: Node.self, forPrimaryKey: id)
    #expect((node == nil) == (model.nodes[id] == nil))
    guard let node else {
      add(id, realm)
      return
    }
    switch number(12) {
    case 0:
      realm.delete(node)
      model.deleteNode(id)
      #expect(node.isInvalidated)
    case 1:
      node.name = "n\(number(10))"
      model.nodes[id]?.name = node.name
    case 2:
      node.rank = number(3) == 0 ? nil : number(1000) - 500
      model.nodes[id]?.rank = node.rank
    case 3:
      let other = realm.object(ofType: Node.self, forPrimaryKey: number(Self.keyLimit))
      node.next = other
      model.nodes[id]?.next = other?.id
    case 4, 5: changeChildren(node, id, realm)
    case 6, 7: changeWords(node, id)
    case 8: changeTag(node, id, realm)
    case 9:
      let label = "t\(number(6))"
      if let tag = realm.object(ofType: Tag.self, forPrimaryKey: label) {
        realm.delete(tag)
        model.deleteTag(label)
      }
    case 10: update(id, realm)
    default:
      if number(30) == 0 {
        realm.deleteAll()
        model = ObjectModel()
      }
    }
  }

  private mutating func add(_ id: Int, _ realm: Realm) {
    var entry = ObjectModel.Entry()
    entry.name = "n\(number(10))"
    entry.rank = number(2) == 0 ? nil : number(100)
    entry.words = (0..<number(4)).map { "w\($0)" }
    let node = Node()
    node.id = id
    node.name = entry.name
    node.rank = entry.rank
    node.words.append(objectsIn: entry.words)
    if number(3) == 0 {
      node.next = node
      entry.next = id
    }
    let known = model.nodes.keys.sorted()
    for _ in 0..<number(4) where !known.isEmpty {
      let child = known[number(known.count)]
      if let object = realm.object(ofType: Node.self, forPrimaryKey: child) {
        node.children.append(object)
        entry.children.append(child)
      }
    }
    model.nodes[id] = entry
    realm.add(node)
    #expect(node.id == id)
    #expect(Array(node.words) == entry.words)
  }

  private mutating func update(_ id: Int, _ realm: Realm) {
    let name = "u\(number(10))"
    let policy: Realm.UpdatePolicy = number(2) == 0 ? .modified : .all
    realm.create(
      Node.self, value: ["id": id, "name": name, "words": ["a", name]] as [String: Any],
      update: policy)
    model.nodes[id]?.name = name
    model.nodes[id]?.words = ["a", name]
  }

  private mutating func changeChildren(_ node: Node, _ id: Int, _ realm: Realm) {
    let count = node.children.count
    guard let other = realm.object(ofType: Node.self, forPrimaryKey: number(Self.keyLimit)) else {
      return
    }
    switch number(6) {
    case 0, 1:
      let index = number(count + 1)
      node.children.insert(other, at: index)
      model.nodes[id]?.children.insert(other.id, at: index)
    case 2 where count > 0:
      let index = number(count)
      node.children.remove(at: index)
      model.nodes[id]?.children.remove(at: index)
    case 3 where count > 0:
      let index = number(count)
      node.children[index] = other
      model.nodes[id]?.children[index] = other.id
    case 4 where count > 1:
      let (from, to) = (number(count), number(count))
      node.children.move(from: from, to: to)
      if let element = model.nodes[id]?.children.remove(at: from) {
        model.nodes[id]?.children.insert(element, at: to)
      }
    case 5 where number(3) == 0:
      // Long enough for a tree of its own.
      let many = Array(repeating: other, count: 600)
      node.children.append(objectsIn: many)
      model.nodes[id]?.children += many.map(\.id)
    default:
      if number(3) == 0 {
        node.children.removeAll()
        model.nodes[id]?.children = []
      }
    }
  }

  private mutating func changeWords(_ node: Node, _ id: Int) {
    let count = node.words.count
    switch number(5) {
    case 0:
      let word = String(repeating: "x", count: number(200))
      node.words.append(word)
      model.nodes[id]?.words.append(word)
    case 1 where count > 1:
      let (first, second) = (number(count), number(count))
      node.words.swapAt(first, second)
      model.nodes[id]?.words.swapAt(first, second)
    case 2 where count > 2:
      node.words.removeFirst(2)
      model.nodes[id]?.words.removeFirst(2)
    case 3:
      node.words.replaceSubrange(0..<min(1, count), with: ["p", "q"])
      model.nodes[id]?.words.replaceSubrange(0..<min(1, count), with: ["p", "q"])
    default:
      if number(4) == 0 {
        node.words.removeAll()
        model.nodes[id]?.words = []
      }
    }
  }

  private mutating func changeTag(_ node: Node, _ id: Int, _ realm: Realm) {
    let label = "t\(number(6))"
    if let tag = realm.object(ofType: Tag.self, forPrimaryKey: label) {
      node.tag = tag
    } else {
      node.tag = Tag(value: ["label": label, "weight": 1.5] as [String: Any])
      model.tags[label] = 1.5
    }
    model.nodes[id]?.tag = label
  }

  /// Compares everything the Realm says with the model, backwards links and queries included.
  private func check(_ realm: Realm) {
    var found = ObjectModel()
    for node in realm.objects(Node.self) {
      found.nodes[node.id] = ObjectModel.Entry(
        name: node.name, rank: node.rank, next: node.next?.id, children: node.children.map(\.id),
        words: Array(node.words), tag: node.tag?.label)
      #expect(
        node.previous.map(\.id).sorted()
          == model.nodes.filter { $0.value.next == node.id }.keys.sorted())
      let parents = model.nodes.flatMap { entry in
        entry.value.children.filter { $0 == node.id }.map { _ in entry.key }
      }
      #expect(node.parents.map(\.id).sorted() == parents.sorted())
    }
    for tag in realm.objects(Tag.self) {
      found.tags[tag.label] = tag.weight
      #expect(tag.nodes.count == model.nodes.values.count { $0.tag == tag.label })
    }
    #expect(found == model)
    for name in ["n1", "u2"] {
      #expect(
        realm.objects(Node.self).filter("name == %@", name).map(\.id).sorted()
          == model.nodes.filter { $0.value.name == name }.keys.sorted())
    }
    #expect(
      realm.objects(Node.self).filter("rank > 10").count
        == model.nodes.values.count { ($0.rank ?? 0) > 10 })
  }
}
