import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import CambiumFile

/// What becomes of a file whose lock file is damaged or gone, left behind or in use.
struct LockFileTests {
  /// What is done to the lock file.
  enum Harm: String, CaseIterable, Sendable, Codable {
    case none, deleted, emptied, cut, signature, words, heads, marks, users, everything

    /// Where garbage goes; nil for what concerns the file as a whole.
    var range: Range<Int>? {
      switch self {
      case .signature: 0..<SharedLayout.signatureByteCount
      case .words: SharedLayout.condition..<SharedLayout.liveHeads
      case .heads: SharedLayout.liveHeads..<SharedLayout.durableMarks
      case .marks: SharedLayout.durableMarks..<SharedLayout.Process.first
      case .users: SharedLayout.Process.first..<SharedLayout.byteCount
      case .everything: 0..<SharedLayout.byteCount
      case .none, .deleted, .emptied, .cut: nil
      }
    }

    func apply(to path: String, _ generator: inout SeededGenerator) throws {
      switch self {
      case .none: return
      case .deleted: return try FileManager.default.removeItem(atPath: path)
      case .emptied, .cut:
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: self == .cut ? 100 : 0)
        return try file.close()
      default: break
      }
      guard let range else { return }
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      try file.seek(toOffset: UInt64(range.lowerBound))
      var garbage: [UInt8] = []
      while garbage.count < range.count {
        // Words of all kinds: zeros, ones, small and arbitrary numbers.
        let word: UInt64 =
          switch Int.random(in: 0..<4, using: &generator) {
          case 0: 0
          case 1: .max
          case 2: .random(in: 0..<9, using: &generator)
          default: generator.next()
          }
        withUnsafeBytes(of: word.littleEndian) { garbage += $0 }
      }
      try file.write(contentsOf: Data(garbage.prefix(range.count)))
      try file.close()
    }
  }

  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  @discardableResult
  private static func commit(
    _ store: FileStore, seed: UInt64, _ durability: Durability = .full
  ) throws(StoreError) -> Version {
    try store.commitChanges(20, seed: seed, durability).version
  }

  /// Reads everything, proves the books and writes; the version that was found.
  private static func examine(_ path: String) throws -> Version {
    let store = try FileStore(path: path)
    let head = try store.newestHead()
    let reading = try FakeTree.read(store)
    try #require(try store.check(reachable: reading.extents) == [])
    try #require(try commit(store, seed: 99) == head.version + 1)
    try store.close()
    return head.version
  }

  @Test(arguments: Harm.allCases)
  func `a damaged lock file that a killed process left costs no durable version`(
    harm: Harm
  ) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try FileStore(path: path, options: .withoutTimers)
      for seed in 1...5 as ClosedRange<UInt64> { try Self.commit(store, seed: seed) }
      try Self.commit(store, seed: 6, .relaxed)
      kill(getpid(), SIGKILL)
    }
    var generator = SeededGenerator(seed: 1)
    try harm.apply(to: path + ".lock", &generator)
    let version = try Self.examine(path)
    #expect(version == 6 || harm != .none && version == 5)
  }

  @Test func `a lock file of another boot is not believed`() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try FileStore(path: path, options: .withoutTimers)
      for seed in 1...5 as ClosedRange<UInt64> { try Self.commit(store, seed: seed) }
      try Self.commit(store, seed: 6, .relaxed)
      kill(getpid(), SIGKILL)
    }
    // What the system had not stored is gone after a boot; the lock file may speak of it still.
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path + ".lock"))
    try file.seek(toOffset: UInt64(SharedLayout.boot))
    try file.write(contentsOf: Data(SharedMemory.currentBoot().map { ~$0 }))
    try file.close()
    #expect(try Self.examine(path) == 5)
  }

  @Test func `a folder in the place of the lock file is an error that names it`() throws {
    try FileStore(path: path).close()
    try FileManager.default.removeItem(atPath: path + ".lock")
    try FileManager.default.createDirectory(
      atPath: path + ".lock", withIntermediateDirectories: false)
    let error = #expect(throws: StoreError.self) { try FileStore(path: path) }
    #expect("\(String(describing: error))".contains(path + ".lock"))
    try FileManager.default.removeItem(atPath: path + ".lock")
    #expect(try Self.examine(path) == 0)
  }

  @Test func `what has the name of a lock file and is none stays as it is`() throws {
    // A database whose name is that of another one's lock file.
    let (other, lock) = (path, path + ".lock")
    let database = try FileStore(path: lock)
    try Self.commit(database, seed: 1)
    try database.close()
    // Neither its length makes a lock file of it.
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: lock))
    try file.truncate(atOffset: UInt64(SharedLayout.mappedByteCount))
    try file.close()
    for content in [
      try Data(contentsOf: URL(fileURLWithPath: lock)), Data(repeating: 0x61, count: 100_000),
    ] {
      try content.write(to: URL(fileURLWithPath: lock))
      let error = #expect(throws: StoreError.self) { try FileStore(path: other) }
      #expect("\(String(describing: error))".contains(lock))
      #expect(try Data(contentsOf: URL(fileURLWithPath: lock)) == content)
    }
  }

  @Test func `what a creation is called and is none is not followed`() throws {
    let notes = folder.file("notes")
    try Data("notes".utf8).write(to: URL(fileURLWithPath: notes))
    try FileManager.default.createSymbolicLink(
      atPath: path + ".creating", withDestinationPath: notes)
    try FileStore(path: path).close()
    #expect(try String(contentsOfFile: notes, encoding: .utf8) == "notes")
    #expect(try Self.examine(path) == 0)
  }

  /// Cutting it short while it is mapped stops its users, as it is with the file itself.
  @Test(arguments: [Harm.deleted, .signature, .words, .heads, .marks, .users, .everything])
  func `a lock file that is damaged in use stops nobody and costs nothing durable`(
    harm: Harm
  ) async throws {
    await #expect(processExitsWith: .success) {
      [path = path as String, harm = harm as Harm] in
      // Whoever waits for ever fails.
      Killing.after(microseconds: 900_000_000)
      for seed in 0..<3 as Range<UInt64> {
        let path = "\(path)-\(seed)"
        let least = try Self.useWhileHarmed(path, harm, seed: seed)
        let version = try Self.examine(path)
        #expect(version >= least)
      }
    }
  }

  /// Two users of one file go on while the lock file is damaged; what must be there afterwards.
  private static func useWhileHarmed(
    _ path: String, _ harm: Harm, seed: UInt64
  ) throws -> Version {
    var generator = SeededGenerator(seed: seed)
    let stores = [try FileStore(path: path), try FileStore(path: path)]
    for round in 0..<6 { try commit(stores[round % 2], seed: UInt64(round)) }
    var pins = [try stores[0].pin(), try stores[1].pin()]
    try harm.apply(to: path + ".lock", &generator)
    for round in 0..<12 {
      let store = stores[round % 2]
      // Errors are fine; what is acknowledged from now on is not counted on.
      do throws(StoreError) {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: pins.append(try store.pin())
        case 1: try store.sync()
        case 2: _ = try store.statistics()
        case 3: _ = store.waitForCommit(after: 3, timeoutNanoseconds: 1000)
        default:
          let durability = Durability.allCases.randomElement(using: &generator) ?? .full
          try commit(store, seed: generator.next(), durability)
        }
      } catch {
        _ = error.description
      }
    }
    do throws(StoreError) { _ = try FileStore.inspect(path: path) } catch { _ = error.description }
    // Who is refused has waited for two seconds.
    if seed == 0, let third = try? FileStore(path: path) { try? third.close() }
    pins = []
    for store in stores { try? store.close() }
    return 6
  }
}
