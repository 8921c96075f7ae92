import CambiumCore

/// A subtree of the free map as it is stored: where its page lies, and what that says of free room.
package struct FreeMapPart: Hashable, Sendable, BitwiseCopyable {
  /// XXH64 of the page.
  package var checksum: UInt64
  /// Where the page lies, in units of 64 bytes; 0 when nothing is in use in this part.
  package var address: UInt64
  /// No longer run of free blocks begins in any leaf of this part; ``anyLength`` for any length.
  package var longest: Int

  package init(checksum: UInt64, address: UInt64, longest: Int) {
    self.checksum = checksum
    self.address = address
    self.longest = longest
  }

  /// Where this stands, a run may have any length.
  package static let anyLength = 512
  /// A part in which nothing is in use.
  package static let empty = FreeMapPart(checksum: 0, address: 0, longest: anyLength)

  /// Whether nothing is in use in this part.
  package var isEmpty: Bool { address == 0 }
}

/// Reads the pages of a free map.
package protocol FreeMapSource: Sendable {
  /// The counts of a leaf, one byte per block.
  ///
  /// Throws `StoreError.damaged(_:)` unless the page is whole, and no count larger than a block.
  func counts(of leaf: FreeMapPart) throws(StoreError) -> [UInt8]
  /// The children of a branch of that level; level 1 leads to leaves.
  func children(of branch: FreeMapPart, level: Int) throws(StoreError) -> [FreeMapPart]
}

/// A page of the free map.
package enum FreeMapPage {
  /// One count per block.
  case leaf([UInt8])
  /// The parts below it.
  case branch([FreeMapPart])

  /// Whether nothing is in use there.
  var isEmpty: Bool {
    switch self {
    case .leaf(let counts): counts.allSatisfy { $0 == 0 }
    case .branch(let children): children.allSatisfy(\.isEmpty)
    }
  }
}
