import Cambium
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

final class SoakItem: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: Int

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A transaction: what it did, and whose it was.
final class SoakEntry: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var worker: String
  @Persisted var changes: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Queues, actors, threads and tasks of two processes that write, cancel, freeze and observe at random.
///
/// Whatever any of them sees has to be what the transactions until then have made, replayed in
/// memory; and no transaction that was reported may be missing.
@Suite struct ContextSoakTests {
  init() { TemporaryFolder.prepareForChildren() }

  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  /// How many steps each worker makes; `make soak` asks for many.
  private static let rounds = number("CAMBIUM_SOAK_ROUNDS") ?? 40
  private static let seed = UInt64(number("CAMBIUM_SOAK_SEED") ?? 1)

  @Test func `what many contexts of two processes see is what transactions have made`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.file("soak.realm")
    let (seed, rounds) = (Self.seed, Self.rounds)
    async let child = #expect(processExitsWith: .success) {
      [path = path as String, seed = seed as UInt64, rounds = rounds as Int] in
      let findings = try await ContextSoak(path, "child", seed + 1000).run(rounds)
      // The text is all that the parent shows of it.
      #expect(findings == [], "seed \(seed): \(findings.joined(separator: "\n"))")
    }
    let findings = try await ContextSoak(path, "parent", seed).run(rounds)
    #expect(findings == [], "seed \(seed)")
    _ = await child
    #expect(try await ContextSoak(path, "afterwards", seed).check() == [], "seed \(seed)")
  }
}

/// The workers of one process.
private final class ContextSoak: Sendable {
  let configuration: Realm.Configuration
  let name: String
  let seed: UInt64
  private let notes = Mutex(Notes())

  private struct Notes {
    /// What was seen after so many transactions.
    var seen: [Int: Set<String>] = [:]
    /// The transactions that were reported, by their workers.
    var committed: [String: Int] = [:]
    var findings: [String] = []
  }

  init(_ path: String, _ name: String, _ seed: UInt64) {
    configuration = Realm.Configuration(
      fileURL: URL(filePath: path), objectTypes: [SoakItem.self, SoakEntry.self])
    (self.name, self.seed) = (name, seed)
  }

  func random(_ worker: Int) -> SeededGenerator {
    SeededGenerator(seed: seed * 100 + UInt64(worker))
  }

  func find(_ text: String) { notes.withLock { $0.findings.append("\(name): \(text)") } }

  /// Notes what a Realm shows.
  func see(_ realm: Realm) {
    let count = realm.objects(SoakEntry.self).count
    let text = Self.text(
      Dictionary(uniqueKeysWithValues: realm.objects(SoakItem.self).map { ($0.id, $0.value) }))
    _ = notes.withLock { $0.seen[count, default: []].insert(text) }
  }

  private static func text(_ items: [Int: Int]) -> String {
    items.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " ")
  }

  /// Makes one to three changes, and an entry that says so.
  func change(_ realm: Realm, _ worker: String, _ random: inout SeededGenerator) {
    var changes: [String] = []
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let id = Int.random(in: 0..<16, using: &random)
      if Int.random(in: 0..<3, using: &random) == 0 {
        if let item = realm.object(ofType: SoakItem.self, forPrimaryKey: id) { realm.delete(item) }
        changes.append("\(id)")
      } else {
        let value = Int.random(in: 0..<100, using: &random)
        realm.create(SoakItem.self, value: ["id": id, "value": value], update: .modified)
        changes.append("\(id)=\(value)")
      }
    }
    let number = realm.objects(SoakEntry.self).count
    realm.create(
      SoakEntry.self,
      value: ["number": number, "worker": worker, "changes": changes.joined(separator: " ")]
        as [String: Any])
  }

  func didCommit(_ worker: String) { notes.withLock { $0.committed[worker, default: 0] += 1 } }

  // MARK: Running

  func run(_ rounds: Int) async throws -> [String] {
    try await withThrowingTaskGroup { group in
      for worker in 0..<2 {
        group.addTask { try await QueueWorker(self, worker).run(rounds) }
        group.addTask { try await ActorWorker(self, 10 + worker).run(rounds) }
        group.addTask { try await self.runThread(20 + worker, rounds) }
        group.addTask { try await self.runDatabase(30 + worker, rounds) }
      }
      try await group.waitForAll()
    }
    return try await check()
  }

  /// Replays the transactions, and compares.
  func check() async throws -> [String] {
    let database = try await RealmDatabase(configuration)
    // In one version: the other process may be writing still.
    let entries = try await database.read { realm in
      self.see(realm)
      return realm.objects(SoakEntry.self).sorted(byKeyPath: "number")
        .map { (number: $0.number, worker: $0.worker, changes: $0.changes) } as [_]
    }
    await database.close()
    var items: [Int: Int] = [:]
    var states = [Self.text(items)]
    var counts: [String: Int] = [:]
    for (place, entry) in entries.enumerated() {
      if entry.number != place { find("entry \(entry.number) is at \(place)") }
      counts[entry.worker, default: 0] += 1
      for change in entry.changes.split(separator: " ") {
        let parts = change.split(separator: "=").compactMap { Int($0) }
        items[parts[0]] = parts.count == 2 ? parts[1] : nil
      }
      states.append(Self.text(items))
    }
    let (seen, committed, findings) = notes.withLock { ($0.seen, $0.committed, $0.findings) }
    var all = findings
    for (count, texts) in seen where count >= states.count || texts != [states[count]] {
      all.append("\(name): after \(count) of \(entries.count) transactions \(texts) was seen")
    }
    for (worker, count) in committed where counts[worker] != count {
      all.append("\(worker) has committed \(count) times, and \(counts[worker] ?? 0) are there")
    }
    return all
  }

  // MARK: Threads

  private func runThread(_ number: Int, _ rounds: Int) async throws {
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      Thread {
        ended.resume(
          with: Result { try self.runHere("\(self.name)-thread-\(number)", number, rounds) })
      }.start()
    }
  }

  private func runHere(_ worker: String, _ number: Int, _ rounds: Int) throws {
    var random = random(number)
    for _ in 0..<rounds {
      try autoreleasepool {
        let realm = try Realm(configuration: configuration, queue: nil)
        see(realm)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          realm.beginWrite()
          change(realm, worker, &random)
          realm.cancelWrite()
        case 1:
          let frozen = realm.freeze()
          realm.refresh()
          see(frozen)
        default:
          try realm.write { change(realm, worker, &random) }
          didCommit(worker)
        }
        see(realm)
      }
    }
  }

  // MARK: Databases

  private func runDatabase(_ number: Int, _ rounds: Int) async throws {
    let worker = "\(name)-database-\(number)"
    let database = try await RealmDatabase(configuration)
    var random = random(number)
    for _ in 0..<rounds {
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1: try await database.read { self.see($0) }
      default:
        let seed = UInt64.random(in: 0 ... .max, using: &random)
        try await database.write { realm in
          var random = SeededGenerator(seed: seed)
          self.change(realm, worker, &random)
        }
        didCommit(worker)
      }
    }
    await database.close()
  }
}

