import RealmFileBuilder
import Testing

@testable import CambiumRealmFile

/// A walk ends when it has read more than a sound snapshot can have.
@Suite struct WalkWhiteBoxTests {
  /// Bytes in memory, in small blocks, whose reads are counted.
  private final class Blocks: BlockSource {
    let bytes: [UInt8]
    let blockByteCount: Int
    var readCount = 0
    var byteCount: Int { bytes.count }

    init(_ bytes: [UInt8], blockByteCount: Int) {
      self.bytes = bytes
      self.blockByteCount = blockByteCount
    }

    func block(_ number: Int) -> [UInt8] {
      readCount += 1
      return Array(bytes[(number * blockByteCount)...].prefix(blockByteCount))
    }
  }

  private static func isDamage(_ fault: ReadFault?, _ words: String) -> Bool {
    if case .damage(let what, _)? = fault { what.contains(words) } else { false }
  }

  private static func fault(_ body: () throws(ReadFault) -> Void) -> ReadFault? {
    do throws(ReadFault) { try body() } catch { return error }
    return nil
  }

  @Test func `a node is read until the budget is used up`() throws {
    var builder = FileBuilder()
    let node = Int(builder.integers([1, 2, 3]))
    _ = builder.blob([UInt8](repeating: 0, count: 32))
    let bytes = PlainBytes(Blocks(builder.bytes, blockByteCount: 64))
    let walk = Walk(bytes, logicalByteCount: builder.bytes.count)
    // 96 bytes, of which a node takes 32.
    try #require(builder.bytes.count == 96)
    for _ in 0..<3 { #expect(try walk.node(at: node).integers("numbers") == [1, 2, 3]) }
    let fault = Self.fault { () throws(ReadFault) in _ = try walk.node(at: node) }
    #expect(Self.isDamage(fault, "shared"))
    walk.refund(Walk.Spending(byteCount: 32))
    #expect(try walk.node(at: node).count == 3)
  }

  @Test func `elements without space are limited for each leaf`() throws {
    var builder = FileBuilder()
    let node = Int(builder.node(scheme: 0, width: 0, count: 1 << 24 - 1, payload: []))
    _ = builder.blob([UInt8](repeating: 0, count: 64))
    let walk = Walk(
      PlainBytes(Blocks(builder.bytes, blockByteCount: 64)),
      logicalByteCount: builder.bytes.count)
    for _ in 0..<2 { _ = try walk.node(at: node) }
    let fault = Self.fault { () throws(ReadFault) in _ = try walk.node(at: node) }
    #expect(Self.isDamage(fault, "take no space"))
    walk.beginLeaf()
    _ = try walk.node(at: node)
  }

  @Test func `blocks are kept, and not more than fit`() throws {
    let pattern = (0..<(6 << 20)).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8 ^ $0 >> 16) }
    let blocks = Blocks(pattern, blockByteCount: 64 << 10)
    let bytes = PlainBytes(blocks)
    for position in [0, 65_530, 131_064, 6 << 20 - 16] {
      let count = min(200_000, pattern.count - position)
      let read = try bytes.read(at: position, count: count)
      #expect(read[...] == pattern[position..<position + count])
    }
    let before = blocks.readCount
    _ = try bytes.read(at: 0, count: 200_000)
    #expect(blocks.readCount == before)
    // All 96 blocks do not fit: the first are read again.
    for position in stride(from: 0, to: pattern.count, by: 64 << 10) {
      _ = try bytes.word(at: position)
    }
    let after = blocks.readCount
    _ = try bytes.word(at: 0)
    #expect(blocks.readCount == after + 1)
    #expect(throws: ReadFault.self) { try bytes.read(at: pattern.count - 8, count: 16) }
  }
}
