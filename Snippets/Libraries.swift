// snippet.hide
import Cambium
import Foundation

let configuration = Realm.Configuration(inMemoryIdentifier: "libraries")
Realm.Configuration.defaultConfiguration = configuration

// snippet.show
class Address: EmbeddedObject {
  @Persisted var street = ""
  @Persisted var city = ""
}

class Author: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var home: Address?
  @Persisted(originProperty: "authors") var books: LinkingObjects<Book>
}

class Book: Object {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted(indexed: true) var title = ""
  @Persisted var authors: List<Author>
  @Persisted var tags: MutableSet<String>
  @Persisted var prices: Map<String, Decimal128>
  @Persisted var details: AnyRealmValue
}

// snippet.hide
let realm = try Realm()
try realm.write { realm.deleteAll() }

// snippet.next
// snippet.show
try realm.write {
  let author = Author(value: ["name": "Ada", "home": ["street": "Main Street", "city": "Bonn"]])
  let book = Book(value: ["title": "Trees", "authors": [author], "tags": ["new", "short"]])
  book.prices["EUR"] = 12.5
  book.details = .fromDictionary(["pages": .int(96), "parts": .fromArray([.string("Roots")])])
  realm.add(book)
}
// snippet.hide

// snippet.next
// snippet.show
let books = realm.objects(Book.self)
let local = books.where { $0.authors.home.city == "Bonn" && $0.tags.contains("short") }
let cheap = books.where { $0.prices["EUR"] < 20 && $0.prices.keys == "EUR" }
let long = books.where {
  $0.details["pages"] > .int(90) && $0.details["parts"].any == .string("Roots")
}
// snippet.hide
print(local.count, cheap.count, long.count, realm.objects(Author.self).first?.books.count ?? 0)

try realm.write {
  // snippet.next
  // snippet.show
  if let pages = books.first?.details.dictionaryValue { pages["pages"] = .int(98) }
  realm.objects(Author.self).first?.home = nil
  // snippet.hide
}
print(
  books.first?.details.dictionaryValue?["pages"]?.intValue ?? 0,
  realm.dynamicObjects("Address").count)
