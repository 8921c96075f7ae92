import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

@testable import Cambium

/// Saves what is left of a damaged Realm, and opens it as one.
@Suite struct ObjectSalvageTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func configuration(_ name: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: folder.url("\(name).cambium"),
      objectTypes: [Person.self, Dog.self])
  }

  private func makeRealm() throws {
    try autoreleasepool {
      let realm = try Realm(configuration: configuration("damaged"))
      try realm.write {
        for id in 0..<600 {
          let person = Person()
          person.id = id
          person.name = (0..<20).map { "\(id &* ($0 + 7919) % 1_000_003)" }.joined()
          realm.add(person)
          let dog = Dog()
          dog.name = "Dog \(id) " + (0..<20).map { "\(id &* ($0 + 104_729) % 999_983)" }.joined()
          realm.add(dog)
          person.best = dog
          person.dogs.append(dog)
          person.dogs.append(dog)
          if id > 0 { person.dogs.append(realm.objects(Dog.self)[0]) }
        }
      }
    }
  }

  /// Damages the second leaf of a table.
  private func damage(_ name: String) throws -> Int {
    let path = configuration("damaged").fileURL?.path ?? ""
    let database = try Database(store: FileStore(path: path))
    var leaves: [PageReference] = []
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table(name))
    try table.groups[0].walk(
      { page, kind in if kind == .columnLeaf { leaves.append(page) } }, tree: { _ in },
      damage: { _ in })
    try database.close()
    try #require(leaves.count > 2)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: UInt64(leaves[1].byteOffset + 500))
    try file.write(contentsOf: Data([0xA5, 0x5A, 0xA5]))
    try file.close()
    return table.count
  }

  private func salvage() throws -> SalvageReport {
    let path = configuration("damaged").fileURL?.path ?? ""
    let saved = try Database(store: FileStore(path: configuration("saved").fileURL?.path ?? ""))
    let report = try Salvage(store: SalvageFile(path: path)).run(
      into: saved, leavingOut: ObjectSalvage.isDerived,
      completing: { transaction throws(StoreError) in
        var objects = ObjectSalvage(transaction: transaction)
        return try objects.run()
      })
    #expect(try saved.verify().findings == [])
    var verifier = ObjectVerifier(snapshot: try saved.snapshot())
    #expect(try verifier.run() == [])
    try saved.close()
    return report
  }

  @Test func `links to lost objects are gone, indexes and backlinks agree with the rest`() throws {
    try makeRealm()
    let count = try damage("class/Dog")
    let report = try salvage()
    let lost = report.lostRowCount
    #expect(lost > 0 && lost < count)
    #expect(report.losses.contains { $0.keys.contains("links") })
    try autoreleasepool {
      let realm = try Realm(configuration: configuration("saved"))
      #expect(realm.objects(Person.self).count == 600)
      #expect(realm.objects(Dog.self).count == 600 - lost)
      #expect(realm.objects(Person.self).where { $0.best == nil }.count == lost)
      let first = try #require(realm.objects(Dog.self).first)
      #expect(realm.objects(Dog.self).where { $0.name == first.name }.count == 1)
      #expect(first.owners.count == 601)
      try realm.write { realm.delete(first) }
    }
  }

  @Test func `lost owners leave no backlinks`() throws {
    try makeRealm()
    _ = try damage("class/Person")
    let report = try salvage()
    try autoreleasepool {
      let realm = try Realm(configuration: configuration("saved"))
      #expect(realm.objects(Person.self).count == 600 - report.lostRowCount)
      let admired = realm.objects(Dog.self).filter { $0.admirers.count == 1 }
      #expect(admired.count == 600 - report.lostRowCount)
    }
  }
}
