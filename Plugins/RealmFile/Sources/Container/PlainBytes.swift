/// Where the blocks of a plain file come from: the file itself, or its decrypted pages.
protocol BlockSource: AnyObject {
  /// How many bytes the plain file has.
  var byteCount: Int { get }
  /// How many bytes a block has; the last one may be shorter. A multiple of 8.
  var blockByteCount: Int { get }
  /// Reads a block that exists.
  func block(_ number: Int) throws(ReadFault) -> [UInt8]
}

/// The blocks of a file that is not encrypted.
final class FileBlocks: BlockSource {
  private let file: DiskFile
  // Small enough for lookups, which read one node here and one there.
  let blockByteCount = 16 << 10
  var byteCount: Int { file.byteCount }

  init(_ file: DiskFile) { self.file = file }

  func block(_ number: Int) throws(ReadFault) -> [UInt8] {
    let start = number * blockByteCount
    do throws(RealmFileError) {
      return try file.read(at: start, count: min(blockByteCount, byteCount - start))
    } catch {
      throw .file(error)
    }
  }
}

/// The bytes of the plain file, read by block; the blocks used last are kept.
final class PlainBytes {
  private struct Kept {
    var bytes: [UInt8]
    /// The tick of its last use.
    var used: Int
  }

  private static let keptByteCount = 4 << 20

  let byteCount: Int
  private let source: any BlockSource
  private let blockByteCount: Int
  private let largestKeptCount: Int
  private var kept: [Int: Kept] = [:]
  private var tick = 0
  /// The block used last, which most reads are from.
  private var current: (number: Int, bytes: [UInt8]) = (-1, [])

  init(_ source: any BlockSource) {
    self.source = source
    byteCount = source.byteCount
    blockByteCount = source.blockByteCount
    largestKeptCount = Self.keptByteCount / source.blockByteCount
  }

  /// A copy of `count` bytes at `position`, which the caller knows to lie within the file.
  func read(at position: Int, count: Int) throws(ReadFault) -> [UInt8] {
    var number = position / blockByteCount
    var start = position % blockByteCount
    if start + count <= blockByteCount {
      try select(number)
      guard start + count <= current.bytes.count else { throw outside(position) }
      return Array(current.bytes[start..<start + count])
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      try select(number)
      let end = min(current.bytes.count, start + count - bytes.count)
      guard start < end else { throw outside(position) }
      bytes.append(contentsOf: current.bytes[start..<end])
      number += 1
      start = 0
    }
    return bytes
  }

  /// The 8 bytes at `position`, a multiple of 8, as a little-endian number.
  func word(at position: Int) throws(ReadFault) -> UInt64 {
    try select(position / blockByteCount)
    let start = position % blockByteCount
    let bytes = current.bytes
    guard start + 8 <= bytes.count else { throw outside(position) }
    return bytes.span.littleEndian(UInt64.self, at: start)
  }

  private func outside(_ position: Int) -> ReadFault {
    .damage("what is read lies beyond the end of the file", position: position)
  }

  /// Makes the block the current one.
  private func select(_ number: Int) throws(ReadFault) {
    if number == current.number { return }
    tick += 1
    if let index = kept.index(forKey: number) {
      kept.values[index].used = tick
      current = (number, kept.values[index].bytes)
      return
    }
    let bytes = try source.block(number)
    if kept.count >= largestKeptCount { forgetOldest() }
    kept[number] = Kept(bytes: bytes, used: tick)
    current = (number, bytes)
  }

  /// Forgets the older half, so that it is rarely done.
  private func forgetOldest() {
    let ticks = kept.values.map(\.used).sorted()
    let middle = ticks[ticks.count / 2]
    kept = kept.filter { $0.value.used > middle }
  }
}
