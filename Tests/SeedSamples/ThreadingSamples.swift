import Dispatch
import Foundation
import RealmSwift
import TestSupport
import Testing

extension DispatchQueue {
  /// As the samples' time knew it: what a block captures is not checked.
  fileprivate func async(_ body: @escaping () -> Void) {
    nonisolated(unsafe) let body = body
    async(execute: { body() })
  }
}

extension SeedSamples {
  /// The document on threading.
  @Suite(.serialized) struct Threading {
    @MainActor @Test(arguments: Place.allCases)
    func `Perform a background write`(place: Place) async throws {
      let folder = try place.makeDefault()
      let setUp = try Realm(configuration: .defaultConfiguration, queue: nil)
      try setUp.write { setUp.add(Person(name: "Dachary")) }
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        let realm = try! Realm()
        // Query for a specific person object on the main thread
        let people = realm.objects(Person.self)
        let thisPerson = people.where {
          $0.name == "Dachary"
        }.first
        // Perform an async write to add dogs to that person's dog list.
        // No need to pass a thread-safe reference or frozen object.
        realm.writeAsync {
          thisPerson?.dogs.append(objectsIn: [
            Dog(value: ["name": "Ben", "age": 13]),
            Dog(value: ["name": "Lita", "age": 9]),
            Dog(value: ["name": "Maui", "age": 1]),
          ])
        } onComplete: { _ in
          // Confirm the three dogs were successfully added to the person's dogs list
          XCTAssertEqual(thisPerson!.dogs.count, 3)
          // Query for one of the dogs we added and see that it is present
          let dogs = realm.objects(Dog.self)
          let benDogs = dogs.where {
            $0.name == "Ben"
          }
          XCTAssertEqual(benDogs.count, 1)
          done.resume()
        }
        #expect(realm.isPerformingAsynchronousWriteOperations)
      }
      withExtendedLifetime(folder) {}
    }

    @MainActor @Test(arguments: Place.allCases)
    func `Wait for async writes to complete, commit or cancel them`(place: Place) async throws {
      let folder = try place.makeDefault()
      let realm = try await Realm()
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        realm.beginAsyncWrite {
          realm.add(Person(name: "kept"))
          realm.commitAsyncWrite(allowGrouping: true) { error in XCTAssertEqual(error == nil, true)
          }
        }
        let cancelled = realm.beginAsyncWrite { realm.add(Person(name: "cancelled")) }
        try! realm.cancelAsyncWrite(cancelled)
        realm.beginAsyncWrite { realm.add(Person(name: "not committed")) }
        realm.writeAsync {
          realm.cancelWrite()
        } onComplete: { _ in
          done.resume()
        }
        XCTAssertEqual(realm.isPerformingAsynchronousWriteOperations, true)
      }
      XCTAssertEqual(Array(realm.objects(Person.self).map(\.name)), ["kept"])
      withExtendedLifetime(folder) {}
    }

    @Test(arguments: Place.allCases)
    func `Use the @ThreadSafe wrapper`(place: Place) throws {
      let folder = try place.makeDefault()
      let realm = try! Realm()
      let person = Person(name: "Jane")
      try! realm.write {
        realm.add(person)
      }
      // Create thread-safe reference to person
      @ThreadSafe var personRef = person
      // @ThreadSafe vars are always optional. If the referenced object is deleted,
      // the @ThreadSafe var will be nullified.
      print("Person's name: \(personRef?.name ?? "unknown")")
      let queue = DispatchQueue(label: "background", autoreleaseFrequency: .workItem)
      // Pass the reference to a background thread
      queue.async {
        let realm = try! Realm()
        try! realm.write {
          // Resolve within the transaction to ensure you get the
          // latest changes from other threads. If the person
          // object was deleted, personRef will be nil.
          guard let person = personRef else {
            return  // person was deleted
          }
          person.name = "Jane Doe"
        }
      }
      queue.sync {}
      realm.refresh()
      XCTAssertEqual(person.name, "Jane Doe")
      withExtendedLifetime(folder) {}
    }

    @MainActor @Test(arguments: Place.allCases)
    func `Use the @ThreadSafe wrapper on a parameter`(place: Place) async throws {
      let folder = try place.makeDefault()
      func someLongCallToGetNewName() async -> String {
        "Janet"
      }
      @MainActor func loadNameInBackground(@ThreadSafe person: Person?) async {
        let newName = await someLongCallToGetNewName()
        let realm = try! await Realm()
        try! realm.write {
          person?.name = newName
        }
      }
      @MainActor func createAndUpdatePerson() async {
        let realm = try! await Realm()
        let person = Person(name: "Jane")
        try! realm.write {
          realm.add(person)
        }
        await loadNameInBackground(person: person)
      }
      await createAndUpdatePerson()
      let realm = try await Realm()
      XCTAssertEqual(realm.objects(Person.self).first?.name, "Janet")
      withExtendedLifetime(folder) {}
    }

    @Test(arguments: Place.allCases)
    func `Use ThreadSafeReference`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
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

    @Test(arguments: Place.allCases)
    func `Pass instances across threads`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
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

    @Test(arguments: Place.allCases)
    func `Use ThreadSafeReference: an extension of Realm`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
      let realm = try! Realm()
      try! realm.write {
        for index in 0..<10 { realm.create(Email.self, value: ["read": index % 2 == 0]) }
      }
      let done = DispatchSemaphore(value: 0)
      let readEmails = realm.objects(Email.self).where { $0.read == true }
      realm.writeAsync(readEmails) { (realm, readEmails) in
        defer { done.signal() }
        guard let readEmails = readEmails else {
          // Already deleted
          return
        }
        realm.delete(readEmails)
      }
      done.wait()
      let again = realm.objects(Email.self).filter("read == true")
      realm.writeAsync(again) { (_, _) in done.signal() }
      done.wait()
      realm.refresh()
      #expect(again.isEmpty)
      #expect(realm.objects(Email.self).count == 5)
    }

    @Test(arguments: Place.allCases)
    func `Create a serial queue to use Realm on a background thread`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
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

    @Test(arguments: Place.allCases)
    func `Refreshing Realms`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
      let realm = try! Realm()
      realm.autorefresh = false
      if !realm.autorefresh {
        // Manually refresh
        realm.refresh()
      }
      realm.autorefresh = true
    }

    @Test(arguments: Place.allCases)
    func `Frozen objects`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
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

    @Test(arguments: Place.allCases)
    func `Modify a frozen object`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
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

    @Test(arguments: Place.allCases)
    func `Append to a frozen collection`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
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
}

extension Realm {
  func writeAsync<T: ThreadConfined>(
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
