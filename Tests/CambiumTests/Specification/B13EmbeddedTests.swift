import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

class SpecEmbedded: EmbeddedObject {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecRoom: SpecEmbedded {
  @Persisted(indexed: true) var name = ""
  @Persisted var lamp: SpecLamp?
  @Persisted var lamps: List<SpecLamp>
  @Persisted(originProperty: "rooms") var houses: LinkingObjects<SpecHouse>

  convenience init(_ name: String, lamps: [Int] = []) {
    self.init(value: ["name": name, "lamps": lamps.map { ["watts": $0] }] as [String: Any])
  }
}

final class SpecLamp: SpecEmbedded {
  @Persisted var watts = 0
  @Persisted var maker: SpecMaker?
}

final class SpecMaker: Object {
  @Persisted(primaryKey: true) var name = ""

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecHouse: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var hall: SpecRoom?
  @Persisted var rooms: List<SpecRoom>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Section B13: embedded objects.
@Suite struct B13EmbeddedTests {
  static let types: [ObjectBase.Type] = [
    SpecHouse.self, SpecRoom.self, SpecLamp.self, SpecMaker.self,
  ]
  private let file: SpecFile

  init() throws { file = try SpecFile(Self.types) }

  /// Runs `body` in a transaction over a house with a hall of two lamps and three rooms; then the file
  /// must be sound.
  private func withHouse(_ body: (Realm, SpecHouse) throws -> Void) throws {
    try autoreleasepool {
      let realm = try Realm(configuration: file.configuration)
      let house = SpecHouse(value: ["id": 1])
      house.hall = SpecRoom("hall", lamps: [10, 20])
      house.rooms.append(objectsIn: [
        SpecRoom("a", lamps: [1]), SpecRoom("b"), SpecRoom("c", lamps: [3, 4, 5]),
      ])
      try realm.write {
        realm.add(house)
        realm.create(SpecMaker.self, value: ["name": "Osram"])
      }
      #expect(count(realm) == [4, 6])
      try realm.write { try body(realm, house) }
    }
    try file.expectSound()
  }

  /// How many rooms and lamps there are, wherever they are.
  private func count(_ realm: Realm) -> [Int] {
    [realm.dynamicObjects("SpecRoom").count, realm.dynamicObjects("SpecLamp").count]
  }

  @Test func `assigning a list to itself by its name changes nothing`() throws {
    try withHouse { realm, house in
      let room = house.rooms[1]
      house["rooms"] = house["rooms"]
      house.setValue(house.rooms, forKey: "rooms")
      #expect(!room.isInvalidated && house.rooms.map(\.name) == ["a", "b", "c"])
      #expect(house.rooms[2].lamps.count == 3)
    }
  }

  @Test func `an unmanaged object becomes managed in its place`() throws {
    try withHouse { realm, house in
      let room = SpecRoom("new", lamps: [7])
      house.hall = room
      #expect(room.realm == realm && house.hall?.isSameObject(as: room) == true)
      let lamp = room.lamps[0]
      lamp.watts = 8
      #expect(house.hall?.lamps.first?.watts == 8)
      let last = SpecRoom("last")
      house.rooms.append(last)
      #expect(last.realm == realm && last.houses.first?.id == 1)
      #expect(house.rooms.last?.name == "last")
    }
  }

