#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A system call that failed.
struct SystemFailure: Error, CustomStringConvertible {
  var call: String
  var path: String
  var code: Int32
  var description: String { "\(call) \(path): \(String(cString: strerror(code)))" }
}

/// A file written block by block, for the floor and for warming the disk.
final class RawFile {
  private let path: String
  private let descriptor: Int32
  private let blocks: UnsafeMutableRawPointer
  private let blockByteCount: Int
  /// How many blocks one write can have.
  private static let longestRun = 8

  /// Creates the file, or throws when that fails.
  init(creating path: String, blockByteCount: Int) throws {
    self.path = path
    self.blockByteCount = blockByteCount
    descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemFailure(call: "open", path: path, code: errno) }
    let byteCount = blockByteCount * Self.longestRun
    blocks = .allocate(byteCount: byteCount, alignment: 4096)
    blocks.initializeMemory(as: UInt8.self, repeating: 0xA5, count: byteCount)
  }

  deinit {
    close(descriptor)
    blocks.deallocate()
  }

  /// Writes one block, or a few together, at the index `index`.
  func write(blockAt index: Int, count: Int = 1) throws {
    let byteCount = blockByteCount * min(count, Self.longestRun)
    let written = pwrite(descriptor, blocks, byteCount, off_t(index * blockByteCount))
    guard written == byteCount else {
      throw SystemFailure(call: "pwrite", path: path, code: errno)
    }
  }

  /// Returns when everything written is on the medium.
  func synchronize() throws {
    #if os(Linux)
      let result = fdatasync(descriptor)
    #else
      let result = fcntl(descriptor, F_FULLFSYNC)
    #endif
    guard result == 0 else { throw SystemFailure(call: "fdatasync", path: path, code: errno) }
  }

  /// Writes and deletes a large file.
  ///
  /// Memory and disk blocks that the machine never touched are slow the first time; without this,
  /// whoever runs first would pay.
  static func warmUp(in folder: String, byteCount: Int) throws {
    let path = folder + "/warm-up"
    defer { unlink(path) }
    let file = try RawFile(creating: path, blockByteCount: 1 << 20)
    for index in 0..<(byteCount >> 20) { try file.write(blockAt: index) }
    try file.synchronize()
  }
}
