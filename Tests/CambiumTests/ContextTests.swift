import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// Section B2: actors, and what is thawed in a context.
@Suite struct ContextTests {
  init() { TemporaryFolder.prepareForChildren() }

  @Test @MainActor func `the main queue is the main thread, whoever names it`() async throws {
    let configuration = specConfiguration()
    let here = try opened(configuration)
    try here.addDogs("Ben")
    let queue = try onMainQueue(configuration)
    #expect(here == queue)
    let asynchronous = try await withCheckedThrowingContinuation { continuation in
      Realm.asyncOpen(configuration: configuration) {
        continuation.resume(with: $0.map { Smuggled(value: $0) })
      }
    }
    #expect(here == asynchronous.value)
    let told = AsyncStream.makeStream(of: Bool.self)
    let token = here.objects(SpecDog.self).observe(on: .main) { change in
      if case .initial(let dogs) = change { told.continuation.yield(dogs.realm == here) }
    }
    for await isHere in told.stream {
      #expect(isHere)
      break
    }
    token.invalidate()
    try here.write {
      #expect(queue.isInWriteTransaction)
      queue.delete(queue.objects(SpecDog.self))
    }
  }

  @MainActor private func onMainQueue(_ configuration: Realm.Configuration) throws -> Realm {
    try Realm(configuration: configuration, queue: .main)
  }

  @Test func `an actor has a Realm of its own, whatever thread runs it`() async throws {
    let configuration = specConfiguration()
    let kennel = try await Kennel(configuration)
    let other = try await Kennel(configuration)
    for name in ["Ben", "Lita", "Rex"] { try await kennel.add(name) }
    #expect(await kennel.names() == ["Ben", "Lita", "Rex"])
    #expect(await other.names() == [])
    #expect(await other.refresh())
    #expect(await other.names() == ["Ben", "Lita", "Rex"])
    #expect(try await kennel.opensTheSameAgain(configuration))
    let realm = await kennel.smuggledRealm()
    #expect(await !other.has(realm))
    #expect(await kennel.has(realm))
  }

  @Test @MainActor func `the main actor has the Realm of the main thread`() async throws {
    let configuration = specConfiguration()
    let realm = try await Realm.open(configuration: configuration)
    #expect(try opened(configuration) == realm)
    try realm.addDogs("Ben")
    await Task.yield()
    #expect(realm.objects(SpecDog.self).map(\.name) == ["Ben"])
  }

  @MainActor private func opened(_ configuration: Realm.Configuration) throws -> Realm {
    try Realm(configuration: configuration)
  }

  @Test func `a cancelled task opens nothing`() async {
    let configuration = specConfiguration()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await Kennel(configuration)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test(arguments: ["nowhere", "another actor", "a queue"])
  func `an actor's Realm stops elsewhere`(place: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [place = place as String] in
      let kennel = try await Kennel(specConfiguration())
      try await kennel.add("Ben")
      let dog = await kennel.first()
      #expect(await kennel.name(of: dog) == "Ben")
      switch place {
      case "nowhere": _ = dog.value.name
      case "another actor": _ = try await Kennel(specConfiguration()).name(of: dog)
      default: DispatchQueue(label: "spec").sync { _ = dog.value.name }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains(SpecTrap.wrongThread), "\(text.prefix(600))")
  }

  @Test func `thawing on a queue gives the Realm of the queue`() throws {
    let configuration = specConfiguration()
    let queue = DispatchQueue(label: "spec")
    let frozen = Smuggled(value: try Realm(configuration: configuration).addDogs("Ben")[0].freeze())
    let (first, second) = try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      return (frozen.value.thaw()?.realm == realm, frozen.value.realm?.thaw() == realm)
    }
    #expect(first && second)
  }
}

private actor Kennel {
  private var realm: Realm!

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
    // What is asked here is what has been seen before a refresh.
    realm.autorefresh = false
  }

  func add(_ name: String) throws { try realm.addDogs(name) }

  func names() -> [String] { realm.objects(SpecDog.self).sorted(by: \.name).map(\.name) }

  func refresh() -> Bool { realm.refresh() }

  func opensTheSameAgain(_ configuration: Realm.Configuration) async throws -> Bool {
    try await Realm.open(configuration: configuration) == realm
  }

  func smuggledRealm() -> Smuggled<Realm> { Smuggled(value: realm) }

  func has(_ other: Smuggled<Realm>) -> Bool { realm == other.value }

  func first() -> Smuggled<SpecDog> {
    guard let dog = realm.objects(SpecDog.self).first else { fatalError("There is no dog.") }
    _ = dog.name
    return Smuggled(value: dog)
  }

  func name(of dog: Smuggled<SpecDog>) -> String { dog.value.name }
}
