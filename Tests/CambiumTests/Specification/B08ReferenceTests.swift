import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// Section B8: thread-safe references.
@Suite struct B08ReferenceTests {
  @Test func `an object is resolved in another thread`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = try realm.addDogs("Ben")[0]
    let reference = ThreadSafeReference(to: dog)
    #expect(!reference.isInvalidated)
    try onAnotherThread {
      let other = try Realm(configuration: configuration)
      try other.write {
        let dog = try #require(other.resolve(reference))
        dog.name = "Benno"
      }
    }
    #expect(reference.isInvalidated)
    realm.refresh()
    #expect(dog.name == "Benno")
  }

  @Test func `lists, results and linking objects are resolved`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let person = SpecPerson(1, "Ann")
    person.dogs.append(objectsIn: [SpecDog(value: ["name": "B"]), SpecDog(value: ["name": "A"])])
    person.nicknames.append(objectsIn: ["x", "y"])
    try realm.write { realm.add(person) }
    let list = ThreadSafeReference(to: person.dogs)
    let names = ThreadSafeReference(to: person.nicknames)
    let sorted = ThreadSafeReference(
      to: realm.objects(SpecDog.self).where { $0.age == 0 }.sorted(by: \.name))
    let derived = ThreadSafeReference(to: person.dogs.filter("name == 'B'"))
    let owners = ThreadSafeReference(to: person.dogs[0].owners)
    try onAnotherThread {
      let other = try Realm(configuration: configuration)
      #expect(other.resolve(list)?.map(\.name) == ["B", "A"])
      #expect(other.resolve(names).map(Array.init) == ["x", "y"])
      #expect(other.resolve(sorted)?.map(\.name) == ["A", "B"])
      #expect(other.resolve(derived)?.map(\.name) == ["B"])
      #expect(other.resolve(owners)?.map(\.name) == ["Ann"])
    }
  }

  @Test func `what was deleted resolves to nil, and the reference is used up`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let person = SpecPerson(1, "Ann")
    person.dogs.append(SpecDog())
    try realm.write { realm.add(person) }
    let reference = ThreadSafeReference(to: person)
    let list = ThreadSafeReference(to: person.dogs)
    try realm.write { realm.delete(person) }
    try onAnotherThread {
      let other = try Realm(configuration: configuration)
      #expect(other.resolve(reference) == nil)
      #expect(reference.isInvalidated)
      #expect(other.resolve(list) == nil)
    }
  }

  @Test func `an older Realm moves on when it resolves`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let ready = DispatchSemaphore(value: 0)
    let go = DispatchSemaphore(value: 0)
    let slot = Smuggled(value: Box<ThreadSafeReference<SpecDog>?>(nil))
    let done = DispatchSemaphore(value: 0)
    Thread {
      let other = try! Realm(configuration: configuration)
      #expect(other.isEmpty)
      ready.signal()
      go.wait()
      #expect(other.isEmpty)
      #expect(other.resolve(slot.value.content!)?.name == "Ben")
      #expect(other.objects(SpecDog.self).count == 1)
      done.signal()
    }.start()
    ready.wait()
    slot.value.content = ThreadSafeReference(to: try realm.addDogs("Ben")[0])
    go.signal()
    done.wait()
  }

  @Test func `a newer Realm stays where it is`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = try realm.addDogs("Ben")[0]
    let reference = ThreadSafeReference(to: realm.objects(SpecDog.self))
    try realm.write { dog.name = "Benno" }
    try onAnotherThread {
      let other = try Realm(configuration: configuration)
      #expect(other.objects(SpecDog.self).first?.name == "Benno")
      #expect(other.resolve(reference)?.first?.name == "Benno")
    }
  }

  @Test func `a Realm that has read nothing begins at the version of the reference`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = try realm.addDogs("Ben")[0]
    let dogs = realm.objects(SpecDog.self)
    let references = Smuggled(
      value: [ThreadSafeReference(to: dogs), ThreadSafeReference(to: dogs)])
    try realm.write { dog.name = "Benno" }
    try onAnotherThread {
      let other = try Realm(configuration: configuration)
      #expect(other.resolve(references.value[0])?.first?.name == "Ben")
      #expect(other.refresh())
      #expect(other.objects(SpecDog.self).first?.name == "Benno")
      other.invalidate()
      #expect(other.resolve(references.value[1])?.first?.name == "Ben")
    }
  }

  @Test func `the version of a reference to an object is seen while somebody keeps it`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = try realm.addDogs("Ben")[0]
    let kept = realm.freeze()
    let reference = ThreadSafeReference(to: dog)
    try realm.write { dog.name = "Benno" }
    let forgotten = ThreadSafeReference(to: dog)
    try realm.write { dog.name = "Bennie" }
    let names = try [reference, forgotten].map { reference in
      try onAnotherThread { try Realm(configuration: configuration).resolve(reference)?.name }
    }
    #expect(names == ["Ben", "Bennie"])
    #expect(kept.objects(SpecDog.self).first?.name == "Ben")
  }

  @Test func `only references to queries keep their version`() throws {
    var configuration = specConfiguration()
    configuration.maximumNumberOfActiveVersions = 3
    let realm = try Realm(configuration: configuration)
    let person = SpecPerson(1, "Ann")
    try realm.write { realm.add(person) }
    var objects: [ThreadSafeReference<SpecPerson>] = []
    var lists: [ThreadSafeReference<List<String>>] = []
    for age in 0..<10 {
      try realm.write { person.age = age }
      objects.append(ThreadSafeReference(to: person))
      lists.append(ThreadSafeReference(to: person.nicknames))
    }
    var queries: [ThreadSafeReference<Results<SpecPerson>>] = []
    #expect {
      for age in 0..<10 {
        try realm.write { person.age = age }
        queries.append(ThreadSafeReference(to: realm.objects(SpecPerson.self)))
      }
    } throws: { error in
      "\(error.localizedDescription)".contains("exceeded the limit of 3")
    }
    // Resolved ones keep nothing, though they are still there.
    for query in queries { #expect(realm.resolve(query)?.count == 1) }
    try realm.write { person.age = 99 }
    #expect(queries.allSatisfy { $0.isInvalidated })
    #expect(objects.count == 10 && lists.count == 10)
  }

  @Test func `a resolved reference does not keep the file open`() throws {
    let folder = try TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: folder.url("file.realm"), objectTypes: specTypes)
    let reference = try resolvedReference(configuration)
    #expect(reference.isInvalidated)
    #expect(try Realm.deleteFiles(for: configuration))
  }

  private func resolvedReference(
    _ configuration: Realm.Configuration
  ) throws -> ThreadSafeReference<SpecDog> {
    let realm = try Realm(configuration: configuration)
    let reference = ThreadSafeReference(to: try realm.addDogs("Ben")[0])
    #expect(realm.resolve(reference)?.name == "Ben")
    return reference
  }

  @Test func `a reference made within a transaction resolves after its commit`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    realm.beginWrite()
    let reference = ThreadSafeReference(to: realm.create(SpecDog.self))
    try realm.commitWrite()
    let name = try onAnotherThread {
      try Realm(configuration: configuration).resolve(reference)?.name
    }
    #expect(name == "Rex")
  }

  @Test func `a reference keeps content in memory alive`() throws {
    let configuration = specConfiguration()
    var reference: ThreadSafeReference<SpecDog>?
    do {
      reference = ThreadSafeReference(to: try Realm(configuration: configuration).addDogs("Ben")[0])
    }
    #expect(try Realm(configuration: configuration).resolve(#require(reference))?.name == "Ben")
  }

  @Test func `generic code over confined values compiles and works`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    try realm.addDogs("Ben", "Lita")
    realm.writeElsewhere(realm.objects(SpecDog.self).where { $0.name == "Ben" }) { realm, dogs in
      guard let dogs else { return }
      realm.delete(dogs)
    }
    realm.refresh()
    #expect(realm.objects(SpecDog.self).map(\.name) == ["Lita"])
  }
}

final class Box<Content> {
  var content: Content
  init(_ content: Content) { self.content = content }
}

extension Realm {
  /// The convenience of the documentation, made to wait.
  func writeElsewhere<T: ThreadConfined>(
    _ passedObject: T, block: @escaping @Sendable (Realm, T?) -> Void
  ) {
    let objectReference = ThreadSafeReference(to: passedObject)
    let configuration = self.configuration
    let done = DispatchSemaphore(value: 0)
    DispatchQueue(label: "background", autoreleaseFrequency: .workItem).async {
      defer { done.signal() }
      do {
        let realm = try Realm(configuration: configuration)
        try realm.write {
          let object = realm.resolve(objectReference)
          block(realm, object)
        }
      } catch {
        Issue.record(error)
      }
    }
    done.wait()
  }
}
