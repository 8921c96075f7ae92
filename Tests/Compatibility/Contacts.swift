import Foundation
import RealmSwift
import Testing

// An address book: people with several numbers, found by parts of names, in sections by initials.

class Contact: Object, ObjectKeyIdentifiable {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted(indexed: true) var lastName = ""
  @Persisted var firstName = ""
  @Persisted var numbers = List<PhoneNumber>()
  @Persisted var birthday: Date?
  @Persisted var groups = MutableSet<String>()
  @Persisted var isFavorite = false

  var initial: String { lastName.prefix(1).uppercased() }
  var fullName: String { "\(firstName) \(lastName)" }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class PhoneNumber: EmbeddedObject {
  enum Kind: String, PersistableEnum { case home, work, mobile }
  @Persisted var kind = Kind.mobile
  @Persisted var digits = ""

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class AddressBook {
  let realm: Realm

  init(_ name: String) throws {
    var configuration = Realm.Configuration(inMemoryIdentifier: name)
    configuration.objectTypes = [Contact.self, PhoneNumber.self]
    realm = try Realm(configuration: configuration)
  }

  var all: Results<Contact> { realm.objects(Contact.self).sorted(byKeyPath: "lastName") }

  func add(_ first: String, _ last: String, _ numbers: [(PhoneNumber.Kind, String)] = []) throws {
    let contact = Contact()
    contact.firstName = first
    contact.lastName = last
    contact.numbers.append(
      objectsIn: numbers.map { kind, digits in
        let number = PhoneNumber()
        number.kind = kind
        number.digits = digits
        return number
      })
    try realm.write { realm.add(contact) }
  }

  func search(_ text: String) -> Results<Contact> {
    all.filter(
      "firstName CONTAINS[cd] %@ OR lastName CONTAINS[cd] %@ OR ANY numbers.digits BEGINSWITH %@",
      text,
      text, text)
  }

  func merge(_ source: Contact, into target: Contact) throws {
    try realm.write {
      for number in source.numbers
      where !target.numbers.contains(where: { $0.digits == number.digits }) {
        target.numbers.append(PhoneNumber(value: number))
      }
      target.groups.formUnion(source.groups)
      realm.delete(source)
    }
  }
}

@Suite struct ContactsProgram {
  @Test func `people are found, grouped, merged and deleted`() throws {
    let book = try AddressBook("contacts")
    try book.add("Ada", "Lovelace", [(.home, "0228 1"), (.work, "0228 2")])
    try book.add("Alan", "Turing")
    try book.add("Grace", "Hopper", [(.mobile, "0171 5")])
    try book.add("Kurt", "Gödel")
    try book.add("A.", "Lovelace", [(.mobile, "0171 7"), (.home, "0228 1")])
    #expect(book.search("godel").map(\.fullName) == ["Kurt Gödel"])
    #expect(book.search("0171").map(\.lastName) == ["Hopper", "Lovelace"])
    let sections = book.all.sectioned(by: \.initial, ascending: true)
    #expect(sections.allKeys == ["G", "H", "L", "T"])
    #expect(sections.map(\.count) == [1, 1, 2, 1])
    let ada = try #require(book.all.first { $0.firstName == "Ada" })
    let twin = try #require(book.all.first { $0.firstName == "A." })
    try book.realm.write {
      ada.groups.insert("maths")
      twin.groups.insert(objectsIn: ["maths", "letters"])
      ada.isFavorite = true
    }
    try book.merge(twin, into: ada)
    #expect(ada.numbers.map(\.digits) == ["0228 1", "0228 2", "0171 7"])
    #expect(ada.groups.sorted() == ["letters", "maths"] && twin.isInvalidated)
    #expect(book.all.where { $0.isFavorite }.count == 1)
    #expect(book.all.where { $0.numbers.kind == .mobile }.count == 2)
    #expect(Set(book.all.map(\.id)).count == 4)
    try book.realm.write { book.realm.delete(book.all.where { $0.numbers.count == 0 }) }
    #expect(sections.allKeys == ["H", "L"])
  }
}
