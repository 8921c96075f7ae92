import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// What cannot be opened says why, and stays as it was.
struct OpeningErrorTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  private func bytes() throws -> [UInt8] {
    try Array(Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private func makeStore(_ options: FileStoreOptions = FileStoreOptions()) throws {
    let store = try FileStore(path: path, options: options)
    try StoreModel(store, seed: 1).commit()
    try store.close()
  }

  /// Opens the path in both ways and expects `error`, and nothing changed.
  private func expectRefusal(
    _ error: StoreError, _ options: FileStoreOptions = FileStoreOptions(), readOnly: Bool = true
  ) throws {
    let before = try bytes()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    var options = options
    #expect(throws: error) { try FileStore(path: path, options: options) }
    options.isReadOnly = true
    if readOnly { #expect(throws: error) { try FileStore(path: path, options: options) } }
    #expect(try bytes() == before)
    let after = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(after == names)
  }

  /// Replaces bytes of the identity and makes its checksum right again.
  private func patchIdentity(_ offset: Int, _ new: [UInt8]) throws {
    var bytes = try bytes()
    bytes.replaceSubrange(offset..<(offset + new.count), with: new)
    let sum = bytes.withUnsafeBytes { Checksum.hash(UnsafeRawBufferPointer(rebasing: $0[..<504])) }
    withUnsafeBytes(of: sum.littleEndian) { bytes.replaceSubrange(504..<512, with: $0) }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  @Test func `a missing file is not found when it is only read`() throws {
    #expect(throws: StoreError.notFound(path: path)) {
      try FileStore(path: path, options: FileStoreOptions(isReadOnly: true))
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a missing folder is named`() throws {
    let path = folder.file("missing/a.cambium")
    #expect(throws: StoreError.parentNotFound(path: path)) { try FileStore(path: path) }
    try Data("text".utf8).write(to: URL(fileURLWithPath: folder.file("file")))
    let behind = folder.file("file/a.cambium")
    #expect(throws: StoreError.parentNotFound(path: behind)) { try FileStore(path: behind) }
  }

  @Test func `a folder or a device is not a file`() throws {
    #expect(throws: StoreError.notAFile(path: folder.path, found: "a directory")) {
      try FileStore(path: folder.path)
    }
    #expect(throws: StoreError.notAFile(path: "/dev/null", found: "a device")) {
      try FileStore(path: "/dev/null")
    }
  }

  @Test func `a foreign file is never touched`() throws {
    try Data("SQLite format 3\u{0} and more".utf8).write(to: URL(fileURLWithPath: path))
    try expectRefusal(.notAStore(path: path, reason: "it does not begin like one"))
    try Data([0]).write(to: URL(fileURLWithPath: path))
    try expectRefusal(.notAStore(path: path, reason: "it does not begin like one"))
  }

  @Test(arguments: [false, true])
  func `an empty file that may only be read is no store`(readersShare: Bool) throws {
    try Data().write(to: URL(fileURLWithPath: path))
    var options = FileStoreOptions(isReadOnly: true)
    options.readersShare = readersShare
    #expect(throws: StoreError.notAStore(path: path, reason: "it is empty")) {
      try FileStore(path: path, options: options)
    }
  }

  @Test func `a link that leads nowhere is no file`() throws {
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: folder.file("missing.cambium"))
    #expect(
      throws: StoreError.notAFile(path: path, found: "a symbolic link that leads nowhere")
    ) { try FileStore(path: path) }
    #expect(throws: StoreError.notFound(path: path)) {
      try FileStore(path: path, options: FileStoreOptions(isReadOnly: true))
    }
  }

  @Test func `an empty file becomes a store`() throws {
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(throws: StoreError.notAStore(path: path, reason: "it is empty")) {
      try FileStore(path: path, options: FileStoreOptions(isReadOnly: true))
    }
    try makeStore()
    #expect(try bytes().count > 16 << 10)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["a.cambium", "a.cambium.lock"])
  }

  @Test func `an error of the system is told in its words`() {
    let path = folder.file(String(repeating: "x", count: 300))
    let error = #expect(throws: StoreError.self) { try FileStore(path: path) }
    #expect("\(String(describing: error))".contains("File name too long (error "))
  }

  @Test func `a file that was cut short says so`() throws {
    try makeStore()
    let whole = try bytes()
    let cut = Array(whole[..<(16 << 10)])
    try Data(cut).write(to: URL(fileURLWithPath: path))
    let inspection = try FileStore.inspect(path: path)
    #expect(inspection.slots.compactMap(\.?.head.version) == [1, 1])
    let error = #expect(throws: StoreError.self) { try FileStore(path: path) }
    guard case .truncated(let found, let byteCount, let expected) = error else {
      Issue.record("another error: \(String(describing: error))")
      return
    }
    #expect(found == path)
    #expect(byteCount == cut.count)
    #expect(expected > cut.count && expected <= whole.count)
    // A lock file that was there stays, and one that was not does not come.
    let lock = path + ".lock"
    #expect(FileManager.default.fileExists(atPath: lock))
    try FileManager.default.removeItem(atPath: lock)
    #expect(throws: StoreError.self) { try FileStore(path: path) }
    #expect(!FileManager.default.fileExists(atPath: lock))
    try Data(whole[..<100]).write(to: URL(fileURLWithPath: path))
    try expectRefusal(.truncated(path: path, byteCount: 100, expected: 16 << 10))
  }

  @Test func `a file cut at any length is refused by name and not changed, or is whole`() throws {
    try makeStore()
    let whole = try bytes()
    let store = try FileStore(path: path)
    let content = try FakeTree.read(store).content
    try store.close()
    var refusedCount = 0
    for length in Array(1..<1100) + Array(stride(from: 1100, to: whole.count, by: 1021)) {
      try Data(whole[..<length]).write(to: URL(fileURLWithPath: path))
      do throws(StoreError) {
        let store = try FileStore(path: path, options: FileStoreOptions(isReadOnly: true))
        let found = try FakeTree.read(store).content
        #expect(found == content, "\(length) bytes")
        try store.close()
      } catch {
        refusedCount += 1
        #expect(error.description.contains(path), "\(length) bytes: \(error)")
        try expectRefusal(error)
      }
    }
    #expect(refusedCount > 1000)
  }

  @Test func `a future format and unknown features are named`() throws {
    try makeStore()
    try patchIdentity(16, [9, 0, 0, 0])
    try expectRefusal(.unsupportedFormat(path: path, version: 9, supported: 2))
    try patchIdentity(
      16, [1, 0, 0, 0, 64, 0, 0, 0, 0, 16, 0, 0, 0, 64, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0])
    try expectRefusal(.unsupportedFeature(path: path, bits: 4))
  }

  @Test func `unknown features of writers do not keep readers out`() throws {
    try makeStore()
    try patchIdentity(40, [2])
    try expectRefusal(.unsupportedFeature(path: path, bits: 2), readOnly: false)
    let store = try FileStore(path: path, options: FileStoreOptions(isReadOnly: true))
    #expect(try store.newestHead().version == 1)
  }

  @Test func `another kind of store is named`() throws {
    try makeStore()
    try patchIdentity(72, Array("rocksdb".utf8))
    try expectRefusal(.wrongStoreKind(path: path, found: "rocksdb", expected: "file"))
  }

  @Test func `another codec is named`() throws {
    try makeStore(FileStoreOptions(codec: MaskCodec(name: "zstd")))
    try expectRefusal(.codecMismatch(path: path, found: "zstd", expected: "none"))
    try expectRefusal(
      .codecMismatch(path: path, found: "zstd", expected: "aes"),
      FileStoreOptions(codec: MaskCodec(name: "aes")))
    _ = try FileStore(path: path, options: FileStoreOptions(codec: MaskCodec(name: "zstd")))
  }

  @Test(.enabled(if: geteuid() != 0, "the superuser may do everything"))
  func `missing permission is named`() throws {
    try makeStore()
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    #expect(throws: StoreError.permissionDenied(path: path, operation: "open")) {
      try FileStore(path: path)
    }
  }

  @Test func `a reader that cannot share memory needs no lock file and makes none`() throws {
    try makeStore()
    try FileManager.default.removeItem(atPath: path + ".lock")
    var options = FileStoreOptions(isReadOnly: true)
    options.readersShare = false
    let store = try FileStore(path: path, options: options)
    #expect(try store.newestHead().version == 1)
    #expect(!FileManager.default.fileExists(atPath: path + ".lock"))
  }

  @Test func `reading leaves the file as it is`() throws {
    try makeStore()
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let store = try FileStore(path: path, options: FileStoreOptions(isReadOnly: true))
    let pin = try store.pin()
    #expect(pin.head.version == 1)
    withExtendedLifetime(pin) {}
    try store.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }
}
