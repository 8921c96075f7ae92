import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

final class SpecSets: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var bools: MutableSet<Bool>
  @Persisted var ints: MutableSet<Int>
  @Persisted var smallInts: MutableSet<Int8>
  @Persisted var floats: MutableSet<Float>
  @Persisted var doubles: MutableSet<Double>
  @Persisted var decimals: MutableSet<Decimal128>
  @Persisted var strings: MutableSet<String>
  @Persisted var datas: MutableSet<Data>
  @Persisted var dates: MutableSet<Date>
  @Persisted var objectIds: MutableSet<ObjectId>
  @Persisted var uuids: MutableSet<UUID>
  @Persisted var colors: MutableSet<SpecColor>
  @Persisted var intOs: MutableSet<Int?>
  @Persisted var stringOs: MutableSet<String?>
  @Persisted var members: MutableSet<SpecSetMember>
  @Persisted var others: MutableSet<SpecSetMember>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecSetMember: Object {
  @Persisted(primaryKey: true) var name = ""
  @Persisted var age = 0
  @Persisted(originProperty: "members") var owners: LinkingObjects<SpecSets>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Section B14: sets, managed and unmanaged alike.
@Suite struct B14SetTests {
  enum Kind: CaseIterable, Sendable { case managed, unmanaged }

  static let types: [ObjectBase.Type] = [SpecSets.self, SpecSetMember.self]

  private func withSets(_ kind: Kind, _ body: (SpecSets) throws -> Void) throws {
    let sets = SpecSets()
    guard kind == .managed else { return try body(sets) }
    let realm = try specRealm(Self.types)
    try realm.write {
      realm.add(sets)
      try body(sets)
    }
  }

  /// A set takes each of `values`, of which the last one equals the first, once.
  private func check<T: RealmCollectionValue>(
    _ values: [T], _ path: KeyPath<SpecSets, MutableSet<T>>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for kind in Kind.allCases {
      try withSets(kind) { sets in
        let set = sets[keyPath: path]
        for value in values { set.insert(value) }
        #expect(set.count == values.count - 1, sourceLocation: sourceLocation)
        #expect(Set(set) == Set(values), sourceLocation: sourceLocation)
        #expect(values.allSatisfy { set.contains($0) }, sourceLocation: sourceLocation)
        set.remove(values[1])
        #expect(
          !set.contains(values[1]) && set.count == values.count - 2, sourceLocation: sourceLocation)
        set.insert(objectsIn: values)
        #expect(set.count == values.count - 1, sourceLocation: sourceLocation)
        set.removeAll()
        #expect(
          set.count == 0 && set.first == nil && set.last == nil, sourceLocation: sourceLocation)
      }
    }
  }

  @Test func `sets of every element type tell values apart`() throws {
    try check([true, false, true], \.bools)
    try check([1, -5, .max, .min, 0, 1], \.ints)
    try check([1, -5, 127, 1], \.smallInts)
    try check([0.5, -1, .infinity, 0.5], \.floats)
    try check([0.0, 7, -.infinity, -0.0], \.doubles)
    try check(["1", "2.5", "-3", "1.0"], \.decimals)
    try check(["a", "", "Ä", "aa", "a"], \.strings)
    try check([Data([1]), Data(), Data([1, 0]), Data([1])], \.datas)
    let date = Date(timeIntervalSince1970: 1.5)
    try check([date, .distantPast, .distantFuture, date], \.dates)
    let (id, uuid) = (ObjectId.generate(), UUID())
    try check([id, .generate(), id], \.objectIds)
    try check([uuid, UUID(), uuid], \.uuids)
    try check([.red, .blue, .red], \.colors)
    try check([1, nil, 3, 1], \.intOs)
    try check([nil, "a", nil], \.stringOs)
  }

  @Test(arguments: Kind.allCases, 0..<4)
  func `a set follows a model through many random edits`(kind: Kind, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withSets(kind) { sets in
      var models = [Set<Int>(), Set<Int>()]
      let pair = [sets.ints, SpecSets().ints]
      var texts: Set<String> = []
      for step in 0..<600 {
        // Small ones stay in their row, large ones go to a tree and back.
        let bound = step < 300 ? 40 : 4000
        func value() -> Int { Int.random(in: -bound...bound, using: &random) }
        let side = kind == .managed ? 0 : Int.random(in: 0...1, using: &random)
        switch Int.random(in: 0...9, using: &random) {
        case 0...2:
          let new = value()
          pair[side].insert(new)
          models[side].insert(new)
          sets.strings.insert("text \(new)")
          texts.insert("text \(new)")
        case 3:
          let new = (0..<Int.random(in: 0...bound / 4, using: &random)).map { _ in value() }
          pair[side].insert(objectsIn: new)
          models[side].formUnion(new)
        case 4, 5:
          let old =
            models[side].isEmpty || Bool.random(using: &random)
            ? value()
            : models[side].sorted()[Int.random(in: 0..<models[side].count, using: &random)]
          pair[side].remove(old)
          models[side].remove(old)
          sets.strings.remove("text \(old)")
          texts.remove("text \(old)")
        case 6 where kind == .unmanaged:
          pair[0].formUnion(pair[1])
          models[0].formUnion(models[1])
        case 7 where kind == .unmanaged:
          pair[0].subtract(pair[1])
          models[0].subtract(models[1])
        case 8 where step % 50 == 0:
          pair[side].removeAll()
          models[side] = []
        default:
          let probe = value()
          #expect(pair[side].contains(probe) == models[side].contains(probe), "seed \(seed)")
        }
        #expect(pair[side].count == models[side].count, "seed \(seed), step \(step)")
        if step % 20 == 0 {
          let elements = Array(pair[side])
          #expect(Set(elements) == models[side], "seed \(seed), step \(step)")
          if kind == .managed { #expect(elements == elements.sorted(), "seed \(seed)") }
          #expect(elements.indices.allSatisfy { pair[side][$0] == elements[$0] })
          #expect(Set(sets.strings) == texts, "seed \(seed), step \(step)")
        }
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `sets are compared, united, intersected and subtracted`(kind: Kind) throws {
    try withSets(kind) { sets in
      let other = SpecSets(value: ["id": 1])
      if kind == .managed { sets.realm?.add(other) }
      sets.ints.insert(objectsIn: 0..<10)
      other.ints.insert(objectsIn: 5..<15)
      #expect(sets.ints.intersects(other.ints) && !sets.ints.isSubset(of: other.ints))
      sets.ints.formIntersection(other.ints)
      #expect(Set(sets.ints) == Set(5..<10) && sets.ints.isSubset(of: other.ints))
      #expect(!other.ints.isSubset(of: sets.ints))
      other.ints.subtract(sets.ints)
      #expect(Set(other.ints) == Set(10..<15) && !other.ints.intersects(sets.ints))
      sets.ints.formUnion(other.ints)
      #expect(Set(sets.ints) == Set(5..<15))
      sets.ints.formUnion(sets.ints)
      sets.ints.formIntersection(sets.ints)
      #expect(sets.ints.count == 10 && sets.ints.isSubset(of: sets.ints))
      sets.ints.subtract(sets.ints)
      #expect(sets.ints.isEmpty && sets.ints.isSubset(of: other.ints))
      // Links of a managed set, in every direction.
      let members = (0..<6).map { SpecSetMember(value: ["name": "\($0)"]) }
      sets.members.insert(objectsIn: members[0..<4])
      sets.others.insert(objectsIn: members[2..<6])
      #expect(sets.members.intersects(sets.others))
      sets.members.formIntersection(sets.others)
      #expect(Set(sets.members.map(\.name)) == ["2", "3"])
      sets.members.formUnion(sets.others)
      sets.members.remove(members[4])
      #expect(Set(sets.members.map(\.name)) == ["2", "3", "5"])
      #expect(sets.members.contains(members[5]) && !sets.members.contains(members[4]))
      if kind == .managed {
        #expect(members.map(\.owners.count) == [0, 0, 1, 1, 0, 1])
      }
    }
    let unmanaged = SpecSets()
    unmanaged.ints.insert(objectsIn: [1, 2, 3])
    let realm = try specRealm(Self.types)
    try realm.write {
      let managed = realm.create(SpecSets.self, value: ["ints": [2, 3, 4]])
      unmanaged.ints.formIntersection(managed.ints)
      #expect(Set(unmanaged.ints) == [2, 3] && unmanaged.ints.isSubset(of: managed.ints))
    }
  }

  @Test func `objects keep their sets when they are added, updated and assigned`() throws {
    let folder = try TemporaryFolder()
    let configuration = specFile(folder, Self.types)
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        let sets = SpecSets(value: [
          "id": 1, "ints": [3, 1, 3, 2], "strings": ["b", "a", "b"],
          "members": [["name": "x"], ["name": "y", "age": 2]],
        ])
        #expect(sets.ints.count == 3 && sets.strings.count == 2)
        // Two unmanaged objects of one key become one element.
        sets.others.insert(SpecSetMember(value: ["name": "z"]))
        realm.add(sets)
        #expect(Array(sets.ints) == [1, 2, 3] && Array(sets.strings) == ["a", "b"])
        #expect(sets.members.map(\.age).sorted() == [0, 2])
        realm.create(
          SpecSets.self, value: ["id": 1, "ints": [9], "strings": ["c"]], update: .modified)
        // Sets are merged, as maps are.
        #expect(Array(sets.ints) == [1, 2, 3, 9] && Array(sets.strings) == ["a", "b", "c"])
        realm.create(SpecSets.self, value: ["id": 1, "ints": [7, 8]], update: .all)
        #expect(Array(sets.ints) == [7, 8])
        let plain = MutableSet<Int>()
        plain.insert(objectsIn: 0..<1000)
        sets.ints = plain
        sets.ints = sets.ints
        #expect(sets.ints.count == 1000)
        sets["smallInts"] = [1, 2, 1]
        #expect(Array(sets.smallInts) == [1, 2])
      }
    }
    let realm = try Realm(configuration: configuration)
    let sets = try #require(realm.object(ofType: SpecSets.self, forPrimaryKey: 1))
    #expect(Array(sets.ints) == Array(0..<1000))
    #expect(sets.ints.min() == 0 && sets.ints.max() == 999 && sets.ints.sum() == 499_500)
    #expect(sets.ints.average() == 499.5)
    #expect(Array(sets.ints.sorted(ascending: false))[0] == 999)
    #expect(sets.ints == realm.objects(SpecSets.self).first?.ints)
    #expect(sets.value(forKey: "ints") is MutableSet<Int>)
    #expect(sets.strings.description.hasPrefix("MutableSet<string> <0x"))
    #expect(realm.schema["SpecSets"]?["ints"]?.isSet == true)
    let text = String(decoding: try JSONEncoder().encode(sets.strings), as: UTF8.self)
    #expect(text == #"["a","b","c"]"#)
    let decoded = try JSONDecoder().decode(MutableSet<String>.self, from: Data(text.utf8))
    #expect(Set(decoded) == ["a", "b", "c"] && decoded.realm == nil)
  }

  @Test func `deleting an object takes it out of every set, and deleting a set's owner its links`()
    throws
  {
    let realm = try specRealm(Self.types)
    let members = (0..<300).map { SpecSetMember(value: ["name": "\($0)", "age": $0]) }
    let sets = SpecSets()
    try realm.write {
      realm.add(sets)
      sets.members.insert(objectsIn: members)
      sets.others.insert(objectsIn: members[0..<3])
      realm.delete(members[1])
    }
    #expect(sets.members.count == 299 && sets.others.map(\.age).sorted() == [0, 2])
    #expect(members[0].owners.count == 1)
    try realm.write { realm.delete(realm.objects(SpecSetMember.self).where { $0.age > 2 }) }
    #expect(sets.members.map(\.age).sorted() == [0, 2])
    try realm.write { realm.delete(sets.others) }
    #expect(sets.members.isEmpty && realm.objects(SpecSetMember.self).isEmpty)
    let one = SpecSetMember(value: ["name": "one"])
    try realm.write {
      sets.members.insert(one)
      realm.delete(sets)
    }
    #expect(one.owners.isEmpty && sets.isInvalidated)
  }

  @Test func `queries look into sets`() throws {
    let realm = try specRealm(Self.types)
    try realm.write {
      for id in 0..<5 {
        realm.create(
          SpecSets.self,
          value: [
            "id": id, "ints": Array(0..<id), "strings": ["t\(id)", "all"],
            "members": (0..<id).map { ["name": "\(id) \($0)", "age": $0] },
          ] as [String: Any])
      }
    }
    let all = realm.objects(SpecSets.self)
    #expect(all.where { $0.ints.contains(3) }.map(\.id) == [4])
    #expect(all.where { $0.strings == "t2" }.map(\.id) == [2])
    #expect(all.where { $0.members.age > 2 }.map(\.id) == [4])
    #expect(all.where { $0.ints.count >= 3 }.map(\.id) == [3, 4])
    #expect(all.where { $0.ints.max == 1 }.map(\.id) == [2])
    #expect(all.filter("ANY members.age == 0 AND ints.@sum < 2").map(\.id) == [1, 2])
    #expect(all.filter("'all' IN strings").count == 5)
    #expect(all.filter("SUBQUERY(members, $m, $m.age > 1).@count == 2").map(\.id) == [4])
    let last = try #require(realm.object(ofType: SpecSets.self, forPrimaryKey: 4))
    #expect(last.members.where { $0.age > 1 }.map(\.age).sorted() == [2, 3])
    #expect(last.members.sorted(byKeyPath: "age", ascending: false).first?.age == 3)
    #expect(last.members.sum(of: \.age) == 6)
    #expect(last.members.value(forKey: "age") as? [Int] != nil)
  }

  @Test func `verification finds a set that is not in order`() throws {
    let folder = try TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: URL(filePath: folder.file("sets.realm")), objectTypes: Self.types)
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        realm.create(SpecSets.self, value: ["strings": ["b", "a", "aa"], "ints": [3, -1]])
      }
    }
    func verify(_ change: (Transaction) throws -> Void) throws -> [String] {
      let path = folder.file("sets.realm")
      let store = try configuration.store.open(
        Realm.StoreRequest(path: path, isReadOnly: false, codec: nil))
      let database = try Database(store: store)
      let transaction = try database.beginWrite()
      try change(transaction)
      _ = try transaction.commit()
      var verifier = ObjectVerifier(snapshot: try database.snapshot())
      let findings = try verifier.run()
      try database.close()
      return findings
    }
    #expect(try verify { _ in } == [])
    let findings = try verify { transaction in
      let table = try #require(try transaction.editTable("class/SpecSets"))
      for (name, elements) in [
        ("ints", [ColumnValue.int(2), .int(2)]), ("doubles", [.double(1), .double(0)]),
      ] {
        let column = try #require(table.record.columns.first { $0.name == name })
        let form = try #require(StoredList.form(elements, name == "ints" ? .int : .double))
        try form.withUnsafeBytes { bytes in
          _ = try table.update(key: 0, column: column.id, value: .bytes(bytes))
        }
      }
    }
    #expect(
      findings == [
        "SpecSets.ints: the set of object 0 is not in order",
        "SpecSets.doubles: the set of object 0 is not in order",
      ])
  }

  @Test func `a set is frozen, thawed and handed over`() throws {
    let realm = try specRealm(Self.types)
    let sets = SpecSets(value: ["ints": [1, 2]])
    try realm.write { realm.add(sets) }
    let frozen = sets.ints.freeze()
    let reference = ThreadSafeReference(to: sets.ints)
    try realm.write { sets.ints.insert(3) }
    #expect(
      frozen.isFrozen && Array(frozen) == [1, 2] && frozen.contains(1) && !frozen.contains(3))
    #expect(frozen.thaw().map(Array.init) == [1, 2, 3])
    let configuration = realm.configuration
    let count = DispatchQueue(label: "set").sync { () -> Int? in
      let realm = try? Realm(configuration: configuration, queue: nil)
      return realm?.resolve(reference)?.count
    }
    #expect(count == 3)
  }

  @Test func `sets survive migrations, of keys and names, too`() throws {
    let folder = try TemporaryFolder()
    var configuration = specFile(folder, Self.types)
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        realm.create(
          SpecSets.self,
          value: ["id": 1, "strings": ["a", "b"], "members": [["name": "x"], ["name": "y"]]])
      }
    }
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "SpecSets") { old, new in
        #expect(old?.dynamicMutableSet("members").count == 2)
        #expect((old?["strings"] as? MutableSet<String>)?.contains("a") == true)
        (new?["strings"] as? MutableSet<String>)?.insert("c")
        new?["id"] = 7
      }
      migration.enumerateObjects(ofType: "SpecSetMember") { old, new in
        new?["name"] = "new \(old?["name"] ?? "")"
      }
    }
    let realm = try Realm(configuration: configuration)
    let sets = try #require(realm.object(ofType: SpecSets.self, forPrimaryKey: 7))
    #expect(Array(sets.strings) == ["a", "b", "c"])
    #expect(Set(sets.members.map(\.name)) == ["new x", "new y"])
    #expect(sets.members.allSatisfy { $0.owners.count == 1 })
  }
}
