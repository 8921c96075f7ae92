import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// What compaction, and making files at all, leave to others.
struct CompactionTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  private func rights(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func restrict(_ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  private func fill() throws {
    let database = try Database(store: FileStore(path: path))
    let transaction = try database.beginWrite()
    try transaction.setValue("a", [1, 2, 3])
    _ = try transaction.commit()
    try database.close()
  }

  @Test func `a file is compacted by one at a time, whose draft nobody touches`() throws {
    try fill()
    // What a killed one has left.
    try Data("half".utf8).write(to: URL(fileURLWithPath: path + ".compacting"))
    func expectRefusal() {
      #expect(throws: StoreError.inUse(path: path, holder: "somebody who compacts it")) {
        try FileStore.compact(path: path)
      }
    }
    var wasDraftThere = false
    _ = try FileStore.compact(
      path: path,
      progress: { _ in
        guard FileManager.default.fileExists(atPath: path + ".compacting.lock") else { return }
        expectRefusal()
        wasDraftThere = FileManager.default.fileExists(atPath: path + ".compacting")
      },
      recoding: { database throws(StoreError) in
        expectRefusal()
        return nil
      })
    #expect(wasDraftThere)
    let database = try Database(store: FileStore(path: path))
    #expect(try database.snapshot().value("a") == [1, 2, 3])
    try database.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.allSatisfy { !$0.contains("compacting") })
  }

  @Test func `an output in a folder that is missing is named`() throws {
    try fill()
    let output = folder.file("missing/b.cambium")
    #expect(throws: StoreError.parentNotFound(path: output)) {
      try FileStore.compact(path: path, output: output)
    }
  }

  @Test func `an output that has come meanwhile stays`() throws {
    try fill()
    let output = folder.file("b.cambium")
    #expect(throws: StoreError.self) {
      try FileStore.compact(
        path: path, output: output,
        recoding: { database throws(StoreError) in
          #expect(!FileManager.default.fileExists(atPath: output))
          _ = FileManager.default.createFile(atPath: output, contents: Data("precious".utf8))
          return nil
        })
    }
    #expect(FileManager.default.contents(atPath: output) == Data("precious".utf8))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.allSatisfy { !$0.contains("compacting") })
  }

  @Test func `who may read a file stays the same when it is made, compacted or shared`() throws {
    #expect(FileManager.default.createFile(atPath: path, contents: Data()))
    try restrict(path)
    try fill()
    #expect(try rights(path) == 0o600)
    _ = try FileStore.compact(path: path)
    #expect(try rights(path) == 0o600)
    _ = try FileStore.compact(path: path, output: folder.file("b.cambium"))
    #expect(try rights(folder.file("b.cambium")) == 0o600)
    try fill()
    #expect(try rights(path + ".lock") == 0o600)
  }

  @Test func `what a program prints never ends in a file`() async throws {
    await #expect(processExitsWith: .success) { [path = path as String] in
      for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { close(stream) }
      let store = try FileStore(path: path)
      _ = try store.beginWrite().publish(root: .empty(.key), durability: .full, metadata: [])
      for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
        guard write(stream, "text", 4) == -1 else { exit(3) }
      }
      try store.close()
    }
    #expect(try FileStore(path: path).newestHead().version == 1)
  }
}
