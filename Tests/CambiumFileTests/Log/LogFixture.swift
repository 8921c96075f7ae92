import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import CambiumFile

/// A file whose small relaxed commits lie in memory until a test has them stored.
struct LogFixture {
  private let folder: TemporaryFolder
  var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  func options() -> FileStoreOptions {
    let options = FileStoreOptions.withoutTimers
    return options
  }

  func open(_ options: FileStoreOptions? = nil) throws -> (FileStore, Database) {
    let store = try FileStore(path: path, options: options ?? self.options())
    return (store, try Database(store: store))
  }

  /// The same with a background that runs by hand; what lies in memory is stored 100 ms later.
  func open(_ time: TimeByHand) throws -> (FileStore, Database) {
    var options = FileStoreOptions()
    options.lane = time.lane
    return try open(options)
  }

  /// What the file alone holds, which is what power loss leaves.
  func stored() throws -> DatabaseContent {
    let copy = path + ".copy"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let database = try Database(store: FileStore(path: copy, options: options()))
    defer { try? database.close() }
    return try DatabaseContent(of: database.snapshot())
  }

  func change(
    _ database: Database, _ content: inout DatabaseContent, _ random: inout SeededGenerator,
    _ durability: Durability = .relaxed, count: Int = 1, metadata: [UInt8] = []
  ) throws -> Snapshot {
    let transaction = try database.beginWrite(expecting: durability)
    var changed = content
    for _ in 0..<count { try changed.change(transaction, &random) }
    let snapshot = try transaction.commit(durability: durability, metadata: metadata)
    content = changed
    return snapshot
  }

  /// A database with some rows, closed.
  func load() throws -> DatabaseContent {
    let (_, database) = try open()
    var content = DatabaseContent()
    let transaction = try database.beginWrite()
    try content.fill(0..<100, transaction)
    _ = try transaction.commit()
    try database.close()
    return content
  }

  /// Changes a row or so until a version lies in memory.
  func changeInMemory(
    _ database: Database, _ content: inout DatabaseContent, _ random: inout SeededGenerator
  ) throws -> Snapshot {
    for _ in 0..<100 {
      let snapshot = try change(database, &content, &random)
      if snapshot.head.residence != nil { return snapshot }
    }
    Issue.record("No commit stays in memory.")
    return try database.snapshot()
  }

  /// The file and the shared memory that a process leaves that is killed when its newest version lies in memory.
  func killed() throws -> (
    image: [UInt8], memory: SharedMemory, stored: DatabaseContent, content: DatabaseContent
  ) {
    let device = SimulatedDevice()
    var identity = SeededGenerator(seed: 1)
    try CrashSettings.create(device, using: &identity)
    let memory = SharedMemory()
    let store = try FileStore(path: "simulated", options: simulated(device, memory))
    let database = try Database(store: store)
    var content = DatabaseContent()
    let filling = try database.beginWrite()
    try content.fill(0..<100, filling)
    _ = try filling.commit()
    var random = SeededGenerator(seed: 12)
    _ = try changeInMemory(database, &content, &random)
    try database.sync()
    var stored = content
    var loggedCount = 0
    while loggedCount < 5 {
      if try change(database, &content, &random).head.residence != nil {
        loggedCount += 1
      } else {
        try database.sync()
        (stored, loggedCount) = (content, 0)
      }
    }
    // As it is left: what the store does when it goes is nobody's concern.
    return (device.bytes, Self.copy(of: memory), stored, content)
  }

  /// The same memory once more, without users.
  static func copy(of memory: SharedMemory) -> SharedMemory {
    let copy = SharedMemory()
    copy.put(memory.bytes(0, SharedLayout.Process.first), at: 0)
    copy.put(memory.bytes(SharedLayout.log, SharedLayout.logByteCount), at: SharedLayout.log)
    copy.clearUsers()
    return copy
  }

  func simulated(_ device: SimulatedDevice, _ memory: SharedMemory) -> FileStoreOptions {
    var options = CrashSettings.options(device)
    options.memory = memory
    options.stopTimers()
    return options
  }
}

extension SharedLog {
  /// A record of a file without a codec.
  static func record(
    of version: Version, after stored: Version, metadata: [UInt8], byteLimit: Int,
    _ write: (inout OutputRawSpan) -> Void
  ) -> [UInt8] {
    record(
      of: version, after: stored, behind: 0, sealedBy: nil, metadata: metadata,
      byteLimit: byteLimit, write)
  }

  /// The metadata of a commit and the engine's record, of a file without a codec.
  static func parts(_ bytes: [UInt8]) -> (metadata: [UInt8], record: [UInt8])? {
    parts(bytes, of: 0, behind: 0, sealedBy: nil)
  }
}
