import Cambium
import Foundation

final class City: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
}

final class Person: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var name: String
  @Persisted var age: Int
  @Persisted var score: Double
  @Persisted var born: Date
  @Persisted var note: String?
  @Persisted var home: City?

  static let names = [
    "Ada", "Bartholomew", "Charlotte Anne", "Dmitri", "Eleonora", "Femi", "Guðrún", "Hiroshi",
  ]

  static func make(_ id: Int, _ cities: [City]) -> Person {
    let person = Person()
    person.id = id
    person.name = "\(names[id & 7]) \(id)"
    person.age = id % 97
    person.score = Double(id) * 0.5
    person.born = Date(timeIntervalSince1970: Double(id) * 3600)
    if id & 3 == 0 { person.note = "note \(id)" }
    if id & 1 == 0 { person.home = cities[id % cities.count] }
    return person
  }
}
