import Dispatch
import Foundation
import RealmSwift
import Testing

/// The samples of Realm Swift's documentation on writes, threads and frozen objects, as they stand
/// there, in language mode 5.
///
/// Only waiting for a queue was added.
@Suite(.serialized) struct DocumentationSamplesTests {
  init() {
    Realm.Configuration.defaultConfiguration = Realm.Configuration(
      inMemoryIdentifier: "samples-\(UUID().uuidString)",
      objectTypes: [Person.self, Dog.self, Email.self])
  }

  class Person: Object {
    @Persisted(primaryKey: true) var _id: ObjectId
    @Persisted var name: String
    @Persisted var dogs: List<Dog>

    convenience init(name: String) {
      self.init()
      self.name = name
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  class Dog: Object {
    @Persisted var name: String
    @Persisted var age: Int
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  class Email: Object {
    @Persisted var read: Bool
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  @Test func `a write that may fail`() {
    // Open the default realm.
    let realm = try! Realm()
    // Prepare to handle exceptions.
    do {
      // Open a thread-safe transaction.
      try realm.write {
        // Make any writes within this code block.
        // Realm automatically cancels the transaction
        // if this code throws an exception. Otherwise,
        // Realm automatically commits the transaction
        // after the end of this code block.
      }
    } catch let error as NSError {
      // Failed to write to realm.
      // ... Handle error ...
      Issue.record(error)
    }
  }

  @Test func `passing a reference to a background queue`() {
    let person = Person(name: "Jane")
    let realm = try! Realm()
    try! realm.write {
      realm.add(person)
    }
    // Create thread-safe reference to person
    let personRef = ThreadSafeReference(to: person)
    let background = DispatchQueue(label: "background", autoreleaseFrequency: .workItem)
    // Pass the reference to a background thread
    background.async {
      let realm = try! Realm()
      try! realm.write {
        // Resolve within the transaction to ensure you get the
        // latest changes from other threads
        guard let person = realm.resolve(personRef) else {
          return  // person was deleted
        }
        person.name = "Jane Doe"
      }
    }
    background.sync {}
    realm.refresh()
    #expect(person.name == "Jane Doe")
  }

  @Test func `passing a reference within an autorelease pool`() {
    let person = Person(name: "Jane")
    let realm = try! Realm()
    try! realm.write {
      realm.add(person)
    }
    let personRef = ThreadSafeReference(to: person)
    let background = DispatchQueue(label: "background")
    background.async {
      autoreleasepool {
        let realm = try! Realm()
        try! realm.write {
          guard let person = realm.resolve(personRef) else {
            return  // person was deleted
          }
          person.name = "Jane Doe"
        }
      }
    }
    background.sync {}
    realm.refresh()
    #expect(person.name == "Jane Doe")
  }

  @Test func `deleting read emails in the background`() {
    let realm = try! Realm()
    try! realm.write {
      for index in 0..<10 { realm.create(Email.self, value: ["read": index % 2 == 0]) }
    }
    let done = DispatchSemaphore(value: 0)
    let readEmails = realm.objects(Email.self).where { $0.read == true }
    realm.writeInBackground(readEmails) { (realm, readEmails) in
      defer { done.signal() }
      guard let readEmails = readEmails else {
        // Already deleted
        return
      }
      realm.delete(readEmails)
    }
    done.wait()
    let again = realm.objects(Email.self).filter("read == true")
    realm.writeInBackground(again) { (_, _) in done.signal() }
    done.wait()
    realm.refresh()
    #expect(again.isEmpty)
    #expect(realm.objects(Email.self).count == 5)
  }

  @Test func `a Realm on a serial queue`() {
    // Initialize a serial queue, and
    // perform realm operations on it
    let serialQueue = DispatchQueue(label: "serial-queue")
    serialQueue.async {
      let realm = try! Realm(configuration: .defaultConfiguration, queue: serialQueue)
      // Do something with Realm on the non-main thread
      try! realm.write { realm.add(Dog(value: ["name": "Ben", "age": 13])) }
      #expect(realm.objects(Dog.self).where { $0.name == "Ben" }.count == 1)
    }
    serialQueue.sync {}
  }

  @Test func `refreshing by hand`() {
    let realm = try! Realm()
    realm.autorefresh = false
    if !realm.autorefresh {
      // Manually refresh
      realm.refresh()
    }
    realm.autorefresh = true
  }

  @Test func `freezing a Realm, a collection and an object`() {
    let realm = try! Realm()
    try! realm.write { realm.add(Person(name: "Jane")) }
    // Get an immutable copy of the realm that can be passed across threads
    let frozenRealm = realm.freeze()
    assert(frozenRealm.isFrozen)
    let people = realm.objects(Person.self)
    // You can freeze collections
    let frozenPeople = people.freeze()
    assert(frozenPeople.isFrozen)
    // You can still read from frozen realms
    let frozenPeople2 = frozenRealm.objects(Person.self)
    assert(frozenPeople2.isFrozen)
    let person = people.first!
    assert(!person.realm!.isFrozen)
    // You can freeze objects
    let frozenPerson = person.freeze()
    assert(frozenPerson.isFrozen)
    // Frozen objects have a reference to a frozen realm
    assert(frozenPerson.realm!.isFrozen)
    if realm.isFrozen {
      Issue.record("live")
    }
  }

  @Test func `modifying a frozen object`() {
    let realm = try! Realm()
    try! realm.write { realm.add(Person(name: "Jane")) }
    let frozenRealm = realm.freeze()
    // Read from a frozen realm
    let frozenPeople = frozenRealm.objects(Person.self)
    // The collection that we pull from the frozen realm is also frozen
    assert(frozenPeople.isFrozen)
    // Get an individual person from the collection
    let frozenPerson = frozenPeople.first!
    // To modify the person, you must first thaw it
    // You can also thaw collections and realms
    let thawedPerson = frozenPerson.thaw()
    // Check to make sure this person is valid. An object is
    // invalidated when it is deleted from its managing realm,
    // or when its managing realm has invalidate() called on it.
    assert(thawedPerson?.isInvalidated == false)
    // Thawing the person also thaws the frozen realm it references
    assert(thawedPerson!.realm!.isFrozen == false)
    // Let's make the code easier to follow by naming the thawed realm
    let thawedRealm = thawedPerson!.realm!
    // Now, you can modify the todo
    try! thawedRealm.write {
      thawedPerson!.name = "John Michael Kane"
    }
    #expect(frozenPerson.name == "Jane")
    #expect(realm.objects(Person.self).first?.name == "John Michael Kane")
  }

  @Test func `appending to a frozen collection`() {
    let realm = try! Realm()
    try! realm.write {
      realm.add(Person(name: "Timmy"))
      realm.add(Dog(value: ["name": "Lassie", "age": 9]))
    }
    let frozenRealm = realm.freeze()
    // Get a copy of frozen objects.
    // Here, we're getting them from a frozen realm,
    // but you might also be passing them across threads.
    let frozenTimmy = frozenRealm.objects(Person.self).where { $0.name == "Timmy" }.first!
    let frozenLassie = frozenRealm.objects(Dog.self).where { $0.name == "Lassie" }.first!
    // Confirm the objects are frozen.
    assert(frozenTimmy.isFrozen == true)
    assert(frozenLassie.isFrozen == true)
    // Thaw the frozen objects. You must thaw both the object
    // you want to append and the collection you want to append it to.
    let thawedTimmy = frozenTimmy.thaw()
    let thawedLassie = frozenLassie.thaw()
    let realm2 = try! Realm()
    try! realm2.write {
      thawedTimmy?.dogs.append(thawedLassie!)
    }
    #expect(thawedTimmy?.dogs.first?.name == "Lassie")
  }
}

extension Realm {
  // The documentation calls it `writeAsync`.
  fileprivate func writeInBackground<T: ThreadConfined>(
    _ passedObject: T, errorHandler: @escaping ((_ error: Swift.Error) -> Void) = { _ in return },
    block: @escaping ((Realm, T?) -> Void)
  ) {
    let objectReference = ThreadSafeReference(to: passedObject)
    let configuration = self.configuration
    DispatchQueue(label: "background", autoreleaseFrequency: .workItem).async {
      do {
        let realm = try Realm(configuration: configuration)
        try realm.write {
          // Resolve within the transaction to ensure you get the latest changes from other threads
          let object = realm.resolve(objectReference)
          block(realm, object)
        }
      } catch {
        errorHandler(error)
      }
    }
  }
}
