import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

final class SpecAny: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var value: AnyRealmValue
  @Persisted var other: AnyRealmValue
  @Persisted var list: List<AnyRealmValue>
  @Persisted var set: MutableSet<AnyRealmValue>
  @Persisted var map: Map<String, AnyRealmValue>

  convenience init(_ id: Int, _ value: AnyRealmValue = .none) {
    self.init()
    self.id = id
    self.value = value
  }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecAnyTarget: Object {
  @Persisted(primaryKey: true) var name = ""
  @Persisted var age = 0

  convenience init(_ name: String) {
    self.init()
    self.name = name
  }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension SpecFile {
  /// Runs `body` in a transaction over a managed object; then the file must be sound.
  func withAny(_ body: (Realm, SpecAny) throws -> Void) throws {
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      let object = SpecAny(1)
      try realm.write {
        realm.add(object)
        try body(realm, object)
      }
    }
    try expectSound()
  }
}

/// Section B15: values of any type.
@Suite struct B15AnyTests {
  static let types: [ObjectBase.Type] = [SpecAny.self, SpecAnyTarget.self]
  private let file: SpecFile

  init() throws { file = try SpecFile(Self.types) }

  /// A value of each scalar type, in the order of all types.
  static var scalars: [AnyRealmValue] {
    [
      .none, .bool(false), .bool(true), .double(-.infinity), .int(.min), .int(-300), .float(-1.5),
      .decimal128("-1.25"), .int(0), .double(0.1), .int(1), .float(2.5), .int(70_000),
      .int(9_007_199_254_740_993), .double(9_007_199_254_740_994), .int(.max), .double(1e300),
      .string(""), .string("a"), .string(String(repeating: "x", count: 3000)), .string("ä"),
      .data(Data()), .data(Data([1, 2])), .date(Date(timeIntervalSince1970: -5)),
      .date(Date(timeIntervalSince1970: 1e9)),
      .objectId(ObjectId("000000000000000000000001")),
      .objectId(ObjectId("ffffffffffffffffffffffff")),
      .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
    ]
  }

  // MARK: Values