  @Test func `what loses its place is deleted with all that lives in it`() throws {
    try withHouse { realm, house in
      let (hall, lamp) = (try #require(house.hall), try #require(house.hall?.lamps.first))
      house.hall = nil
      #expect(hall.isInvalidated && lamp.isInvalidated && count(realm) == [3, 4])
      house.hall = SpecRoom("other", lamps: [1])
      house.hall = SpecRoom("third")
      #expect(count(realm) == [4, 4])
      let rooms = Array(house.rooms)
      house.rooms.remove(at: 2)
      #expect(rooms.map(\.isInvalidated) == [false, false, true] && count(realm) == [3, 1])
      house.rooms[0] = SpecRoom("in place", lamps: [1, 2])
      #expect(rooms[0].isInvalidated && count(realm) == [3, 2])
      house.rooms.replaceSubrange(0..<2, with: [SpecRoom("x")])
      #expect(house.rooms.map(\.name) == ["x"] && count(realm) == [2, 0])
      house.rooms.removeAll()
      #expect(count(realm) == [1, 0])
    }
  }

  @Test func `an owner takes its embedded objects along`() throws {
    try withHouse { realm, house in
      let maker = try #require(realm.object(ofType: SpecMaker.self, forPrimaryKey: "Osram"))
      house.hall?.lamp = SpecLamp(value: ["watts": 1, "maker": maker])
      realm.delete(house)
      #expect(count(realm) == [0, 0] && !maker.isInvalidated)
      for id in 10..<200 {
        let house = SpecHouse(value: ["id": id])
        house.hall = SpecRoom("h", lamps: Array(0..<(id % 5)))
        house.rooms.append(objectsIn: (0..<3).map { SpecRoom("r\($0)", lamps: [id]) })
        realm.add(house)
      }
      #expect(count(realm)[0] == 190 * 4)
      realm.delete(realm.objects(SpecHouse.self).where { $0.id < 100 })
      #expect(count(realm)[0] == 100 * 4)
      realm.delete(realm.objects(SpecHouse.self))
      #expect(count(realm) == [0, 0] && !maker.isInvalidated)
    }
  }

  @Test func `an embedded object can be deleted by itself`() throws {
    try withHouse { realm, house in
      realm.delete(try #require(house.hall))
      #expect(house.hall == nil)
      realm.delete(house.rooms[1])
      #expect(house.rooms.map(\.name) == ["a", "c"])
      realm.delete(house.rooms)
      #expect(count(realm) == [0, 0] && house.rooms.isEmpty)
    }
  }

  @Test func `moving in a list keeps the objects`() throws {
    try withHouse { realm, house in
      let rooms = Array(house.rooms)
      house.rooms.move(from: 0, to: 2)
      #expect(house.rooms.map(\.name) == ["b", "c", "a"])
      house.rooms.swapAt(0, 1)
      #expect(house.rooms.map(\.name) == ["c", "b", "a"])
      house.rooms.move(fromOffsets: IndexSet([0]), toOffset: 3)
      #expect(house.rooms.map(\.name) == ["b", "a", "c"])
      #expect(rooms.allSatisfy { !$0.isInvalidated } && count(realm) == [4, 6])
      #expect(house.rooms[1].isSameObject(as: rooms[0]))
    }
  }

  @Test func `assigning what is there changes nothing`() throws {
    try withHouse { realm, house in
      let hall = house.hall
      house.hall = hall
      house["hall"] = hall
      let rooms = house.rooms
      house.rooms = rooms
      #expect(hall?.isInvalidated == false && count(realm) == [4, 6])
    }
  }

  @Test func `a copy can be put elsewhere`() throws {
    try withHouse { realm, house in
      let other = realm.create(SpecHouse.self, value: ["id": 2])
      other.hall = SpecRoom(value: try #require(house.hall))
      other.rooms.append(objectsIn: house.rooms.map { SpecRoom(value: $0) })
      #expect(other.hall?.lamps.map(\.watts) == [10, 20] && house.hall?.name == "hall")
      #expect(count(realm) == [8, 12])
      let third = realm.create(SpecHouse.self, value: ["id": 3, "hall": house.hall as Any])
      #expect(third.hall?.name == "hall" && house.hall != nil && count(realm)[0] == 9)
      let fourth = SpecHouse(value: house)
      fourth.id = 4
      realm.add(fourth)
      #expect(fourth.rooms.map(\.name) == ["a", "b", "c"] && count(realm)[0] == 13)
    }
  }

  @Test func `values make embedded objects`() throws {
    try withHouse { realm, house in
      let made = realm.create(
        SpecHouse.self,
        value: [
          "id": 5, "hall": ["name": "h", "lamp": [60]],
          "rooms": [["one"], ["name": "two", "lamps": [["watts": 1], [2]]]],
        ])
      #expect(made.hall?.lamp?.watts == 60 && made.rooms.map(\.name) == ["one", "two"])
      #expect(made.rooms[1].lamps.map(\.watts) == [1, 2])
      made["hall"] = ["name": "again"]
      #expect(made.hall?.name == "again" && made.hall?.lamp == nil)
      made.setValue(["name": "named"], forKey: "hall")
      #expect(made.hall?.name == "named" && count(realm) == [7, 8])
    }
  }

  @Test func `dynamic objects own embedded ones, too`() throws {
    try withHouse { realm, house in
      let object = try #require(realm.dynamicObjects("SpecHouse").first)
      object["hall"] = ["name": "by name", "lamps": [["watts": 3]]]
      #expect(house.hall?.name == "by name" && house.hall?.lamps.first?.watts == 3)
      #expect(count(realm) == [4, 5])
      object.dynamicList("rooms")[0]["name"] = "renamed"
      #expect(house.rooms[0].name == "renamed")
      object["hall"] = nil
      #expect(count(realm) == [3, 4])
    }
  }

  @Test func `an update merges into embedded objects, or replaces them`() throws {
    try withHouse { realm, house in
      let (hall, rooms) = (try #require(house.hall), Array(house.rooms))
      realm.create(
        SpecHouse.self,
        value: ["id": 1, "hall": ["name": "new"], "rooms": [["name": "a2"], ["name": "b2"]]],
        update: .modified)
      #expect(hall.name == "new" && hall.lamps.map(\.watts) == [10, 20])
      #expect(rooms.map(\.isInvalidated) == [false, false, true])
      #expect(house.rooms.map(\.name) == ["a2", "b2"] && rooms[0].lamps.map(\.watts) == [1])
      let made = SpecHouse(value: ["id": 1])
      made.hall = SpecRoom("added", lamps: [1, 2, 3])
      made.rooms.append(objectsIn: ["a3", "b3", "c3"].map { SpecRoom($0) })
      realm.add(made, update: .modified)
      #expect(hall.name == "added" && hall.lamps.map(\.watts) == [1, 2, 3])
      #expect(house.rooms.map(\.name) == ["a3", "b3", "c3"] && !rooms[0].isInvalidated)
      #expect(made.hall?.isSameObject(as: hall) == true && count(realm) == [4, 3])
      realm.create(
        SpecHouse.self, value: ["id": 1, "hall": ["name": "all"], "rooms": [["name": "r"]]],
        update: .all)
      #expect(hall.isInvalidated && rooms[0].isInvalidated)
      #expect(house.hall?.name == "all" && house.rooms.map(\.name) == ["r"])
      #expect(count(realm) == [2, 0])
    }
  }

  @Test func `queries, sorting and aggregates go through embedded objects`() throws {
    try withHouse { realm, house in
      let houses = realm.objects(SpecHouse.self)
      #expect(houses.where { $0.hall.name == "hall" }.count == 1)
      #expect(houses.where { $0.rooms.name == "b" }.count == 1)
      #expect(houses.where { $0.hall.lamps.watts > 15 }.count == 1)
      #expect(houses.filter("ANY rooms.name == 'z' OR hall.lamp != nil").isEmpty)
      #expect(house.rooms.filter("lamps.@sum.watts > 1").map(\.name) == ["c"])
      #expect(house.rooms.sorted(by: \.name, ascending: false).map(\.name) == ["c", "b", "a"])
      #expect(house.rooms.where { $0.lamps.count == 0 }.first?.name == "b")
      #expect(house.rooms[2].lamps.sum(of: \.watts) == 12)
      #expect(house.rooms.index(of: house.rooms[1]) == 1)
    }
  }

  @Test func `a cancelled transaction brings embedded objects back`() throws {
    let realm = try Realm(configuration: file.configuration)
    let house = SpecHouse(value: ["id": 1])
    house.hall = SpecRoom("hall", lamps: [1])
    try realm.write { realm.add(house) }
    let hall = try #require(house.hall)
    realm.beginWrite()
    house.hall = SpecRoom("other")
    #expect(hall.isInvalidated)
    realm.cancelWrite()
    #expect(!hall.isInvalidated && house.hall?.name == "hall" && count(realm) == [1, 1])
  }

  @Test func `frozen copies and references keep to their version`() throws {
    let realm = try Realm(configuration: file.configuration)
    let house = SpecHouse(value: ["id": 1])
    house.hall = SpecRoom("hall", lamps: [1])
    try realm.write { realm.add(house) }
    let frozen = try #require(house.hall).freeze()
    let reference = ThreadSafeReference(to: try #require(house.hall))
    let name = try onAnotherThread { [file] in
      try Realm(configuration: file.configuration).resolve(reference)?.name
    }
    #expect(name == "hall")
    try realm.write { house.hall?.name = "changed" }
    #expect(frozen.name == "hall" && frozen.isFrozen && frozen.thaw()?.name == "changed")
    try realm.write { house.hall = nil }
    #expect(frozen.name == "hall" && frozen.thaw() == nil)
    #expect(SpecRoom("unmanaged").thaw() == nil)
  }

  @Test func `schemas tell embedded classes`() throws {
    let realm = try Realm(configuration: file.configuration)
    #expect(realm.schema["SpecRoom"]?.isEmbedded == true)
    #expect(realm.schema["SpecHouse"]?.isEmbedded == false)
    #expect(SpecRoom("x").objectSchema.isEmbedded)
    #expect(realm.schema["SpecRoom"]?.description.hasPrefix("SpecRoom (embedded) {") == true)
  }

  @Test func `an embedded object is coded with its owner`() throws {
    let data = Data(#"{"name":"Ann","home":{"street":"High Street"}}"#.utf8)
    let person = try JSONDecoder().decode(SpecCodedPerson.self, from: data)
    #expect(person.home?.street == "High Street" && person.past == nil)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(person), as: UTF8.self)
    #expect(text == #"{"home":{"street":"High Street"},"name":"Ann","past":null}"#)
  }

  @Test func `observers are told that an embedded object is gone`() async throws {
    try await onMain { [file] in
      let realm = try Realm(configuration: file.configuration)
      let house = SpecHouse(value: ["id": 1])
      house.hall = SpecRoom("hall", lamps: [1])
      try realm.write { realm.add(house) }
      var told: [String] = []
      let hall = try #require(house.hall)
      let tokens = [
        hall.observe { (change: ObjectChange<SpecRoom>) in
          switch change {
          case .change(_, let properties): told.append(properties.map(\.name).joined())
          case .deleted: told.append("deleted")
          case .error: told.append("error")
          }
        },
        house.observe(keyPaths: ["hall.name"]) { (_: ObjectChange<SpecHouse>) in told.append("h") },
      ]
      try realm.write { hall.name = "new" }
      realm.refresh()
      #expect(Set(told) == ["name", "h"])
      told = []
      try realm.write { house.hall = SpecRoom("other") }
      realm.refresh()
      #expect(Set(told) == ["deleted", "h"])
      for token in tokens { token.invalidate() }
    }
  }
}

final class SpecCodedHome: SpecEmbedded, Codable { @Persisted var street = "" }

final class SpecCodedPerson: Object, Codable {
  @Persisted var name = ""
  @Persisted var home: SpecCodedHome?
  @Persisted var past: SpecCodedHome?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Runs `body` on the main actor.
@MainActor private func onMain(_ body: @MainActor () throws -> Void) async throws { try body() }
