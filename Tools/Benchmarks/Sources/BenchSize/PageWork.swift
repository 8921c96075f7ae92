import CambiumCore
import CambiumFile

/// Numbers that look random and are the same in each run.
struct RandomNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// SplitMix64 (Steele, Lea, Flood 2014).
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }
}

/// Work on the pages of a store, without trees.
enum PageWork {
  /// Makes a store take `byteCount` bytes of pages that are never written; their extents.
  static func fill(_ store: FileStore, byteCount: Int) throws -> [Extent] {
    let pageByteCount = 65_535 * Extent.unitByteCount
    var extents: [Extent] = []
    while extents.count * pageByteCount < byteCount {
      let writer = try store.beginWrite()
      for _ in 0..<min(4_096, byteCount / pageByteCount + 1 - extents.count) {
        extents.append(try writer.allocate(byteCount: pageByteCount))
      }
      _ = try writer.publish(root: .empty(.key), durability: .relaxed, metadata: [])
    }
    try store.sync()
    return extents
  }

  /// Names a page for whoever gives it up.
  static func reference(_ extent: Extent, born version: Version) -> PageReference {
    PageReference(
      checksum: 0, location: extent.address << 16 | extent.unitCount, origin: version << 16 | 1)
  }
}
