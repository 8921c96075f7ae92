import Cambium
import Foundation
import TestSupport
import Testing

/// Section B6: writes and refreshes that are awaited.
@Suite struct B06AsyncAwaitTests {
  private struct Refusal: Error {}

  /// An actor with a Realm.
  private actor Writer {
    private var realm: Realm!
    private(set) var otherWork = 0

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm(configuration: configuration, actor: self)
    }

    @discardableResult func add(_ name: String) async throws -> Int {
      try await realm.asyncWrite {
        realm.create(SpecDog.self, value: ["name": name])
        return realm.objects(SpecDog.self).count
      }
    }

    func refuse() async throws {
      try await realm.asyncWrite {
        realm.create(SpecDog.self, value: ["name": "never"])
        throw Refusal()
      }
    }

    func endItself(commits: Bool) async throws {
      try await realm.asyncWrite {
        realm.create(SpecDog.self, value: ["name": "\(commits)"])
        if commits { try realm.commitWrite() } else { realm.cancelWrite() }
      }
    }

    func work() { otherWork += 1 }

    func names() -> [String] { realm.objects(SpecDog.self).map(\.name) }

    func refresh() async -> Bool { await realm.asyncRefresh() }

    func addNow(_ name: String) throws {
      try realm.write { _ = realm.create(SpecDog.self, value: ["name": name]) }
    }

    func observe() async -> NotificationToken {
      await realm.objects(SpecDog.self).observe(on: self) { _, _ in }
    }

    func read() { _ = realm.objects(SpecDog.self).count }

    /// Holds the writer lock until `body` returns; the actor is free meanwhile.
    func holding(_ body: @Sendable () async throws -> Void) async throws {
      realm.beginWrite()
      try await body()
      realm.cancelWrite()
    }
  }

  @Test func `a write returns its value when it is committed`() async throws {
    let configuration = specConfiguration()
    let (writer, other) = (try await Writer(configuration), try await Writer(configuration))
    #expect(try await writer.add("Ben") == 1)
    #expect(try await other.add("Lita") == 2)
    #expect(await other.names() == ["Ben", "Lita"])
  }

  @Test func `an error undoes the write and is thrown on`() async throws {
    let writer = try await Writer(specConfiguration())
    await #expect(throws: Refusal.self) { try await writer.refuse() }
    #expect(await writer.names() == [])
    #expect(try await writer.add("Ben") == 1)
  }

  @Test func `a block may end its transaction itself`() async throws {
    let writer = try await Writer(specConfiguration())
    try await writer.endItself(commits: false)
    try await writer.endItself(commits: true)
    #expect(await writer.names() == ["true"])
  }

  @Test func `the actor does other work while it waits for its turn`() async throws {
    let configuration = specConfiguration()
    let (writer, other) = (try await Writer(configuration), try await Writer(configuration))
    let write = Task { [other] in
      try await other.holding {
        let waiting = Task { try await writer.add("Ben") }
        for _ in 0..<100 { await writer.work() }
        #expect(await writer.otherWork == 100)
        #expect(await writer.names() == [])
        withExtendedLifetime(waiting) {}
      }
    }
    try await write.value
    #expect(try await writer.add("Lita") <= 2)
  }

  @Test func `a task that is cancelled while it waits does not write`() async throws {
    let configuration = specConfiguration()
    let (writer, other) = (try await Writer(configuration), try await Writer(configuration))
    try await other.holding {
      let waiting = Task { try await writer.add("Ben") }
      await writer.work()
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
    }
    #expect(await writer.names() == [])
    #expect(try await writer.add("Lita") == 1)
  }

  @Test func `many tasks of many actors write one after the other`() async throws {
    let configuration = specConfiguration()
    var writers: [Writer] = []
    for _ in 0..<3 { writers.append(try await Writer(configuration)) }
    try await withThrowingTaskGroup { group in
      for (number, writer) in writers.enumerated() {
        for round in 0..<20 {
          group.addTask {
            if round.isMultiple(of: 5) {
              try await writer.addNow("\(number)/\(round)")
            } else {
              try await writer.add("\(number)/\(round)")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for writer in writers {
      _ = await writer.refresh()
      #expect(await Set(writer.names()).count == 60)
    }
  }

  @Test func `a refresh returns when the newest version is seen`() async throws {
    let configuration = specConfiguration()
    let (writer, other) = (try await Writer(configuration), try await Writer(configuration))
    #expect(await writer.refresh() == false)
    await writer.read()
    #expect(await writer.refresh() == false)
    for number in 0..<20 {
      try await other.add("\(number)")
      _ = await writer.refresh()
      #expect(await writer.names().count == number + 1)
    }
  }

  @Test func `an actor sees each newest version while others commit without pause`() async throws {
    let configuration = specConfiguration()
    let writer = try await Writer(configuration)
    let others = try await [Writer(configuration), Writer(configuration)]
    // Deliveries of older versions are under way when a refresh begins.
    let token = await writer.observe()
    defer { token.invalidate() }
    try await withThrowingTaskGroup { group in
      for other in others {
        group.addTask { while !Task.isCancelled { try await other.add("x") } }
      }
      for _ in 0..<40 {
        try await others[0].add("y")
        let newest = await others[0].names().count
        _ = await writer.refresh()
        #expect(await writer.names().count >= newest)
      }
      group.cancelAll()
      while let result = await group.nextResult() {
        if case .failure(let error) = result, !(error is CancellationError) { throw error }
      }
    }
  }

  @Test @MainActor func `the main actor writes and refreshes`() async throws {
    let configuration = specConfiguration()
    let realm = try await Realm(configuration: configuration)
    try await realm.asyncWrite { _ = realm.create(SpecDog.self, value: ["name": "Ben"]) }
    #expect(realm.objects(SpecDog.self).count == 1)
    try await Writer(configuration).add("Lita")
    _ = await realm.asyncRefresh()
    #expect(realm.objects(SpecDog.self).count == 2)
  }
}
