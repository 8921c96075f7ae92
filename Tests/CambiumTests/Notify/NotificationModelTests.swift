import Cambium
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

final class NoticedPerson: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var age: Int?
  @Persisted var married = false
  @Persisted var favorite: NoticedDog?
  @Persisted var friends: List<NoticedPerson>
  @Persisted var nicknames: List<String>
  @Persisted(originProperty: "friends") var befriendedBy: LinkingObjects<NoticedPerson>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class NoticedDog: Object {
  @Persisted var name = "Rex"
  @Persisted var age = 0

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Change sets, applied to copies of what collections held before.
@Suite struct NotificationModelTests {
  /// What an element was when it was told last.
  private struct Element: Equatable {
    var id: String
    var values: String
  }

  /// A collection, what it held, and which changes of its elements count.
  private final class Copy {
    let name: String
    let mustTell: (_ before: Element, _ now: Element) -> Bool
    /// Whether an element that is assigned is another one.
    var holdsValues = false
    var elements: [Element]?
    var problems: [String] = []

    init(_ name: String, _ mustTell: @escaping (Element, Element) -> Bool) {
      self.name = name
      self.mustTell = mustTell
    }

    func take(_ now: [Element]) {
      if elements != nil { problems.append("\(name): two first calls") }
      elements = now
    }

    func apply(_ now: [Element], _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
      guard let old = elements else {
        problems.append("\(name): a change before the first call")
        return
      }
      elements = now
      let text = "\(name): -\(deletions) +\(insertions) ~\(modifications)"
      for indices in [deletions, insertions, modifications]
      where indices != Array(Set(indices)).sorted() {
        problems.append("\(text) do not ascend")
      }
      guard deletions + insertions + modifications != [] else {
        problems.append("\(text) says nothing")
        return
      }
      guard (deletions + modifications).allSatisfy({ old.indices.contains($0) }),
        insertions.allSatisfy({ now.indices.contains($0) }),
        Set(deletions).isDisjoint(with: modifications)
      else {
        problems.append("\(text) of \(old.count) and \(now.count)")
        return
      }
      var list = Array(old.enumerated())
      for place in deletions.reversed() { list.remove(at: place) }
      let gone = Set(deletions)
      var position = 0
      var stayed: [(old: Int, new: Int)] = []
      let new = Set(insertions)
      for (index, _) in list {
        while new.contains(position) { position += 1 }
        stayed.append((index, position))
        position += 1
      }
      guard old.count - gone.count + insertions.count == now.count,
        stayed.allSatisfy({ pair in
          now.indices.contains(pair.new)
            && (old[pair.old].id == now[pair.new].id
              || holdsValues && modifications.contains(pair.old))
        })
      else {
        problems.append("\(text) does not make \(now.map(\.id)) of \(old.map(\.id))")
        return
      }
      for pair in stayed where mustTell(old[pair.old], now[pair.new]) {
        if !modifications.contains(pair.old) {
          problems.append("\(text) leaves out \(pair.old): \(old[pair.old]) \(now[pair.new])")
        }
      }
    }
  }

  private static func element(_ person: NoticedPerson) -> Element {
    Element(
      id: "\(person.id)",
      values: "\(person.name)/\(person.age ?? -1)/\(person.favorite?.name ?? "-")")
  }

  /// The name, the age or the favorite's name.
  private static func part(_ part: Int, of element: Element) -> Substring {
    element.values.split(separator: "/", omittingEmptySubsequences: false)[part]
  }

  /// A queue that observes.
  private final class Observer: @unchecked Sendable {
    // Unchecked: all but the semaphore is used on the queue alone.
    let queue = DispatchQueue(label: "observer")
    var realm: Realm!
    var tokens: [NotificationToken] = []
    var copies: [Copy] = []
    let marked = DispatchSemaphore(value: 0)

    init(_ configuration: Realm.Configuration) throws {
      try queue.sync {
        realm = try Realm(configuration: configuration, queue: queue)
        observe()
      }
    }

    private func add<Collection: RealmCollection>(
      _ name: String, _ collection: Collection, _ keyPaths: [String]? = nil,
      as element: @escaping (Collection.Element) -> Element,
      mustTell: @escaping (Element, Element) -> Bool = { _, _ in false }
    ) {
      let copy = Copy(name, mustTell)
      copies.append(copy)
      tokens.append(
        collection.observe(keyPaths: keyPaths) { change in
          switch change {
          case .initial(let collection): copy.take(collection.map(element))
          case .update(let collection, let deletions, let insertions, let modifications):
            copy.apply(collection.map(element), deletions, insertions, modifications)
          case .error: copy.problems.append("\(copy.name): an error")
          }
        })
    }

    private func observe() {
      typealias Tests = NotificationModelTests
      let element = Tests.element
      let differs = { (before: Element, now: Element) in before.values != now.values }
      let people = realm.objects(NoticedPerson.self)
      add("all", people, as: element, mustTell: differs)
      add("older", people.where { $0.age > 3 }, as: element, mustTell: differs)
      add("sorted", people.sorted(byKeyPath: "age"), as: element, mustTell: differs)
      add(
        "married, sorted twice",
        people.where { $0.married == false || $0.age != nil }.sorted(byKeyPath: "name")
          .sorted(byKeyPath: "age", ascending: false), as: element, mustTell: differs)
      add("by name", people.sorted(byKeyPath: "name", ascending: false), ["age"], as: element) {
        Tests.part(1, of: $0) != Tests.part(1, of: $1)
      }
      add("by link", people.sorted(byKeyPath: "favorite.name"), as: element, mustTell: differs)
      add("distinct", people.distinct(by: ["name"]), as: element, mustTell: differs)
      add("names", people, ["name"], as: element) { Tests.part(0, of: $0) != Tests.part(0, of: $1) }
      add("favorites' names", people.filter("age != 2"), ["favorite.name"], as: element) {
        Tests.part(2, of: $0) != Tests.part(2, of: $1)
      }
      guard let first = people.first else { return }
      add("friends", first.friends, as: element, mustTell: differs)
      add("some friends", first.friends.filter("age > 2"), as: element, mustTell: differs)
      add("nicknames", first.nicknames, as: { Element(id: $0, values: "") })
      copies.last?.holdsValues = true
      add("befriended", first.befriendedBy, as: element, mustTell: differs)
      tokens.append(
        first.observe(keyPaths: ["married"]) {
          [weak self] (change: ObjectChange<NoticedPerson>) in
          if case .change = change { self?.marked.signal() }
        })
    }
  }

  // MARK: Changes

  private static func change(_ realm: Realm, _ id: inout Int, _ random: inout SeededGenerator) {
    let number = Int.random(in: 0..<7, using: &random)
    let name = ["a", "b", "c", "d"].randomElement(using: &random) ?? ""
    let people = realm.objects(NoticedPerson.self)
    let first = people.first
    let person = people.randomElement(using: &random)
    let dog = realm.objects(NoticedDog.self).randomElement(using: &random)
    switch Int.random(in: 0..<22, using: &random) {
    case 0, 1:
      id += 1
      realm.add(
        NoticedPerson(
          value: ["id": id, "name": name, "age": number == 0 ? nil : number] as [String: Any?]))
    case 2: realm.create(NoticedDog.self, value: ["name": name, "age": number])
    case 3, 4: person?.age = number == 0 ? nil : number
    case 5, 6: person?.name = name
    case 7: person.map { $0.age = $0.age }
    case 8: person?.favorite = number == 0 ? nil : dog
    case 9: dog?.name = name
    case 10, 11: if let person { first?.friends.append(person) }
    case 12:
      guard let first, let person else { break }
      first.friends.insert(person, at: Int.random(in: 0...first.friends.count, using: &random))
    case 13, 14:
      guard let first, !first.friends.isEmpty else { break }
      first.friends.remove(at: Int.random(in: 0..<first.friends.count, using: &random))
    case 15:
      guard let first, first.friends.count > 1 else { break }
      first.friends.move(
        from: Int.random(in: 0..<first.friends.count, using: &random),
        to: Int.random(in: 0..<first.friends.count, using: &random))
    case 16: if number == 0 { first?.friends.removeAll() }
    case 17: first?.nicknames.append(name)
    case 18:
      guard let first, !first.nicknames.isEmpty else { break }
      first.nicknames[Int.random(in: 0..<first.nicknames.count, using: &random)] = name
    case 19: if let person, person != first { realm.delete(person) }
    case 20: if let dog { realm.delete(dog) }
    default: if let person, let first { person.friends.append(first) }
    }
  }

  @Test(arguments: 0..<24)
  func `every change set makes the new contents of the old ones`(seed: UInt64) throws {
    let configuration = specConfiguration([NoticedPerson.self, NoticedDog.self])
    var random = SeededGenerator(seed: seed)
    var id = 10
    let writer = DispatchQueue(label: "writer")
    let realm = try writer.sync {
      let realm = try Realm(configuration: configuration, queue: writer)
      try realm.write {
        realm.add(NoticedPerson(value: ["id": 0, "name": "first", "age": 1]))
        for _ in 0..<12 { Self.change(realm, &id, &random) }
      }
      return realm
    }
    let observer = try Observer(configuration)
    for round in 0..<40 {
      let isLocal = Int.random(in: 0..<4, using: &random) == 0
      let refreshes = Bool.random(using: &random)
      let commits = Int.random(in: 1...3, using: &random)
      let work: (Realm) throws -> Void = { realm in
        for commit in 0..<commits {
          let isCancelled = Int.random(in: 0..<6, using: &random) == 0
          realm.beginWrite()
          for _ in 0..<Int.random(in: 1...4, using: &random) {
            Self.change(realm, &id, &random)
          }
          if isCancelled, commit + 1 < commits {
            realm.cancelWrite()
            continue
          }
          realm.object(ofType: NoticedPerson.self, forPrimaryKey: 0)?.married = round % 2 == 0
          try realm.commitWrite()
        }
      }
      if isLocal {
        try observer.queue.sync { try work(observer.realm) }
      } else {
        try writer.sync { try work(realm) }
      }
      if refreshes, !isLocal {
        _ = observer.queue.sync { observer.realm.refresh() }
      } else {
        observer.marked.wait()
      }
      // A mark for each time it was told; what comes in the background may come late.
      while observer.marked.wait(timeout: .now()) == .success {}
      observer.queue.sync {
        for copy in observer.copies {
          #expect(copy.problems == [], "seed \(seed), round \(round)")
        }
      }
      if observer.queue.sync(execute: { observer.copies.contains { !$0.problems.isEmpty } }) {
        break
      }
    }
    observer.queue.sync {
      // At the end the copies hold what the collections hold.
      observer.realm.refresh()
      let people = observer.realm.objects(NoticedPerson.self)
      #expect(observer.copies[0].elements == people.map(Self.element), "seed \(seed)")
      observer.tokens.removeAll()
    }
  }
}