  @Test func `equal lists and dictionaries are not written where only what differs is`() throws {
    let value: [String: Any] = [
      "id": 2, "value": ["a", ["b": [1, 2]]], "list": [["c"], ["d": 1]], "map": ["e": ["f"]],
    ]
    try file.withAny { realm, _ in
      let object = realm.create(SpecAny.self, value: value, update: .modified)
      let inner = try #require(object.value.listValue)
      let deep = try #require(inner[1].dictionaryValue?["b"]?.listValue)
      let element = try #require(object.list[0].listValue)
      let entry = try #require(object.map["e"]?.listValue)
      realm.create(SpecAny.self, value: value, update: .modified)
      for list in [inner, deep, element, entry] { #expect(!list.isInvalidated) }
      var other = value
      other["value"] = ["a", ["b": [1, 3]]]
      realm.create(SpecAny.self, value: other, update: .modified)
      #expect(inner.isInvalidated && !element.isInvalidated && !entry.isInvalidated)
      #expect(object.value.listValue?[1].dictionaryValue?["b"]?.listValue?[1] == .int(3))
    }
  }

  @Test func `every type is stored and read back`() throws {
    try file.withAny { realm, object in
      for (index, value) in Self.scalars.enumerated() {
        object.value = value
        #expect(object.value == value)
        let made = realm.create(SpecAny.self, value: ["id": index + 10, "value": value])
        #expect(made.value == value)
        object.list.append(value)
        object.map["k\(index)"] = value
      }
      #expect(Array(object.list) == Self.scalars)
      #expect(object.map["k5"] == .int(-300) && object.map.count == Self.scalars.count)
    }
    let realm = try Realm(configuration: file.configuration)
    for (index, value) in Self.scalars.enumerated() {
      #expect(realm.object(ofType: SpecAny.self, forPrimaryKey: index + 10)?.value == value)
    }
  }

  @Test func `accessors give what the value is, and nil otherwise`() {
    #expect(AnyRealmValue() == .none && AnyRealmValue.int(1) != .double(1))
    #expect(AnyRealmValue.int(1).intValue == 1 && AnyRealmValue.int(1).doubleValue == nil)
    #expect(AnyRealmValue.bool(true).boolValue == true && AnyRealmValue.none.boolValue == nil)
    #expect(AnyRealmValue.string("s").stringValue == "s")
    #expect(AnyRealmValue.float(1).floatValue == 1 && AnyRealmValue.double(2).doubleValue == 2)
    #expect(AnyRealmValue.data(Data([1])).dataValue == Data([1]))
    #expect(AnyRealmValue.decimal128(3).decimal128Value == 3)
    #expect(AnyRealmValue.uuid(UUID()).uuidValue != nil)
    #expect(AnyRealmValue.date(Date()).dateValue != nil)
    #expect(AnyRealmValue.objectId(.generate()).objectIdValue != nil)
    #expect(AnyRealmValue.fromArray([.int(1)]).listValue?.count == 1)
    #expect(AnyRealmValue.fromDictionary(["a": .int(1)]).dictionaryValue?["a"] == .int(1))
    let target = SpecAnyTarget("t")
    #expect(AnyRealmValue.object(target).object(SpecAnyTarget.self) === target)
    #expect(AnyRealmValue.object(target).object(SpecAny.self) == nil)
    #expect(Set(Self.scalars).count == Self.scalars.count)
  }

  @Test func `values come from Swift values, and go to them by name`() throws {
    try file.withAny { realm, object in
      object["value"] = 5
      #expect(object.value == .int(5) && object["value"] as? Int == 5)
      object["value"] = "text"
      #expect(object.value == .string("text") && object["value"] as? String == "text")
      object["value"] = nil
      #expect(object.value == .none && object["value"] == nil)
      object["value"] = ["a": 1, "b": ["x", 2.5]] as [String: Any]
      #expect(object.value.dictionaryValue?["b"]?.listValue?[1] == .double(2.5))
      let made = realm.create(
        SpecAny.self,
        value: [
          "id": 2, "value": true, "list": [1, "a", NSNull(), ["n": 1]], "map": ["k": Date.now],
          "set": [1, 1.0, "x"],
        ])
      #expect(made.value == .bool(true) && made.list.count == 4 && made.list[2] == .none)
      #expect(made.list[3].dictionaryValue?["n"] == .int(1) && made.set.count == 2)
      let dynamic = try #require(realm.dynamicObjects("SpecAny").first)
      dynamic["other"] = 1.5
      #expect(object.other == .double(1.5) && dynamic["other"] as? Double == 1.5)
    }
  }

  // MARK: Objects

  @Test func `objects of any class are added, linked, and gone when deleted`() throws {
    try file.withAny { realm, object in
      let (ann, bob) = (SpecAnyTarget("Ann"), SpecAnyTarget("Bob"))
      object.value = .object(ann)
      object.other = .object(object)
      object.list.append(objectsIn: [.int(1), .object(ann), .object(bob), .object(ann)])
      object.set.insert(objectsIn: [.object(ann), .int(3)])
      object.map["a"] = .object(ann)
      object.map["b"] = .object(bob)
      #expect(ann.realm == realm && object.value.object(SpecAnyTarget.self)?.name == "Ann")
      #expect(object.value.dynamicObject?.name as? String == "Ann")
      #expect(object.other.object(SpecAny.self)?.isSameObject(as: object) == true)
      #expect(object.list.index(of: .object(bob)) == 2)
      #expect(object.list.index(of: .object(SpecAnyTarget("nobody"))) == nil)
      #expect(realm.objects(SpecAnyTarget.self).count == 2)
      realm.delete(ann)
      #expect(object.value == .none && object.list.count == 2 && object.list[0] == .int(1))
      #expect(Array(object.set) == [.int(3)])
      #expect(object.map["a"] == AnyRealmValue.none && object.map.keys == ["a", "b"])
      #expect(object.map["b"]?.object(SpecAnyTarget.self)?.name == "Bob")
      object.value = .fromArray([.object(bob), .fromDictionary(["x": .object(bob)])])
      realm.delete(bob)
      let rest = try #require(object.value.listValue)
      #expect(rest.count == 1 && rest[0].dictionaryValue?["x"] == AnyRealmValue.none)
      for id in 10..<30 {
        let made = realm.create(SpecAny.self, value: ["id": id, "value": SpecAnyTarget("t\(id)")])
        made.list.append(.object(object))
      }
      realm.delete(realm.objects(SpecAny.self).where { $0.id >= 15 })
      realm.delete(realm.objects(SpecAnyTarget.self))
      #expect(realm.objects(SpecAny.self).where { $0.value == .none }.count == 5)
      realm.delete(object)
      #expect(realm.objects(SpecAny.self).allSatisfy { $0.list.isEmpty })
    }
  }

  // MARK: Lists and dictionaries inside

  @Test func `lists and dictionaries inside are live, to any depth`() throws {
    try file.withAny { realm, object in
      let plain = List<AnyRealmValue>()
      plain.append(.int(1))
      object.value = .list(plain)
      plain.append(.int(2))
      let list = try #require(object.value.listValue)
      #expect(list.count == 1 && list.realm == realm && plain.realm == nil)
      list.append(.fromDictionary(["deep": .fromArray([.string("x")])]))
      let deep = try #require(list[1].dictionaryValue?["deep"]?.listValue)
      deep.append(objectsIn: [.int(5), .int(6)])
      deep.move(from: 2, to: 0)
      #expect(Array(deep) == [.int(6), .string("x"), .int(5)])
      list.insert(.bool(true), at: 0)
      #expect(list[2].dictionaryValue?["deep"]?.listValue == deep)
      deep[1] = .none
      #expect(list[2].dictionaryValue?["deep"]?.listValue?[1] == AnyRealmValue.none)
      let inner = try #require(list[2].dictionaryValue)
      inner["more"] = .fromDictionary([:])
      inner["deep"] = nil
      #expect(deep.isInvalidated && !inner.isInvalidated && inner.keys == ["more"])
      object.other = object.value
      let copy = try #require(object.other.listValue)
      #expect(copy != list && copy.count == 3)
      copy.removeAll()
      #expect(list.count == 3)
      object.value = .int(1)
      #expect(list.isInvalidated && inner.isInvalidated && !copy.isInvalidated)
    }
  }

  @Test func `collections hold lists and dictionaries`() throws {
    try file.withAny { realm, object in
      object.list.append(.fromArray([.int(1)]))
      object.list.append(.fromDictionary(["k": .fromArray([])]))
      object.map["d"] = .fromDictionary(["n": .int(1)])
      let dictionary = try #require(object.map["d"]?.dictionaryValue)
      dictionary["n"] = .int(2)
      let inner = try #require(object.list[1].dictionaryValue?["k"]?.listValue)
      inner.append(.object(SpecAnyTarget("in")))
      object.list.insert(.none, at: 0)
      #expect(object.list[2].dictionaryValue?["k"]?.listValue?[0].object(SpecAnyTarget.self) != nil)
      #expect(object.map["d"]?.dictionaryValue?["n"] == .int(2))
      for index in 0..<2000 { object.list.append(.int(index)) }
      inner.append(.string("far"))
      #expect(inner.count == 2 && object.list[2].dictionaryValue?["k"]?.listValue?.count == 2)
      object.list.removeSubrange(0..<3)
      #expect(inner.isInvalidated && object.list.count == 2000)
      realm.delete(realm.objects(SpecAnyTarget.self))
    }
  }

  @Test func `lists and dictionaries inside are frozen and handed over`() throws {
    let realm = try Realm(configuration: file.configuration)
    let object = SpecAny(1, .fromDictionary(["l": .fromArray([.int(1)])]))
    try realm.write { realm.add(object) }
    let list = try #require(object.value.dictionaryValue?["l"]?.listValue)
    let (frozen, reference) = (list.freeze(), ThreadSafeReference(to: list))
    let found = try onAnotherThread { [file] in
      let realm = try Realm(configuration: file.configuration)
      return realm.resolve(reference)?.first?.intValue
    }
    #expect(found == 1)
    try realm.write { list.append(.int(2)) }
    #expect(frozen.count == 1 && frozen.thaw()?.count == 2 && list.count == 2)
    try realm.write { object.value = .none }
    #expect(list.isInvalidated && frozen.count == 1 && frozen.thaw() == nil)
  }

  @Test func `observers of values of any type are told`() async throws {
    let desk = try Desk(specConfiguration(Self.types))
    desk.run { realm in
      realm.beginWrite()
      let object = realm.create(
        SpecAny.self,
        value: ["id": 1, "list": [1, [2, 3], "x"], "value": [["a": 1]]] as [String: Any])
      #expect(throws: Never.self) { try realm.commitWrite() }
      desk.tokens = [
        object.list.observe { [unowned desk] change in desk.note(change) },
        object.value.listValue?.observe { [unowned desk] change in desk.note(change) },
      ].compactMap { $0 }
    }
    #expect(await Set([desk.next(), desk.next()]) == ["initial 3", "initial 1"])
    func write(_ body: @Sendable (SpecAny) -> Void) {
      desk.run { realm in
        guard let object = realm.objects(SpecAny.self).first else { return }
        realm.beginWrite()
        body(object)
        #expect(throws: Never.self) { try realm.commitWrite() }
      }
    }
    write { $0.list[1].listValue?.append(.int(4)) }
    #expect(await desk.next() == "-[] +[] ~[1]")
    write { $0.value.listValue?[0].dictionaryValue?["b"] = .int(2) }
    #expect(await desk.next() == "-[] +[] ~[0]")
    write { $0.value.listValue?.append(.none) }
    #expect(await desk.next() == "-[] +[1] ~[]")
  }

  @Test func `anything that is no value reads as nothing`() {
    var random = SeededGenerator(seed: 15)
    for _ in 0..<20_000 {
      var bytes = random.bytes(count: Int.random(in: 0..<40, using: &random))
      if !bytes.isEmpty { bytes[0] %= 16 }
      bytes.withUnsafeBytes { buffer in
        guard let value = StoredAny(.bytes(buffer)) else { return }
        #expect(value.bytes != nil)
        value.withCell { #expect(StoredAny($0)?.orderedKey == value.orderedKey) }
      }
    }
    let nested = Self.nested(3)
    #expect(
      nested.bytes.flatMap { bytes in bytes.withUnsafeBytes { StoredAny(.bytes($0)) } } == nested)
    #expect(Self.nested(200).bytes.flatMap { $0.withUnsafeBytes { StoredAny(.bytes($0)) } } == nil)
  }

  private static func nested(_ depth: Int) -> StoredAny {
    depth == 0 ? .int(1) : .list(identifier: UInt64(depth), [nested(depth - 1), .none])
  }

  @Test func `a document of many dictionaries is walked, and seen to change`() throws {
    let realm = try specRealm([SpecAny.self, SpecAnyTarget.self])
    let object = SpecAny(1)
    let count = 1500
    let items = (0..<count).map {
      AnyRealmValue.fromDictionary(["n": .int($0), "in": .fromArray([.int($0)])])
    }
    object.value = .fromArray(items)
    object.list.append(objectsIn: items)
    try realm.write { realm.add(object) }
    for list in [try #require(object.value.listValue), object.list] {
      var sum = 0
      for item in list {
        let entries = try #require(item.dictionaryValue)
        #expect(!entries.isInvalidated && entries.count == 2)
        sum += (entries["n"]?.intValue ?? 0) + (entries["in"]?.listValue?[0].intValue ?? 0)
      }
      #expect(sum == count * (count - 1))
    }
    let list = try #require(object.value.listValue)
    let (first, last) = (
      try #require(list[0].dictionaryValue), try #require(list[count - 1].dictionaryValue)
    )
    let inner = try #require(first["in"]?.listValue)
    try realm.write {
      inner.append(.int(7))
      #expect(first["in"]?.listValue?.count == 2 && inner.count == 2)
      list.remove(at: count - 1)
      #expect(last.isInvalidated && !first.isInvalidated)
      object.value = .int(1)
      #expect(first.isInvalidated && inner.isInvalidated && list.isInvalidated)
    }
  }

  @Test func `each of many dictionaries of a list is changed, wherever it has gone`() throws {
    let realm = try specRealm([SpecAny.self, SpecAnyTarget.self])
    let object = SpecAny(1)
    let count = 2000
    object.list.append(objectsIn: (0..<count).map { .fromDictionary(["n": .int($0)]) })
    for number in 0..<count { object.map["k\(number)"] = .fromArray([.int(number)]) }
    try realm.write { realm.add(object) }
    try realm.write {
      for value in object.list { value.dictionaryValue?["seen"] = .bool(true) }
      for key in object.map.keys { object.map[key]?.listValue?.append(.none) }
      let held = Array(object.list).compactMap(\.dictionaryValue)
      object.list.remove(at: 0)
      object.list.insert(.int(0), at: 10)
      for (number, entries) in held.enumerated().dropFirst() {
        if number % 97 == 0 { entries["late"] = .int(number) }
      }
      #expect(held[0].isInvalidated && held[97]["late"] == .int(97))
    }
    let seen = Array(object.list).compactMap(\.dictionaryValue)
    #expect(seen.count == count - 1 && seen.allSatisfy { $0["seen"] == .bool(true) })
    #expect(
      seen.compactMap { $0["late"]?.intValue } == stride(from: 97, to: count, by: 97).map { $0 })
    #expect(object.map.values.allSatisfy { $0.listValue?.count == 2 })
  }
}
