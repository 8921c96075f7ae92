// snippet.hide
import Cambium
import Foundation

Realm.Configuration.defaultConfiguration = Realm.Configuration(inMemoryIdentifier: "querying")

/// A number of shops, as a line of their names.
func names(_ shops: some Sequence<Shop>) -> String { shops.map(\.name).joined(separator: " ") }

// snippet.show
class Place: EmbeddedObject {
  @Persisted var type = "Point"
  @Persisted var coordinates: List<Double>

  convenience init(latitude: Double, longitude: Double) {
    self.init()
    coordinates.append(objectsIn: [longitude, latitude])
  }
}

class Worker: Object {
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted(originProperty: "workers") var shops: LinkingObjects<Shop>
}

class Shop: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted(indexed: true) var city: String
  @Persisted var phone: String?
  @Persisted var opened: Date
  @Persisted var area: Double
  @Persisted var owner: Worker?
  @Persisted var workers: List<Worker>
  @Persisted var tags: MutableSet<String>
  @Persisted var prices: Map<String, Int>
  @Persisted var extra: AnyRealmValue
  @Persisted var place: Place?
}

// snippet.hide
let realm = try Realm()
try realm.write {
  realm.deleteAll()
  let (ada, bob, cid) = (
    Worker(value: ["Ada", 30] as [Any]), Worker(value: ["Bob", 20] as [Any]),
    Worker(value: ["Cid", 50] as [Any])
  )
  @MainActor func add(
    _ name: String, _ city: String, _ area: Double, _ owner: Worker?, _ workers: [Worker],
    _ tags: [String], _ prices: [String: Int], _ extra: Any?, _ place: Place?
  ) {
    let shop = realm.create(Shop.self, value: ["name": name, "city": city, "area": area])
    shop.owner = owner
    shop.workers.append(objectsIn: workers)
    shop.tags.insert(objectsIn: tags)
    for (key, price) in prices { shop.prices[key] = price }
    shop["extra"] = extra
    shop.place = place
    shop.opened = Date(timeIntervalSince1970: area * 1e7)
  }
  add(
    "Tea House", "Bonn", 40, ada, [bob, cid], ["tea", "cakes"], ["tea": 3, "cake": 4], 5,
    Place(latitude: 50.73, longitude: 7.1))
  add(
    "Café Äpfel", "Köln", 80, bob, [ada], ["tea"], ["tea": 2], ["seats": [4, 8]],
    Place(latitude: 50.94, longitude: 6.96))
  add("Books", "Bonn", 120, nil, [], [], [:], "quiet", nil)
}

// snippet.next
// snippet.show
let shops = realm.objects(Shop.self)
let large = shops.where { $0.area > 50 && $0.city != "Bonn" }
let same = shops.filter("area > 50 AND city != 'Bonn'")
let given = shops.filter("area > %@ AND %K != %@", 50, "city", "Bonn")
// snippet.hide
print(names(large), names(same), names(given), separator: ", ")

// snippet.next
// snippet.show
let homeless = shops.where { $0.place == nil || $0.phone == nil && !($0.area >= 100) }
let middling = shops.where { $0.area.contains(50..<100) || $0.city.in(["Bonn", "Berlin"]) }
let middlingText = shops.filter("area BETWEEN {50, 100} OR city IN {'Bonn', 'Berlin'}")
// snippet.hide
print(names(homeless), names(middling), names(middlingText), separator: ", ")

// snippet.next
// snippet.show
let plain = shops.where {
  $0.name.contains("apfel", options: [.caseInsensitive, .diacriticInsensitive])
}
let plainText = shops.filter("name CONTAINS[cd] 'apfel'")
let pattern = shops.where { $0.name.like("?ea*") && $0.name.starts(with: "Tea") }
// snippet.hide
print(names(plain), names(plainText), names(pattern), separator: ", ")

// snippet.next
// snippet.show
let young = shops.where { $0.owner.age < 25 }
let withSenior = shops.where { $0.workers.age > 40 }
let withSeniorText = shops.filter("ANY workers.age > 40")
let fewOrOld = shops.where { $0.workers.count < 1 || $0.workers.age.avg > 30 }
let workers = realm.objects(Worker.self).where { $0.shops.city == "Bonn" }
// snippet.hide
print(names(young), names(withSenior), names(withSeniorText), names(fewOrOld), separator: ", ")
print(Array(workers.map(\.name)))

// snippet.next
// snippet.show
let oneOfBoth = shops.where { ($0.workers.age > 40 && $0.workers.name == "Cid").count == 1 }
let oneOfBothText = shops.filter(
  "SUBQUERY(workers, $w, $w.age > 40 AND $w.name == 'Cid').@count == 1")
let equal = shops.where { $0.owner.age > $0.prices["cake"] }
// snippet.hide
print(names(oneOfBoth), names(oneOfBothText), names(equal), separator: ", ")

// snippet.next
// snippet.show
let cheap = shops.where { $0.prices["tea"] <= 2 || $0.tags.contains("cakes") }
let cheapText = shops.filter("prices['tea'] <= 2 OR 'cakes' IN tags")
let priced = shops.filter("prices.@min >= 3 AND ANY prices.@allKeys BEGINSWITH 't'")
let seats = shops.where { $0.extra["seats"][1] == .int(8) || $0.extra == .double(5) }
let seatsText = shops.filter("extra['seats'][1] == 8 OR extra == 5")
// snippet.hide
print(
  names(cheap), names(cheapText), names(priced), names(seats), names(seatsText), separator: ", ")

// snippet.next
// snippet.show
if let center = GeoPoint(latitude: 50.74, longitude: 7.1), let radius = Distance.kilometers(10) {
  let near = shops.where { $0.place.geoWithin(GeoCircle(center: center, radius: radius)) }
  let nearText = shops.filter("place IN %@", GeoCircle(center: center, radius: radius))
  // snippet.hide
  print(names(near), names(nearText), separator: ", ")
  // snippet.show
}
// snippet.hide

// snippet.next
// snippet.show
let byCity = shops.sorted(by: [
  SortDescriptor(keyPath: "city"), SortDescriptor(keyPath: "area", ascending: false),
])
let byOwner = shops.sorted(byKeyPath: "owner.name").distinct(by: ["city"])
let byPrice = shops.sorted(byKeyPath: "prices[tea]", ascending: false)
let area: Double = shops.sum(of: \.area)
let first = shops.first { $0.city == "Bonn" }
let place = byCity.index(matching: { $0.name == "Books" })
// snippet.hide
print(names(byCity), names(byOwner), names(byPrice), separator: ", ")
print(area, first?.name ?? "", place ?? -1)

// snippet.next
// snippet.show
do {
  let query = try TextQuery("area > 30 SORT(city ASC, area DESC) LIMIT(2)")
  let wanted = try query.results(in: realm, ofType: "Shop")
  for shop in wanted.prefix(query.limit ?? wanted.count) { print(shop["name"] ?? "") }
  print(shops.where { $0.city == "Bonn" }.explanation() ?? "")
} catch {
  print(error)  // says what is wrong, with a caret under the place
}
