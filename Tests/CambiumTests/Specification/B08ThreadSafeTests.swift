import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// Section B8.7: `@ThreadSafe`.
@Suite struct B08ThreadSafeTests {
  @Test func `an object is read where it is needed, as often as it is asked for`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = ThreadSafe(wrappedValue: try realm.addDogs("Ben")[0])
    try onAnotherThread {
      #expect(dog.wrappedValue?.name == "Ben")
      let realm = try Realm(configuration: configuration)
      try realm.write { dog.wrappedValue?.name = "Rex" }
      #expect(dog.wrappedValue?.name == "Rex")
    }
    realm.refresh()
    #expect(dog.wrappedValue?.name == "Rex")
  }

  @Test func `nil is read once the object is deleted`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = ThreadSafe(wrappedValue: try realm.addDogs("Ben")[0])
    try onAnotherThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.deleteAll() }
      #expect(dog.wrappedValue == nil)
      #expect(dog.wrappedValue == nil)
    }
    realm.refresh()
    #expect(dog.wrappedValue == nil)
  }

  @Test func `collections and results can be wrapped, and others assigned`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let dogs = ThreadSafe(wrappedValue: realm.objects(SpecDog.self).where { $0.name != "Rex" })
    try realm.addDogs("Ben", "Rex")
    let person = SpecPerson(1, "n", age: 1)
    try realm.write {
      realm.add(person)
      person.nicknames.append("a")
    }
    let nicknames = ThreadSafe(wrappedValue: person.nicknames)
    try onAnotherThread {
      #expect(dogs.wrappedValue?.count == 1)
      #expect(nicknames.wrappedValue.map(Array.init) == ["a"])
      dogs.wrappedValue = nil
      #expect(dogs.wrappedValue == nil)
    }
  }

  @Test func `many threads read one at the same time`() async throws {
    let realm = try Realm(configuration: specConfiguration(), queue: nil)
    let dog = ThreadSafe(wrappedValue: try realm.addDogs("Ben")[0])
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread {
              for _ in 0..<50 { #expect(dog.wrappedValue?.name == "Ben") }
              continuation.resume()
            }.start()
          }
        }
      }
    }
  }

  @Test func `on a queue with a Realm the value is the queue's`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = ThreadSafe(wrappedValue: try realm.addDogs("Ben")[0])
    let queue = DispatchQueue(label: "spec")
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      #expect(dog.wrappedValue?.realm == realm)
    }
  }
}
