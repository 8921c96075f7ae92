import Cambium
import TestSupport

// Misuse of embedded objects.
extension SpecTrap {
  private static func built() throws -> SpecHouse {
    let realm = try specRealm(B13EmbeddedTests.types)
    let house = SpecHouse(value: ["id": 1, "hall": ["hall"], "rooms": [["a"], ["b"]]])
    realm.beginWrite()
    realm.add(house)
    return house
  }

  private static let taken = "Can't set link to existing managed embedded object"
  private static let takenInList = "Cannot add an existing managed embedded object to a List."

  static let embedded: [SpecTrap] = [
    SpecTrap("an embedded object with a place, put into a property", taken) {
      let house = try built()
      house.hall = house.rooms[0]
    },
    SpecTrap("the same by name", taken) {
      let house = try built()
      house["hall"] = house.rooms[0]
    },
    SpecTrap("the same in a new object", taken) {
      let house = try built()
      let other = SpecHouse(value: ["id": 2])
      other.hall = house.rooms[0]
      house.realm?.add(other)
    },
    SpecTrap("an embedded object with a place, put into a list", takenInList) {
      let house = try built()
      house.rooms.append(house.hall ?? SpecRoom())
    },
    SpecTrap("an element of the list itself", takenInList) {
      let house = try built()
      house.rooms.append(house.rooms[0])
    },
    SpecTrap("one embedded object twice", taken) {
      let (house, room) = (try built(), SpecRoom("new"))
      house.rooms.append(objectsIn: [room, room])
    },
    SpecTrap("an embedded object by itself", "Embedded objects cannot be created directly") {
      try built().realm?.dynamicCreate("SpecRoom")
    },
    SpecTrap("an embedded object of another Realm", "already managed by another Realm") {
      let (house, other) = (try built(), try built())
      house.hall = other.hall
    },
    SpecTrap("an embedded object that is gone", "Object has been deleted or invalidated.") {
      let house = try built()
      let room = house.rooms[0]
      house.rooms.removeAll()
      _ = room.name
    },
    SpecTrap("freezing an unmanaged one", "Unmanaged objects cannot be frozen.") {
      _ = SpecRoom("x").freeze()
    },
  ]
}
