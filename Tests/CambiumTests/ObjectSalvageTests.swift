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

  private func salvage(
    _ damaged: String = "damaged", into name: String = "saved"
  ) throws -> SalvageReport {
    let path = configuration(damaged).fileURL?.path ?? ""
    let saved = try Database(store: FileStore(path: configuration(name).fileURL?.path ?? ""))
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

  @Test func `embedded objects of a crafted file that live in one another are left out`() throws {
    var configuration = configuration("damaged")
    configuration.objectTypes = B13EmbeddedTests.types
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        let house = SpecHouse(value: ["id": 1])
        house.rooms.append(objectsIn: (0..<3).map { SpecRoom("\($0)", lamps: [$0]) })
        realm.add([house, SpecHouse(value: ["id": 2])])
      }
    }
    let path = configuration.fileURL?.path ?? ""
    let database = try Database(store: FileStore(path: path))
    let transaction = try database.beginWrite()
    let houses = try #require(try transaction.editTable("class/SpecHouse"))
    let rooms = try #require(try transaction.editTable("class/SpecRoom"))
    let hall = try #require(houses.record.columns.first { $0.name == "hall" })
    let inner = try rooms.addColumn(
      name: "inner", type: hall.type, isNullable: hall.isNullable, attributes: hall.attributes)
    let keys = try rooms.allKeys()
    try #require(keys.count == 3)
    // The first lives nowhere, the others in each other.
    for (room, target) in [(0, 1), (1, 2), (2, 1)] {
      _ = try rooms.update(key: keys[room], column: inner, value: .int(keys[target]))
    }
    _ = try houses.remove(key: houses.allKeys()[0])
    _ = try transaction.commit()
    try database.close()
    let report = try salvage()
    let lost = report.losses.filter { $0.keys == "embedded objects" }
    #expect(lost.map(\.name).sorted() == ["class/SpecLamp", "class/SpecRoom"])
  }

  @Test(arguments: ["SpecHouse", "SpecRoom"])
  func `embedded objects go with lost owners`(damaged: String) throws {
    func configuration(_ name: String) -> Realm.Configuration {
      var configuration = self.configuration(name)
      configuration.objectTypes = B13EmbeddedTests.types
      return configuration
    }
    try autoreleasepool {
      let realm = try Realm(configuration: configuration("damaged"))
      try realm.write {
        for id in 0..<2400 {
          let name = "\(id &* 7919 % 1_000_003) \(id &* 104_729 % 999_983)"
          let house = SpecHouse(value: ["id": id])
          house.hall = SpecRoom(name, lamps: [id, 2])
          house.rooms.append(SpecRoom(name, lamps: [id]))
          realm.add(house)
        }
      }
    }
    _ = try damage("class/\(damaged)")
    let report = try salvage()
    let lost = report.losses.first { $0.keys == "embedded objects" && $0.name == "class/SpecRoom" }
    #expect((lost != nil) == (damaged == "SpecHouse"))
    #expect(report.losses.contains { $0.name == "class/SpecLamp" && $0.keys == "embedded objects" })
    try autoreleasepool {
      let realm = try Realm(configuration: configuration("saved"))
      let houses = realm.objects(SpecHouse.self)
      let rooms = houses.reduce(0) { $0 + ($1.hall == nil ? 0 : 1) + $1.rooms.count }
      #expect(realm.dynamicObjects("SpecRoom").count == rooms && rooms > 100)
      #expect(houses.count < 2400 || rooms < 4800)
      let lamps = houses.reduce(0) { sum, house in
        sum + (house.hall?.lamps.count ?? 0) + house.rooms.reduce(0) { $0 + $1.lamps.count }
      }
      #expect(realm.dynamicObjects("SpecLamp").count == lamps)
    }
  }

  @Test func `values of any type and maps lose lost objects`() throws {
    func configuration(_ name: String) -> Realm.Configuration {
      var configuration = self.configuration(name)
      configuration.objectTypes = B15AnyTests.types + B14MapTests.types
      return configuration
    }
    let count = 3000
    try autoreleasepool {
      let realm = try Realm(configuration: configuration("damaged"))
      try realm.write {
        for id in 0..<count {
          let name = "\(id) \(id &* 7919 % 1_000_003) \(id &* 104_729 % 999_983)"
          let target = SpecAnyTarget(name)
          realm.add(target)
          let object = SpecAny(id, .object(target))
          object.other = .fromDictionary(["t": .object(target), "n": .int(id)])
          object.list.append(objectsIn: [.object(target), .string("rest")])
          object.map["t"] = .object(target)
          object.map["n"] = .int(id)
          realm.add(object)
        }
      }
    }
    _ = try damage("class/SpecAnyTarget")
    let lost = try salvage().losses.compactMap(\.rowCount).reduce(0, +)
    #expect(lost > 0 && lost < count)
    try autoreleasepool {
      let realm = try Realm(configuration: configuration("saved"))
      let objects = realm.objects(SpecAny.self)
      #expect(objects.count == count && realm.objects(SpecAnyTarget.self).count == count - lost)
      #expect(objects.where { $0.value == .none }.count == lost)
      #expect(objects.where { $0.other["t"] == .none && $0.other["n"] != .none }.count == lost)
      #expect(objects.where { $0.list.count == 1 }.count == lost)
      #expect(objects.where { $0.map["t"] == .none && $0.map.count == 2 }.count == lost)
      try realm.write { realm.delete(realm.objects(SpecAnyTarget.self)) }
      #expect(objects.where { $0.list.count == 1 }.count == count)
    }
  }

  // MARK: Lists

  /// What the lists of a person hold.
  private struct Lists: Equatable {
    var nicknames: [String]
    var scores: [Int?]
    var dogs: [String]

    init(_ person: Person) {
      nicknames = Array(person.nicknames)
      scores = Array(person.scores)
      dogs = person.dogs.map(\.name)
    }

    var counts: [String: Int] {
      ["nicknames": nicknames.count, "scores": scores.count, "dogs": dogs.count]
    }
  }

  /// Three people whose lists have trees of their own, with some long texts.
  private func makeListRealm() throws -> [Int: Lists] {
    try autoreleasepool {
      let realm = try Realm(configuration: configuration("damaged"))
      try realm.write {
        let dogs = (0..<40).map { index in
          let dog = Dog()
          dog.name = "Dog \(index)"
          return dog
        }
        realm.add(dogs)
        for id in 0..<3 {
          let person = Person()
          person.id = id
          realm.add(person)
          for index in 0..<60 {
            let text = "\(id) \(index) "
            person.nicknames.append(
              index % 9 == 4 ? String(repeating: text, count: 400) : text + "nickname")
          }
          for index in 0..<4000 {
            person.scores.append(index % 7 == 3 ? nil : (index &+ id) &* 0x1E37_79B9_7F4A_7C15)
          }
          for index in 0..<600 { person.dogs.append(dogs[(index * 7 + id) % 40]) }
        }
      }
      return lists(realm)
    }
  }

  private func lists(_ realm: Realm) -> [Int: Lists] {
    Dictionary(uniqueKeysWithValues: realm.objects(Person.self).map { ($0.id, Lists($0)) })
  }

  /// The pages of trees that people own.
  private func listPages() throws -> [PageReference] {
    let path = configuration("damaged").fileURL?.path ?? ""
    let database = try Database(store: FileStore(path: path))
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("class/Person"))
    var roots: [TreeRoot] = []
    for group in table.groups {
      try group.walk({ _, _ in }, tree: { roots.append($0) }, damage: { _ in })
    }
    #expect(roots.count == 9)
    var pages: [PageReference] = []
    for root in roots {
      try ColumnTree(root: root, source: snapshot.source)
        .walk({ page, _ in pages.append(page) }, tree: { _ in }, damage: { _ in })
    }
    try database.close()
    return pages
  }

  /// Whether `part` is `all` without some elements.
  private func isSubsequence<Element: Equatable>(_ part: [Element], of all: [Element]) -> Bool {
    var rest = all[...]
    for element in part {
      guard let index = rest.firstIndex(of: element) else { return false }
      rest = rest[(index + 1)...]
    }
    return true
  }

  @Test func `people keep the elements of their lists that can be read`() throws {
    let expected = try makeListRealm()
    let pages = try listPages()
    #expect(pages.count > 30)
    let file = try #require(configuration("damaged").fileURL)
    let sound = try Data(contentsOf: file)
    for (number, page) in pages.enumerated() {
      var bytes = sound
      bytes[page.byteOffset + page.byteCount / 2] ^= 0x55
      try bytes.write(to: try #require(configuration("damaged \(number)").fileURL))
      let report = try salvage("damaged \(number)", into: "saved \(number)")
      let loss = try #require(report.losses.first)
      #expect(report.losses.count == 1 && loss.name == "class/Person")
      let words = loss.keys.split(separator: "'").map(String.init)
      let (property, end) = (words[1], words[2])
      let id = try #require(expected.keys.first { end == " in row \($0)" })
      try autoreleasepool {
        let realm = try Realm(configuration: configuration("saved \(number)"))
        let saved = lists(realm)
        #expect(saved.count == 3)
        for (other, lists) in expected where other != id { #expect(saved[other] == lists) }
        let (before, after) = (try #require(expected[id]), try #require(saved[id]))
        for (name, count) in before.counts {
          let lost = name == property ? try #require(loss.elementCount) : 0
          #expect(after.counts[name] == count - lost, "\(name): \(loss.keys)")
        }
        #expect(isSubsequence(after.nicknames, of: before.nicknames))
        #expect(isSubsequence(after.scores, of: before.scores))
        #expect(isSubsequence(after.dogs, of: before.dogs))
        // The list can be changed, also when nothing is left.
        let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: id))
        try realm.write {
          person.nicknames.append("new")
          person.scores.append(nil)
          person.dogs.append(try #require(realm.objects(Dog.self).first))
        }
        #expect(person.nicknames.last == "new")
      }
    }
  }
}
