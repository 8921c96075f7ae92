import Cambium
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite struct ConfinementTests {
  @Test func `frozen objects keep their values on any thread`() throws {
    let realm = try testRealm()
    let dog = Dog()
    let person = Person(value: ["id": 1, "name": "Ann"] as [String: Any])
    try realm.write {
      person.dogs.append(dog)
      realm.add(person)
    }
    let frozen = person.freeze()
    #expect(frozen.isFrozen && !person.isFrozen)
    #expect(frozen.freeze() === frozen)
    try realm.write {
      person.name = "Bea"
      realm.delete(dog)
    }
    // Unchecked: the thread has ended before this one reads on.
    nonisolated(unsafe) var seen: [String] = []
    // Unchecked: frozen objects may be read anywhere, which is what is tested.
    nonisolated(unsafe) let shared = frozen
    runOnNewThread { seen = [shared.name, shared.dogs.first?.name ?? "-"] }
    #expect(seen == ["Ann", "Rex"])
    #expect(person.name == "Bea" && person.dogs.isEmpty)
    #expect(frozen.thaw()?.name == "Bea")
    #expect(frozen.dogs[0].thaw() == nil)
  }

  @Test func `frozen results keep their rows and their order`() throws {
    let realm = try testRealm()
    try realm.write {
      for index in 0..<10 { realm.create(Dog.self, value: ["name": "d\(index)"]) }
    }
    let results = realm.objects(Dog.self).sorted(byKeyPath: "name", ascending: false)
    let frozen = results.freeze()
    try realm.write { realm.delete(results.filter("name > 'd4'")) }
    #expect(results.map(\.name) == ["d4", "d3", "d2", "d1", "d0"])
    #expect(frozen.count == 10 && frozen.first?.name == "d9")
    #expect(frozen.thaw()?.count == 5)
    #expect(realm.freeze() == realm.freeze())
  }

  @Test func `a frozen view within a transaction is what was there before`() throws {
    let realm = try testRealm()
    try realm.write { realm.create(Dog.self) }
    realm.beginWrite()
    realm.create(Dog.self)
    #expect(realm.freeze().objects(Dog.self).count == 1)
    realm.cancelWrite()
  }

  @Test func `references carry objects, lists and queries to another thread`() throws {
    let name = UUID().uuidString
    let realm = try testRealm(nil, name)
    let person = Person(value: ["id": 1, "nicknames": ["a", "b"]] as [String: Any])
    try realm.write { realm.add(person) }
    let object = ThreadSafeReference(to: person)
    let list = ThreadSafeReference(to: person.nicknames)
    let results = ThreadSafeReference(to: realm.objects(Person.self).filter("id == 1"))
    // Unchecked: the thread has ended before this one reads on.
    nonisolated(unsafe) var seen: [String] = []
    runOnNewThread {
      guard let other = try? testRealm(nil, name) else { return }
      seen.append("\(other.resolve(object)?.id ?? 0)")
      seen.append(other.resolve(list)?.joined(separator: "") ?? "")
      seen.append("\(other.resolve(results)?.count ?? 0)")
    }
    #expect(seen == ["1", "ab", "1"])
    #expect(object.isInvalidated)
    let gone = ThreadSafeReference(to: person)
    try realm.write { realm.delete(person) }
    #expect(realm.resolve(gone) == nil)
  }

  @Test func `an instance stays at its version until it is refreshed`() throws {
    let name = UUID().uuidString
    let realm = try testRealm(nil, name)
    #expect(realm.objects(Dog.self).count == 0)
    runOnNewThread {
      guard let other = try? testRealm(nil, name) else { return }
      try? other.write { _ = other.create(Dog.self) }
    }
    #expect(realm.objects(Dog.self).count == 0)
    #expect(realm.refresh())
    #expect(realm.objects(Dog.self).count == 1)
    #expect(!realm.refresh())
  }

  @Test func `one context has one state`() throws {
    let name = UUID().uuidString
    let first = try testRealm(nil, name)
    let second = try testRealm(nil, name)
    #expect(first == second)
    first.beginWrite()
    #expect(second.isInWriteTransaction)
    first.cancelWrite()
    // Unchecked: only compared elsewhere, and this thread waits meanwhile.
    nonisolated(unsafe) let mine = first
    // Unchecked: the other thread has ended when it is read.
    nonisolated(unsafe) var isSame = true
    runOnNewThread { isSame = (try? testRealm(nil, name)) == mine }
    #expect(!isSame)
  }

  @Test func `a Realm of a queue is used on the queue`() throws {
    let name = UUID().uuidString
    let keeper = try testRealm(nil, name)
    let queue = DispatchQueue(label: "realm")
    let count = try queue.sync {
      let realm = try Realm(configuration: testConfiguration(nil, name), queue: queue)
      try realm.write { realm.create(Dog.self) }
      return realm.objects(Dog.self).count
    }
    #expect(count == 1)
    keeper.refresh()
    #expect(keeper.objects(Dog.self).count == 1)
  }

  @Test func `invalidating ends accessors, not the Realm`() throws {
    let realm = try testRealm()
    let person = Person()
    try realm.write { realm.add(person) }
    let results = realm.objects(Person.self)
    let list = person.nicknames
    realm.invalidate()
    #expect(person.isInvalidated && results.isInvalidated && list.isInvalidated)
    #expect(realm.objects(Person.self).count == 1)
    #expect(person.isInvalidated && person.description == "[invalid object]")
    realm.beginWrite()
    realm.create(Person.self, value: ["id": 9])
    realm.invalidate()
    #expect(!realm.isInWriteTransaction && realm.objects(Person.self).count == 1)
  }

  @Test func `what may be asked from anywhere is asked while objects are deleted`() throws {
    let realm = try testRealm()
    let dogs = try realm.write { (0..<500).map { _ in realm.create(Dog.self) } }
    // Unchecked: that is what is tested.
    nonisolated(unsafe) let shared = (realm: realm, dogs: dogs)
    let isOver = Atomic<Bool>(false)
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      while !isOver.load(ordering: .acquiring) {
        for dog in shared.dogs where dog.isInvalidated { #expect(!dog.isFrozen) }
        for dog in shared.dogs { #expect(dog.realm.map { $0 == shared.realm } ?? true) }
        shared.realm.autorefresh.toggle()
      }
    }
    for dog in dogs { try realm.write { realm.delete(dog) } }
    isOver.store(true, ordering: .releasing)
    group.wait()
    #expect(dogs.allSatisfy { $0.isInvalidated && $0.realm == nil })
  }

  @Test func `frozen results are counted and read by several threads at once`() throws {
    let realm = try testRealm()
    try realm.write {
      for index in 0..<20 { realm.create(Dog.self, value: ["name": "d\(index)"]) }
    }
    for _ in 0..<20 {
      // Unchecked: frozen results may be read anywhere, which is what is tested.
      nonisolated(unsafe) let frozen = realm.objects(Dog.self).filter("name != 'd3'").freeze()
      DispatchQueue.concurrentPerform(iterations: 4) { index in
        if index.isMultiple(of: 2) { #expect(frozen.map(\.name).count == 19) }
        #expect(frozen.count == 19)
      }
    }
  }

  @Test func `readers are not disturbed by a writer`() throws {
    let name = UUID().uuidString
    let realm = try testRealm(nil, name)
    try realm.write { for _ in 0..<100 { realm.create(Dog.self, value: ["weight": 1]) } }
    let threads = 4
    // Unchecked: each thread has an element of its own and ends before they are read.
    nonisolated(unsafe) let results = UnsafeMutableBufferPointer<Double>.allocate(capacity: threads)
    defer { results.deallocate() }
    let group = DispatchGroup()
    for index in 0..<threads {
      group.enter()
      Thread {
        defer { group.leave() }
        guard let other = try? testRealm(nil, name) else { return }
        var sum = 0.0
        for _ in 0..<50 {
          sum = other.objects(Dog.self).sum(of: \.weight)
          // Every version holds a hundred equal weights.
          if sum.truncatingRemainder(dividingBy: 100) != 0 { sum = -1; break }
          other.refresh()
        }
        results[index] = sum
      }.start()
    }
    for weight in 2..<30 {
      try realm.write { for dog in realm.objects(Dog.self) { dog.weight = Double(weight) } }
    }
    group.wait()
    #expect(results.allSatisfy { $0 > 0 })
  }
}

/// Runs `body` on a thread of its own and waits for it.
func runOnNewThread(_ body: @escaping () -> Void) {
  let done = DispatchSemaphore(value: 0)
  // The thread ends before this returns.
  nonisolated(unsafe) let body = body
  Thread {
    body()
    done.signal()
  }.start()
  done.wait()
}
