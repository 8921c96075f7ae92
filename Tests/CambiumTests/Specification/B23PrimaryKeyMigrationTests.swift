import Cambium
import Foundation
import TestSupport
import Testing

private enum IndexedCode {
  final class Coded: MigratedObject { @Persisted(indexed: true) var code = 0 }
}

private enum KeyedCode {
  final class Coded: MigratedObject { @Persisted(primaryKey: true) var code = 0 }
}

private enum Unkeyed {
  final class Part: MigratedObject { @Persisted var code = 0 }

  final class Order: MigratedObject {
    @Persisted var part: Part?
    @Persisted var parts: List<Part>
    @Persisted var chosen: MutableSet<Part>
    @Persisted var named: Map<String, Part?>
  }
}

private enum Keyed {
  final class Part: MigratedObject { @Persisted(primaryKey: true) var code = 0 }

  final class Order: MigratedObject {
    @Persisted var part: Part?
    @Persisted var parts: List<Part>
    @Persisted var chosen: MutableSet<Part>
    @Persisted var named: Map<String, Part?>
  }
}

/// Section B23.3: migrations that change primary keys.
@Suite struct B23PrimaryKeyMigrationTests {
  private typealias Old = BeforeMigration
  private typealias New = AfterMigration
  private typealias Text = KeyedByText

  private let bench: MigrationBench

  init() throws {
    bench = try MigrationBench()
    try bench.fill()
  }

