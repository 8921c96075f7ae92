import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

final class SpecMaps: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var bools: Map<String, Bool>
  @Persisted var ints: Map<String, Int>
  @Persisted var smallInts: Map<String, Int8>
  @Persisted var floats: Map<String, Float>
  @Persisted var doubles: Map<String, Double>
  @Persisted var decimals: Map<String, Decimal128>
  @Persisted var strings: Map<String, String>
  @Persisted var datas: Map<String, Data>
  @Persisted var dates: Map<String, Date>
  @Persisted var objectIds: Map<String, ObjectId>
  @Persisted var uuids: Map<String, UUID>
  @Persisted var colors: Map<String, SpecColor>
  @Persisted var intOs: Map<String, Int?>
  @Persisted var stringOs: Map<String, String?>
  @Persisted var colorOs: Map<String, SpecColor?>
  @Persisted var members: Map<String, SpecMapMember?>
  @Persisted var rooms: Map<String, SpecRoom?>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecMapNode: Object {
  @Persisted var name = ""
  @Persisted var children: Map<String, SpecMapNode?>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecMapMember: Object {
  @Persisted(primaryKey: true) var name = ""
  @Persisted var age = 0
  @Persisted var friend: SpecMapMember?
  @Persisted(originProperty: "members") var owners: LinkingObjects<SpecMaps>

  convenience init(_ name: String, _ age: Int = 0) {
    self.init()
    self.name = name
    self.age = age
  }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Section B14: maps, managed and unmanaged alike.
@Suite struct B14MapTests {
  static let types: [ObjectBase.Type] = [
    SpecMaps.self, SpecMapMember.self, SpecRoom.self, SpecHouse.self, SpecLamp.self,
    SpecMaker.self,
  ]
  private let file: SpecFile

  init() throws { file = try SpecFile(Self.types) }

  /// Runs `body` with an unmanaged object, and in a transaction with a managed one; then the file must be
  /// sound.
  private func withMaps(managedOnly: Bool = false, _ body: (SpecMaps) throws -> Void) throws {
    if !managedOnly { try body(SpecMaps()) }
    try autoreleasepool {
      let realm = try Realm(configuration: file.configuration)
      let maps = SpecMaps()
      try realm.write {
        realm.deleteAll()
        realm.add(maps)
        try body(maps)
      }
    }
    try file.expectSound()
  }

  // MARK: Values by keys

  private func check<T: RealmCollectionValue>(
    _ values: [T], _ path: KeyPath<SpecMaps, Map<String, T>>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try withMaps { maps in
      let map = maps[keyPath: path]
      for (index, value) in values.enumerated() { map.updateValue(value, forKey: "k\(index)") }
      #expect(map.count == values.count, sourceLocation: sourceLocation)
      #expect(map.keys == values.indices.map { "k\($0)" }, sourceLocation: sourceLocation)
      #expect(map.values == values, sourceLocation: sourceLocation)
      #expect(map["k1"] == values[1] && map["none"] == nil, sourceLocation: sourceLocation)
      map["k0"] = values[1]
      map["k1"] = nil
      #expect(map["k0"] == values[1] && map["k1"] == nil, sourceLocation: sourceLocation)
      map.removeObject(for: "k0")
      map.removeObject(for: "never")
      #expect(map.count == values.count - 2, sourceLocation: sourceLocation)
      map.removeAll()
      #expect(map.count == 0 && map.keys == [], sourceLocation: sourceLocation)
    }
  }

  @Test func `maps of every value type find values by keys`() throws {
    try check([true, false], \.bools)
    try check([1, -5, .max, .min], \.ints)
    try check([1, -5, 127], \.smallInts)
    try check([1.5, -.infinity, 0], \.floats)
    try check([1.5, -.infinity, 0], \.doubles)
    try check([1, "2.50", "-1E+30"], \.decimals)
    try check(["", "a", "ä", String(repeating: "long", count: 500)], \.strings)
    try check([Data(), Data([1, 2]), Data(count: 3000)], \.datas)
    try check([Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1e9)], \.dates)
    try check([ObjectId.generate(), ObjectId.generate()], \.objectIds)
    try check([UUID(), UUID()], \.uuids)
    try check([SpecColor.red, .green], \.colors)
    try check([1, nil, 3], \.intOs)
    try check(["a", nil, ""], \.stringOs)
    try check([SpecColor.green, nil], \.colorOs)
  }

  @Test func `null is a value, and assigning nil takes the entry out`() throws {
    try withMaps { maps in
      maps.intOs["a"] = .some(nil)
      maps.intOs.updateValue(nil, forKey: "b")
      maps.intOs["c"] = 1
      #expect(maps.intOs.count == 3 && maps.intOs["a"] == .some(nil))
      maps.intOs["a"] = nil
      #expect(maps.intOs.keys == ["b", "c"])
    }
  }

  @Test func `merging combines with the old value first and then in the order of the pairs`() throws
  {
    try withMaps { maps in
      let map = maps.strings
      map["a"] = "old"
      let pairs = ["a", "b", "a", "b", "c"].enumerated().map { (key: $1, value: "\($0)") }
      map.merge(pairs) { "(\($0) \($1))" }
      #expect(map["a"] == "((old 0) 2)" && map["b"] == "(1 3)" && map["c"] == "4")
      struct Refusal: Error {}
      #expect(throws: Refusal.self) {
        try map.merge([(key: "d", value: "5"), (key: "a", value: "6")]) { _, _ in throw Refusal() }
      }
      #expect(map.keys == ["a", "b", "c"])
    }
  }

  @Test func `walks, merging and conditions`() throws {
    try withMaps { maps in
      let map = maps.ints
      map.merge([("b", 2), ("a", 1), ("b", 3)].map { (key: $0.0, value: $0.1) }) { $0 + $1 }
      #expect(map["a"] == 1 && map["b"] == 5)
      let other = Map<String, Int>()
      other["b"] = 10
      other["c"] = 7
      map.merge(other) { old, new in new - old }
      #expect(map["b"] == 5 && map["c"] == 7)
      var walked: [String: Int] = [:]
      for entry in map { walked[entry.key] = entry.value }
      #expect(walked == ["a": 1, "b": 5, "c": 7])
      let pairs = map.asKeyValueSequence().map { "\($0.key)\($0.value)" }
      #expect(pairs == ["a1", "b5", "c7"])
      #expect(map.contains { key, value in key == "c" && value == 7 })
      #expect(!map.contains { key, value in key == "c" && value == 8 })
      #expect(SingleMapEntry(key: "x", value: 1) == SingleMapEntry(key: "y", value: 1))
      #expect(map.min() == 1 && map.max() == 7 && map.sum() == 13)
      #expect(map.average() == 13.0 / 3)
      #expect(map.value(forKey: "c") as? Int == 7)
      #expect(map.value(forKeyPath: "@sum.self") as? Int == 13)
      #expect(map.object(forKey: "a" as NSString) as? Int == 1)
      map.setValue(9, forKey: "d")
      map.setValue(nil, forKey: "a")
      #expect(map.keys == ["b", "c", "d"])
      for entry in map where entry.value > 5 { map[entry.key] = nil }
      #expect(map.keys == ["b"])
    }
  }

  @Test func `equality, descriptions and coding`() throws {
    let (left, right) = (Map<String, Int>(), Map<String, Int>())
    left["a"] = 1
    right["a"] = 1
    #expect(left == right)
    right["b"] = 2
    #expect(left != right)
    #expect(right.description.hasPrefix("Map<string, int> <0x"))
    #expect(right.description.hasSuffix("> (\n\t[a]: 1,\n\t[b]: 2,\n)"))
    let data = try JSONEncoder().encode(right)
    #expect(try JSONDecoder().decode(Map<String, Int>.self, from: data) == right)
    let realm = try Realm(configuration: file.configuration)
    try realm.write {
      let made = realm.create(SpecMaps.self, value: ["id": 1, "ints": ["a": 1, "b": 2]])
      #expect(made.ints == made.ints && made.ints != right)
      #expect(made.description.contains("ints = Map<string, int> <0x"))
      let copy = SpecMaps(value: made)
      #expect(copy.ints == right)
    }
  }

  // MARK: Objects

  @Test func `objects are added, linked and become null`() throws {
    try withMaps(managedOnly: true) { maps in
      let realm = try #require(maps.realm)
      let (ann, bob) = (SpecMapMember("Ann", 1), SpecMapMember("Bob", 2))
      maps.members["a"] = ann
      maps.members["b"] = bob
      maps.members["also"] = ann
      maps.members["none"] = .some(nil)
      #expect(ann.realm == realm && ann.owners.count == 2 && bob.owners.first == maps)
      #expect(maps.members["a"]??.name == "Ann" && maps.members["none"] == .some(nil))
      #expect(maps.members["missing"] == nil)
      realm.delete(ann)
      #expect(maps.members.keys == ["a", "also", "b", "none"])
      #expect(maps.members["a"] == .some(nil) && maps.members["b"]??.age == 2)
      maps.members["b"] = nil
      #expect(bob.owners.isEmpty && !bob.isInvalidated)
      maps.members["b"] = bob
      realm.delete(maps.members)
      #expect(maps.members.count == 0 && realm.objects(SpecMapMember.self).isEmpty)
    }
  }

  @Test func `deleting the objects of a map may delete its owner`() throws {
    let realm = try specRealm([SpecMapNode.self])
    try realm.write {
      let (node, other) = (SpecMapNode(), SpecMapNode())
      realm.add([node, other])
      node.children["self"] = node
      node.children["other"] = other
      let kept = realm.create(SpecMapNode.self, value: ["name": "kept"])
      kept.children["gone"] = other
      realm.delete(node.children)
      #expect(node.isInvalidated && other.isInvalidated && kept.children["gone"] == .some(nil))
    }
    #expect(realm.objects(SpecMapNode.self).map(\.name) == ["kept"])
  }

  @Test func `embedded objects live and go with their entries`() throws {
    try withMaps(managedOnly: true) { maps in
      let realm = try #require(maps.realm)
      func counts() -> [Int] {
        [realm.dynamicObjects("SpecRoom").count, realm.dynamicObjects("SpecLamp").count]
      }
      maps.rooms["a"] = SpecRoom("a", lamps: [1, 2])
      maps.rooms["b"] = SpecRoom("b", lamps: [3])
      #expect(counts() == [2, 3])
      let first = try #require(maps.rooms["a"] ?? nil)
      maps.rooms["a"] = SpecRoom("again")
      #expect(first.isInvalidated && counts() == [2, 1])
      maps.rooms["b"] = nil
      #expect(counts() == [1, 0])
      realm.create(
        SpecMaps.self, value: ["id": 0, "rooms": ["a": ["name": "merged"], "c": ["new"]]],
        update: .modified)
      #expect(maps.rooms.keys == ["a", "c"] && maps.rooms["a"]??.name == "merged")
      realm.create(SpecMaps.self, value: ["id": 0, "rooms": ["d": ["d"]]], update: .all)
      #expect(maps.rooms.keys == ["d"] && counts() == [1, 0])
      realm.delete(maps)
      #expect(counts() == [0, 0])
    }
  }

  @Test func `an update merges into a map, or replaces it`() throws {
    try withMaps(managedOnly: true) { maps in
      let realm = try #require(maps.realm)
      maps.ints.merge([(key: "a", value: 1), (key: "b", value: 2)]) { $1 }
      realm.create(SpecMaps.self, value: ["id": 0, "ints": ["b": 5, "c": 6]], update: .modified)
      #expect(maps.ints.keys == ["a", "b", "c"] && maps.ints["b"] == 5)
      realm.create(SpecMaps.self, value: ["id": 0, "ints": ["z": 1]], update: .all)
      #expect(maps.ints.keys == ["z"])
      maps.ints = maps.ints
      #expect(maps.ints.keys == ["z"])
      let other = Map<String, Int>()
      other["q"] = 3
      maps.ints = other
      #expect(maps.ints.keys == ["q"] && other.realm == nil)
    }
  }

  @Test func `dynamic objects have maps by name`() throws {
    try withMaps(managedOnly: true) { maps in
      let realm = try #require(maps.realm)
      let object = try #require(realm.dynamicObjects("SpecMaps").first)
      object["ints"] = ["a": 1]
      object["members"] = ["x": ["name": "Eve", "age": 3], "y": NSNull()] as [String: Any]
      #expect(maps.ints["a"] == 1 && maps.members["x"]??.age == 3)
      #expect(maps.members["y"] == .some(nil))
      let members: Map<String, DynamicObject?> = object.dynamicMap("members")
      #expect(members["x"]??.name as? String == "Eve")
      #expect((object["intOs"] as? Map<String, Int?>)?.count == 0)
      #expect(object.value(forKeyPath: "members.x.age") as? Int == 3)
      #expect(maps.value(forKeyPath: "ints.@max.self") as? Int == 1)
    }
  }

  // MARK: Versions

  @Test func `frozen maps and references keep to their version`() throws {
    let realm = try Realm(configuration: file.configuration)
    let maps = SpecMaps(value: ["ints": ["a": 1]])
    try realm.write { realm.add(maps) }
    let frozen = maps.ints.freeze()
    let reference = ThreadSafeReference(to: maps.ints)
    let keys = try onAnotherThread { [file] in
      try Realm(configuration: file.configuration).resolve(reference)?.keys
    }
    #expect(keys == ["a"])
    try realm.write { maps.ints["b"] = 2 }
    #expect(frozen.isFrozen && frozen.keys == ["a"] && frozen.thaw()?.keys == ["a", "b"])
    realm.beginWrite()
    maps.ints.removeAll()
    realm.cancelWrite()
    #expect(maps.ints.keys == ["a", "b"])
    try realm.write { realm.delete(maps) }
    #expect(maps.ints.isInvalidated && frozen.thaw() == nil && frozen.count == 1)
  }
}
