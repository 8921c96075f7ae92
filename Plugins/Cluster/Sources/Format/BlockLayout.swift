import CambiumCore

/// How the address space lies in blocks, each of which is an object.
///
/// A page that crosses the end of a block lies in each block that it reaches.
struct BlockLayout: Hashable, Sendable {
  /// How many units a block has.
  let unitCount: UInt64

  /// A piece of an extent that lies in one block.
  struct Part: Hashable, Sendable {
    /// The block's number.
    var block: UInt64
    /// Where the part begins in the block, in units.
    var offset: UInt64
    /// How many units it has.
    var unitCount: UInt64

    /// Where it begins in the block, in bytes.
    var byteOffset: Int { Int(offset) * Extent.unitByteCount }
    /// How many bytes it has.
    var byteCount: Int { Int(unitCount) * Extent.unitByteCount }
  }

  /// The block in which the unit at `address` lies.
  func block(of address: UInt64) -> UInt64 { address / unitCount }

  /// The first address at or behind `address` at which a block begins.
  func roundUp(_ address: UInt64) -> UInt64 {
    (address + unitCount - 1) / unitCount * unitCount
  }

  /// Calls `body` with the parts of an extent, in the order of their addresses.
  func forEachPart(of extent: Extent, _ body: (Part) -> Void) {
    var address = extent.address
    while address < extent.end {
      let offset = address % unitCount
      let count = min(unitCount - offset, extent.end - address)
      body(Part(block: address / unitCount, offset: offset, unitCount: count))
      address += count
    }
  }

  /// The parts of an extent, in the order of their addresses.
  func parts(of extent: Extent) -> [Part] {
    var parts: [Part] = []
    forEachPart(of: extent) { parts.append($0) }
    return parts
  }
}