  @Test func `duplicate keys undo everything`() throws {
    var failure: Realm.Error?
    do {
      _ = try Realm(
        configuration: bench.configuration([New.Tagged.self]) { migration, _ in
          migration.enumerateObjects(ofType: "Tagged") { _, new in new?.code = 7 }
        })
    } catch let error as Realm.Error { failure = error }
    #expect(
      failure?.localizedDescription.contains(
        "Primary key property 'Tagged.code' has duplicate values after migration.") == true)
    let realm = try Realm(configuration: specFile(bench.folder, MigrationBench.oldTypes))
    #expect(realm.objects(Old.Tagged.self).map(\.code).sorted() == [0, 1, 2, 3])
    #expect(realm.objects(Old.Human.self).count == 5)
  }

  @Test func `an integer primary key that is added moves objects, links and indexes along`() throws
  {
    let realm = try Realm(
      configuration: bench.configuration([New.Tagged.self]) { migration, _ in
        migration.enumerateObjects(ofType: "Tagged") { _, new in
          new?["text"] = "\(new?["text"] ?? "")!"
        }
      })
    #expect(realm.objects(New.Tagged.self).count == 4)
    for index in 0..<4 {
      let object = try #require(realm.object(ofType: New.Tagged.self, forPrimaryKey: 3 - index))
      #expect(object.text == "t\(index)!" && object.rank == index)
      #expect(object.next?.text == "t\((index + 1) % 4)!")
      #expect(object.others.map(\.text) == ["t0!", "t\(index)!", "t0!"])
      #expect(realm.objects(New.Tagged.self).where { $0.rank == index }.first == object)
    }
    try realm.write { realm.delete(realm.objects(New.Tagged.self).where { $0.code == 3 }) }
    #expect(realm.objects(New.Tagged.self).allSatisfy { $0.others.count == 1 })
  }

  @Test func `links of a class that is not listed move along, too`() throws {
    let folder = try TemporaryFolder()
    do {
      let realm = try Realm(
        configuration: specFile(folder, [Unkeyed.Part.self, Unkeyed.Order.self]))
      try realm.write {
        let parts = (0..<4).map { Unkeyed.Part(value: ["code": 40 - $0 * 7]) }
        realm.add(parts)
        let order = realm.create(Unkeyed.Order.self)
        order.part = parts[3]
        order.parts.append(objectsIn: [parts[1], parts[0], parts[1]])
        order.chosen.insert(objectsIn: [parts[2], parts[3]])
        order.named["first"] = .some(parts[0])
        order.named["none"] = .some(nil)
      }
      realm.invalidate()
    }
    var migrating = specFile(folder, [Keyed.Part.self])
    migrating.schemaVersion = 1
    let count = try autoreleasepool {
      try Realm(configuration: migrating).objects(Keyed.Part.self).count
    }
    #expect(count == 4)
    var configuration = specFile(folder, [Keyed.Part.self, Keyed.Order.self])
    configuration.schemaVersion = 1
    let realm = try Realm(configuration: configuration)
    let order = try #require(realm.objects(Keyed.Order.self).first)
    #expect(order.part?.code == 19)
    #expect(order.parts.map(\.code) == [33, 40, 33])
    #expect(Set(order.chosen.map(\.code)) == [26, 19])
    #expect(order.named["first"]??.code == 40 && order.named["none"] == .some(nil))
    #expect(order.named.count == 2)
    try realm.write { realm.delete(realm.objects(Keyed.Part.self)) }
    #expect(order.part == nil && order.parts.isEmpty && order.chosen.isEmpty)
  }

  @Test func `an indexed integer that becomes the primary key leaves no index behind`() throws {
    let folder = try TemporaryFolder()
    do {
      let realm = try Realm(configuration: specFile(folder, [IndexedCode.Coded.self]))
      try realm.write {
        for code in 1...5 { realm.create(IndexedCode.Coded.self, value: ["code": code * 3]) }
      }
    }
    var configuration = specFile(folder, [KeyedCode.Coded.self])
    configuration.schemaVersion = 1
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        realm.create(KeyedCode.Coded.self, value: ["code": 100])
        realm.delete(realm.objects(KeyedCode.Coded.self).where { $0.code == 6 })
      }
      #expect(realm.objects(KeyedCode.Coded.self).map(\.code) == [3, 9, 12, 15, 100])
    }
    try SampledStore.forTest(at: folder.path, persistent: true).expectSound(configuration)
  }

  @Test func `a primary key of another type, its removal and its assignment`() throws {
    _ = try Realm(configuration: bench.configuration([Text.Tagged.self]))
    do {
      let realm = try Realm(configuration: bench.configuration([Text.Tagged.self]))
      let object = try #require(realm.object(ofType: Text.Tagged.self, forPrimaryKey: "t2"))
      #expect(object.code == 1 && object.next?.text == "t3")
    }
    _ = try Realm(
      configuration: bench.configuration([Text.Tagged.self], version: 2) { migration, _ in
        migration.enumerateObjects(ofType: "Tagged") { _, new in
          new?.text = "\(new?.text ?? "") changed"
        }
      })
    do {
      let realm = try Realm(configuration: bench.configuration([Text.Tagged.self], version: 2))
      #expect(realm.object(ofType: Text.Tagged.self, forPrimaryKey: "t2") == nil)
      #expect(realm.object(ofType: Text.Tagged.self, forPrimaryKey: "t2 changed")?.code == 1)
    }
    _ = try Realm(
      configuration: bench.configuration([New.Tagged.self], version: 3) { migration, _ in
        migration.enumerateObjects(ofType: "Tagged") { _, new in
          new?.code = 10 + (new?.code as? Int ?? 0)
        }
      })
    _ = try Realm(
      configuration: bench.configuration([New.Tagged.self], version: 4) { migration, _ in
        // Each takes the key that another one has.
        migration.enumerateObjects(ofType: "Tagged") { _, new in
          new?.code = 23 - (new?.code as? Int ?? 0)
        }
      })
    let realm = try Realm(configuration: bench.configuration([New.Tagged.self], version: 4))
    #expect(realm.object(ofType: New.Tagged.self, forPrimaryKey: 12)?.text == "t2 changed")
    #expect(realm.objects(New.Tagged.self).map(\.code).sorted() == [10, 11, 12, 13])
    #expect(realm.objects(New.Tagged.self).allSatisfy { $0.next != nil && $0.others.count == 3 })
  }

  @Test(arguments: [
    [6, 0, 1, 2], [3, 0, 7, 6], [1, 0, .max, .min], [5, 4, 1, 0], [-1, -2, -3, -4],
  ])
  func `objects are moved to any keys, whichever were in use meanwhile`(codes: [Int]) throws {
    for round in 0..<4 {
      _ = try Realm(
        configuration: bench.configuration([New.Tagged.self], version: UInt64(round + 1)) {
          migration, _ in
          migration.enumerateObjects(ofType: "Tagged") { _, new in
            new?.code = codes[(round + (new?.rank as? Int ?? 0)) % 4]
          }
        })
      let realm = try Realm(
        configuration: bench.configuration([New.Tagged.self], version: UInt64(round + 1)))
      #expect(realm.objects(New.Tagged.self).count == 4)
      for rank in 0..<4 {
        func code(_ rank: Int) -> Int { codes[(round + rank) % 4] }
        let object = try #require(
          realm.object(ofType: New.Tagged.self, forPrimaryKey: code(rank)))
        #expect(object.rank == rank && object.text == "t\(rank)")
        #expect(object.next?.code == code((rank + 1) % 4))
        #expect(object.others.map(\.code) == [code(0), code(rank), code(0)])
      }
    }
  }
}
