// snippet.hide
import Cambium
import Foundation

Realm.Configuration.defaultConfiguration = Realm.Configuration(inMemoryIdentifier: "guests")

class Room: Object { @Persisted(primaryKey: true) var number: Int }

class Guest: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var city = ""
  @Persisted var room: Room?
  @Persisted var friends: List<Guest>
}

let realm = try Realm()
try realm.write {
  realm.deleteAll()
  for (name, city) in [("Ann", "Bonn"), ("Bob", "Aachen"), ("Cid", "Bonn")] {
    realm.create(Guest.self, value: ["name": name, "city": city])
  }
}

// snippet.show
let byCity = realm.objects(Guest.self).sectioned(by: \.city)
for section in byCity {
  print(section.key, section.map(\.name))
}
let byLetter = realm.objects(Guest.self)
  .sectioned(sortDescriptors: [Cambium.SortDescriptor(keyPath: "name")]) {
    String($0.name.prefix(1))
  }
// snippet.hide
print(byLetter.allKeys)

// snippet.next
// snippet.show
class GuestRow: Projection<Guest> {
  @Projected(\Guest.name) var title
  @Projected(\Guest.room?.number) var room
  @Projected(\Guest.friends.projectTo.name) var friends: ProjectedCollection<String>
}

let rows = realm.objects(GuestRow.self).filter("city == 'Bonn'").sorted(byKeyPath: "name")
// snippet.hide
print(Array(rows.map(\.title)), rows.first?.friends.count ?? 0)
