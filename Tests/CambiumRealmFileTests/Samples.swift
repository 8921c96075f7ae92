import CambiumRealmFile
import Foundation
import Testing

#if canImport(CZstd)
  import CZstd
#endif

/// The files with known contents, each written out once per run.
///
/// Beside each lies what it holds, as JSON. Files whose names end with `zst` are compressed.
enum Samples {
  static let plain = [
    "tiny", "never-written", "no-classes", "scalars", "int-widths", "strings", "max-size",
    "objects-1000", "objects-100000", "collections", "list-depth3", "mixed", "links", "tombstones",
    "primary-keys", "schema-changes", "commits", "commits-earlier", "copy", "copy-opened",
    "compacted", "format-11", "format-20", "format-22", "format-23", "upgraded",
  ]
  static let encrypted = ["encrypted", "encrypted-copy", "encrypted-interrupted"]

  /// Those that this build can read.
  static let all: [String] = {
    #if Crypto
      return plain + encrypted
    #else
      return plain
    #endif
  }()

  /// The key of the encrypted ones.
  static let key = (0..<64).map { UInt8(truncatingIfNeeded: 3 * $0 + 1) }

  private static let source = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("Samples")

  /// Where what was written out lies; it is removed at the end of the process.
  static let folder: URL = {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("realm-file-tests-\(ProcessInfo.processInfo.processIdentifier)")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(at: Samples.folder) }
    return folder
  }()

  private static let lock = NSLock()

  /// The bytes of a file among the samples, such as `tiny.json`.
  static func bytes(_ name: String) throws -> Data {
    let plain = source.appendingPathComponent(name)
    if let data = try? Data(contentsOf: plain) { return data }
    return try decompressed(plain.appendingPathExtension("zst"))
  }

  /// A path of the sample, written out if need be.
  static func path(_ name: String) throws -> String {
    lock.lock()
    defer { lock.unlock() }
    let file = folder.appendingPathComponent("\(name).realm")
    if !FileManager.default.fileExists(atPath: file.path) {
      try bytes("\(name).realm").write(to: file)
    }
    return file.path
  }

  /// The sample, opened.
  static func open(_ name: String) throws -> RealmFile {
    try RealmFile(path: path(name), encryptionKey: encrypted.contains(name) ? key : nil)
  }

  /// A new file with those bytes, removed after `body`.
  @discardableResult
  static func withFile<Result>(
    _ bytes: some Sequence<UInt8>, _ body: (String) throws -> Result
  ) throws -> Result {
    let file = folder.appendingPathComponent("\(UUID().uuidString).realm")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try body(file.path)
  }

  #if canImport(CZstd)
    private struct Broken: Error {}

    private static func decompressed(_ url: URL) throws -> Data {
      let source = try Data(contentsOf: url)
      return try source.withUnsafeBytes { input in
        let count = ZSTD_getFrameContentSize(input.baseAddress, input.count)
        // The two greatest numbers stand for an unknown size and for an error.
        guard count < UInt64.max - 1 else { throw Broken() }
        var output = Data(count: Int(count))
        let result = output.withUnsafeMutableBytes {
          ZSTD_decompress($0.baseAddress, $0.count, input.baseAddress, input.count)
        }
        guard ZSTD_isError(result) == 0, result == Int(count) else { throw Broken() }
        return output
      }
    }
  #else
    private static func decompressed(_ url: URL) throws -> Data {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["zstd", "-dcq", url.path]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0)
      return data
    }
  #endif
}
