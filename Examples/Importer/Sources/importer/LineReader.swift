import Foundation

/// The lines of a file, one after another; only a part of the file is in memory.
struct LineReader: Sequence, IteratorProtocol {
  private let handle: FileHandle
  private var bytes: [UInt8] = []
  private var position = 0

  private static let portionByteCount = 1 << 16

  init(_ file: URL) throws { handle = try FileHandle(forReadingFrom: file) }

  /// The next line, without its end; nil at the end of the file.
  mutating func next() -> String? {
    var end = bytes[position...].firstIndex(of: UInt8(ascii: "\n"))
    while end == nil {
      let more = handle.readData(ofLength: Self.portionByteCount)
      if more.isEmpty { break }
      bytes = Array(bytes[position...]) + more
      position = 0
      end = bytes.firstIndex(of: UInt8(ascii: "\n"))
    }
    guard end != nil || position < bytes.count else { return nil }
    let line = String(decoding: bytes[position..<(end ?? bytes.count)], as: UTF8.self)
    position = end.map { $0 + 1 } ?? bytes.count
    return line
  }
}