/// Writes from an actor, waiting and not.
private actor ActorWorker {
  private let soak: ContextSoak
  private let worker: String
  private var random: SeededGenerator
  private var token: NotificationToken?

  init(_ soak: ContextSoak, _ number: Int) {
    self.soak = soak
    worker = "\(soak.name)-actor-\(number)"
    random = soak.random(number)
  }

  func run(_ rounds: Int) async throws {
    let realm = try await Realm(configuration: soak.configuration, actor: self)
    for _ in 0..<rounds {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        let soak = soak
        token = await realm.objects(SoakItem.self).observe(on: self) { _, change in
          if case .update(let items, _, _, _) = change, let realm = items.realm { soak.see(realm) }
        }
      case 1: await realm.asyncRefresh()
      case 2:
        try realm.write { soak.change(realm, worker, &random) }
        soak.didCommit(worker)
      case 3:
        do {
          try await realm.asyncWrite {
            soak.change(realm, worker, &random)
            throw CancellationError()
          }
        } catch is CancellationError {}
      default:
        try await realm.asyncWrite { soak.change(realm, worker, &random) }
        soak.didCommit(worker)
      }
      soak.see(realm)
    }
    token = nil
  }
}

/// Writes from a queue: some commits wait for the medium together.
///
/// Unchecked: used on its queue alone.
private final class QueueWorker: @unchecked Sendable {
  private let soak: ContextSoak
  private let worker: String
  private let queue = DispatchQueue(label: "soak")
  private var random: SeededGenerator
  private var realm: Realm?
  private var tokens: [NotificationToken] = []
  private var ended: CheckedContinuation<Void, Never>?

  init(_ soak: ContextSoak, _ number: Int) {
    self.soak = soak
    worker = "\(soak.name)-queue-\(number)"
    random = soak.random(number)
  }

  func run(_ rounds: Int) async throws {
    try queue.sync { realm = try Realm(configuration: soak.configuration, queue: queue) }
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        ended = continuation
        step(rounds)
      }
    }
    queue.sync { (tokens, realm) = ([], nil) }
  }

  private func step(_ rounds: Int) {
    guard rounds > 0, let realm else {
      // Behind the commits whose ends are not told yet.
      if realm?.isPerformingAsynchronousWriteOperations == true {
        return queue.async { [self] in step(0) }
      }
      ended?.resume()
      ended = nil
      return
    }
    soak.see(realm)
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      let items = realm.objects(SoakItem.self).where { $0.value < 50 }.sorted(byKeyPath: "value")
      tokens.append(
        items.observe { [unowned self] change in
          if case .update(let items, _, _, _) = change {
            if Array(items.map(\.value)) != items.map(\.value).sorted() { soak.find("not sorted") }
            if let realm = items.realm { soak.see(realm) }
          }
        })
      if tokens.count > 3 { tokens.removeFirst() }
    case 1: realm.refresh()
    case 2:
      do {
        try realm.write { soak.change(realm, worker, &random) }
        soak.didCommit(worker)
      } catch { soak.find("\(error)") }
    case 3:
      let id = realm.beginAsyncWrite { [self] in
        soak.change(realm, worker, &random)
        realm.cancelWrite()
      }
      if Bool.random(using: &random) { try? realm.cancelAsyncWrite(id) }
    default:
      realm.beginAsyncWrite { [self] in
        soak.change(realm, worker, &random)
        realm.commitAsyncWrite(allowGrouping: Bool.random(using: &random)) { [self] error in
          if let error { soak.find("\(error)") } else { soak.didCommit(worker) }
        }
      }
    }
    queue.async { [self] in step(rounds - 1) }
  }
}
