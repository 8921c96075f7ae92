import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// Kills processes, with real files.
struct ProcessTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  /// Commits in a process that then dies without closing anything.
  private static func commitAndDie(_ path: String, _ durabilities: [Durability]) throws {
    var options = FileStoreOptions.withoutTimers
    options.checkpointAfterRecordCount = 3
    let store = try FileStore(path: path, options: options)
    let model = try StoreModel(store, seed: 21, durabilities: durabilities)
    for _ in 0..<12 { try model.commit() }
    kill(getpid(), SIGKILL)
  }

  private func expected(_ durabilities: [Durability]) throws -> FakeTree.Content {
    let store = try FileStore(path: folder.file("twin"))
    let model = try StoreModel(store, seed: 21, durabilities: durabilities)
    for _ in 0..<12 { try model.commit() }
    return model.content
  }

  private func examine(_ durabilities: [Durability]) throws {
    let content = try expected(durabilities)
    for isReadOnly in [true, false, false] {
      let store = try FileStore(path: path, options: FileStoreOptions(isReadOnly: isReadOnly))
      let reading = try FakeTree.read(store)
      #expect(try store.newestHead().version == 12)
      #expect(reading.content == content)
      #expect(try store.check(reachable: reading.extents) == [])
      if !isReadOnly { try store.beginWrite().abort() }
    }
  }

  @Test func `a killed process loses no full commit`() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      try Self.commitAndDie(path, [.full])
    }
    try examine([.full])
  }

  @Test func `a killed process loses no relaxed commit`() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      try Self.commitAndDie(path, [.relaxed])
    }
    try examine([.relaxed])
  }

  /// With versions of the file, and with some that are nowhere but in the lock file.
  @Test(arguments: [Durability.full, .relaxed])
  func `a file that a killed process left can be compacted`(durability: Durability) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, durability = durability.rawValue as UInt8] in
      let database = try Database(store: FileStore(path: path))
      for index in 0..<8 {
        let transaction = try database.beginWrite()
        try transaction.setValue("\(index)", [1, 2, 3])
        _ = try transaction.commit(durability: Durability(rawValue: durability) ?? .full)
      }
      kill(getpid(), SIGKILL)
    }
    _ = try FileStore.compact(path: path)
    let database = try Database(store: FileStore(path: path))
    #expect(try database.snapshot().names(withPrefix: "").count == 8)
    #expect(try database.verify().findings == [])
    try database.close()
  }
}
