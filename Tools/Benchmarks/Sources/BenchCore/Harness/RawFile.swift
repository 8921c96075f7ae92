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
  private let block: UnsafeMutableRawPointer
  private let blockByteCount: Int

  /// Creates the file, or throws when that fails.
  init(creating path: String, blockByteCount: Int) throws {
    self.path = path
    self.blockByteCount = blockByteCount
    descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemFailure(call: "open", path: path, code: errno) }
    block = .allocate(byteCount: blockByteCount, alignment: 4096)
    block.initializeMemory(as: UInt8.self, repeating: 0xA5, count: blockByteCount)
  }

  deinit {
    close(descriptor)
    block.deallocate()
  }

  /// Writes one block at the index `index`.
  func write(blockAt index: Int) throws {
    let written = pwrite(descriptor, block, blockByteCount, off_t(index * blockByteCount))
    guard written == blockByteCount else {
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
