import CambiumCore
import CambiumMemory
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// Several processes on one file, some of which are killed.
///
/// Each commit changes one ring of keys so that its sum stays the same; whoever reads a version in
/// which the sum differs has seen half a commit.
struct SharedProcessTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  @Test func `writers and readers of four processes keep the ring whole`() async throws {
    try Ring(Database(store: FileStore(path: path))).make()
    await withTaskGroup(of: Void.self) { [path = path as String] group in
      for seed in 1...4 as ClosedRange<UInt64> {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, seed = seed as UInt64] in
            try Ring.work(path, seed: seed, count: 40)
          }
        }
      }
    }
    let database = try Database(store: FileStore(path: path))
    try Ring(database).check()
    #expect(try database.snapshot().version == 161)
    #expect(try database.verify().findings == [])
  }

  /// With somebody who stays, and without, so that who comes next recovers alone.
  @Test(arguments: [true, false])
  func `processes that are killed at random moments lose and tear nothing`(
    somebodyStays: Bool
  ) async throws {
    try Ring(Database(store: FileStore(path: path))).make()
    var watcher = try Database(store: FileStore(path: path))
    var generator = SeededGenerator(seed: 4711)
    for round in 0..<5 as Range<UInt64> {
      if !somebodyStays { try watcher.close() }
      let delays = (0..<3).map { _ in UInt32.random(in: 1000...60_000, using: &generator) }
      await withTaskGroup(of: Void.self) { [path = path as String] group in
        for (index, delay) in delays.enumerated() {
          group.addTask {
            await #expect(processExitsWith: .signal(SIGKILL)) {
              [
                path = path as String, seed = round * 10 + UInt64(index) as UInt64,
                delay = delay as UInt32, reads = (index == 2) as Bool
              ] in
              Killing.after(microseconds: delay)
              if reads { try Ring.watch(path, seed: seed) }
              try Ring.work(path, seed: seed, count: .max)
            }
          }
        }
      }
      if !somebodyStays { watcher = try Database(store: FileStore(path: path)) }
      try Ring(watcher).check()
      try Ring(watcher).turn(&generator)
      #expect(try watcher.verify().findings == [])
    }
    try watcher.close()
    let reopened = try Database(store: FileStore(path: path))
    try Ring(reopened).check()
    #expect(try reopened.verify().findings == [])
  }

  /// Bounded by the number of commits: no clock decides, and nobody waits for ever.
  @Test func `no process starves while others commit without pause`() async throws {
    let database = try Database(store: FileStore(path: path))
    await withTaskGroup(of: Void.self) { [path = path as String] group in
      for index in 0..<4 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, index = index as Int] in
            try Contest.run(path, index: index, of: 4)
          }
        }
      }
    }
    #expect(try Contest.counts(database.snapshot()).allSatisfy { $0 >= Contest.goal })
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test func `the pins of a killed process are dropped by who goes on writing`() async throws {
    try Ring(Database(store: FileStore(path: path))).make()
    let store = try FileStore(path: path)
    let database = try Database(store: store)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let pin = try FileStore(path: path).pin()
      withExtendedLifetime(pin) { _ = kill(getpid(), SIGKILL) }
    }
    #expect(try store.statistics().pinnedVersions == [1])
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<200 { try Ring(database).turn(&generator) }
    #expect(try store.statistics().pinnedVersions.first != 1)
  }

  @Test func `versions that a killed process held do not count against the limit of active ones`()
    async throws
  {
    let ring = try Ring(Database(store: FileStore(path: path)))
    try ring.make()
    var options = DatabaseOptions()
    options.maximumNumberOfActiveVersions = 3
    let database = try Database(store: FileStore(path: path), options: options)
    var generator = SeededGenerator(seed: 5)
    try Ring(database).turn(&generator)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let held = try Database(store: FileStore(path: path))
      var snapshots: [Snapshot] = []
      var generator = SeededGenerator(seed: 6)
      for _ in 0..<6 {
        snapshots.append(try held.snapshot())
        try Ring(held).turn(&generator)
      }
      withExtendedLifetime(snapshots) { _ = kill(getpid(), SIGKILL) }
    }
    try database.beginWrite().rollback()
  }

  @Test func `a stopped writer holds up writers and no reader`() async throws {
    try Ring(Database(store: FileStore(path: path))).make()
    let database = try Database(store: FileStore(path: path))
    let started = folder.file("started")
    let ended = folder.file("ended")
    async let stopped: Void = {
      await #expect(processExitsWith: .success) {
        [path = path as String, started = started as String, ended = ended as String] in
        let store = try FileStore(path: path)
        let writer = try store.beginWrite()
        try Data("\(getpid())".utf8).write(to: URL(fileURLWithPath: started), options: .atomic)
        while !FileManager.default.fileExists(atPath: ended) { usleep(1000) }
        writer.abort()
        try store.close()
      }
    }()
    var number: pid_t?
    while number == nil {
      number = (try? String(contentsOfFile: started, encoding: .utf8)).flatMap { pid_t($0) }
      try await Task.sleep(for: .milliseconds(1))
    }
    let child = try #require(number)
    // Sent from here, both of them: so neither can overtake the other.
    kill(child, SIGSTOP)
    try Ring(database).check()
    let hasWritten = Mutex(false)
    Thread {
      var generator = SeededGenerator(seed: 6)
      try? Ring(database).turn(&generator)
      hasWritten.withLock { $0 = true }
    }.start()
    try await Task.sleep(for: .milliseconds(20))
    #expect(hasWritten.withLock { !$0 })
    try Ring(database).check()
    try Data().write(to: URL(fileURLWithPath: ended))
    kill(child, SIGCONT)
    await stopped
    while hasWritten.withLock({ !$0 }) { try await Task.sleep(for: .milliseconds(1)) }
    try Ring(database).check()
    #expect(try database.snapshot().version == 2)
  }

  /// What of a recovery reaches the others before who writes it dies.
  enum Said: Int, CaseIterable { case nothing, whatIsDurable, theEpochToo }
  /// What was recovered, and who writes next.
  struct Situation: Sendable {
    var isRelaxed: Bool
    var isNewcomer: Bool
    static let all = [true, false].flatMap { isRelaxed in
      [true, false].map { Situation(isRelaxed: isRelaxed, isNewcomer: $0) }
    }
  }

  @Test(arguments: Said.allCases, Situation.all)
  func `a process that dies while it settles what was recovered stops nobody`(
    said: Said, situation: Situation
  ) async throws {
    try Ring(Database(store: FileStore(path: path))).make()
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, isRelaxed = situation.isRelaxed as Bool] in
      let database = try Database(store: FileStore(path: path, options: .withoutTimers))
      for index in 0..<3 as Range<UInt8> {
        let transaction = try database.beginWrite()
        try transaction.setValue("last", [index])
        _ = try transaction.commit(durability: isRelaxed ? .relaxed : .full)
      }
      kill(getpid(), SIGKILL)
    }
    // Whoever opens the file first recovers it, and writes nothing.
    let first = try FileStore(path: path)
    #expect(first.memory.condition == .recovered)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, said = said.rawValue as Int] in
      let store = try FileStore(path: path)
      let memory = store.memory
      let mark = memory.bytes(SharedLayout.durable, 8)
      let marks = memory.bytes(SharedLayout.durableMarks, 2 * SharedLayout.durableMarkByteCount)
      let live = memory.bytes(SharedLayout.live, 8)
      let heads = memory.bytes(SharedLayout.liveHeads, 2 * FileLayout.sectorByteCount)
      let condition = memory.condition
      try store.beginWrite().abort()
      memory.condition = condition
      if said < Said.theEpochToo.rawValue {
        memory.put(heads, at: SharedLayout.liveHeads)
        memory.put(live, at: SharedLayout.live)
      }
      if said < Said.whatIsDurable.rawValue {
        memory.put(marks, at: SharedLayout.durableMarks)
        memory.put(mark, at: SharedLayout.durable)
      }
      kill(getpid(), SIGKILL)
    }
    let store = situation.isNewcomer ? try FileStore(path: path) : first
    let database = try Database(store: store)
    #expect(try database.snapshot().value("last") == [2])
    var generator = SeededGenerator(seed: 1)
    try Ring(database).turn(&generator)
    try Ring(database).check()
    #expect(store.memory.condition == .clean)
    #expect(try database.verify().findings == [])
    try database.close()
    try first.close()
    let reopened = try Database(store: FileStore(path: path))
    try Ring(reopened).check()
    #expect(try reopened.snapshot().value("last") == [2])
  }

  @Test func `a store that was opened before a fork is refused in the child`() async throws {
    let child = folder.file("child.cambium")
    await #expect(processExitsWith: .success) { [child = child as String] in
      let store = try FileStore(path: child)
      let writer = try store.beginWrite()
      #expect(ForkedChild.refuses(store, path: child))
      // The parent's turn is its own still.
      writer.abort()
      try store.close()
    }
  }

  @Test(arguments: [false, true])
  func `a database that was opened before a fork is refused in the child, whatever threads did`(
    isFile: Bool
  ) async throws {
    let child = folder.file("child.cambium")
    await #expect(processExitsWith: .success) {
      [child = child as String, isFile = isFile as Bool] in
      let store: any PageStore = isFile ? try FileStore(path: child) : MemoryStore(name: child)
      let database = try Database(store: store)
      let ended = Atomic(false)
      // Within every call it holds a lock for a moment.
      Thread {
        while !ended.load(ordering: .relaxed) { _ = try? database.snapshot() }
      }.start()
      for _ in 0..<40 {
        let status = ForkedChild.status {
          do throws(StoreError) {
            _ = try database.snapshot()
            return 1
          } catch {
            guard error == .forked(path: child) else { return 2 }
          }
          guard (try? database.beginWrite()) == nil else { return 3 }
          return (try? database.close()) == nil ? 4 : 0
        }
        #expect(status == 0)
      }
      ended.store(true, ordering: .relaxed)
      try database.close()
    }
  }
}
