import CambiumCore

/// A valid file, and where in it checksums of its own bytes stand.
///
/// Changed bytes alone would never get past the checksums. Put right from the bottom up, they lead
/// into every check behind.
struct SealedImage: Sendable {
  /// A checksum somewhere in the file, of a run of its bytes.
  private struct Seal {
    var place: Int
    var covered: Range<Int>
  }

  let bytes: [UInt8]
  /// Those that cover nothing with a checksum in it come first.
  private let seals: [Seal]
  private static let sectors = [0, 4096, 8192]
  private static let sectorByteCount = 512

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var found: [Seal] = []
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return }
      for place in 0..<max(0, bytes.count - 24) {
        // A reference has its checksum first, an entry of a record behind the location.
        for (location, checksum) in [(place + 8, place), (place, place + 8)] {
          let word = UInt64(
            littleEndian: base.loadUnaligned(fromByteOffset: location, as: UInt64.self))
          let start = Int(truncatingIfNeeded: (word >> 16) &* 64)
          let count = Int(word & 0xffff) * 64
          guard count > 0, start >= 16_384, start <= bytes.count - count else { continue }
          let stored = base.loadUnaligned(fromByteOffset: checksum, as: UInt64.self)
          let covered = UnsafeRawBufferPointer(start: base + start, count: count)
          if Checksum.hash(Span(_unsafeBytes: covered)) == UInt64(littleEndian: stored) {
            found.append(Seal(place: checksum, covered: start..<start + count))
          }
        }
      }
    }
    found += Self.sectors.map { sector in
      Seal(
        place: sector + Self.sectorByteCount - 8,
        covered: sector..<sector + Self.sectorByteCount - 8)
    }
    seals = Self.ordered(found)
  }

  private static func ordered(_ found: [Seal]) -> [Seal] {
    var ordered: [Seal] = []
    var waiting = found
    while !waiting.isEmpty {
      let ready = waiting.filter { seal in
        !waiting.contains { seal.covered.contains($0.place) }
      }
      // References cannot lead in circles; a coincidence that looks like one is left out.
      guard !ready.isEmpty else { break }
      ordered += ready
      let places = Set(ready.map(\.place))
      waiting.removeAll { places.contains($0.place) }
    }
    return ordered
  }

  /// The bytes that have a checksum, sectors left out, each run once.
  var pages: [[UInt8]] {
    Set(seals.map(\.covered)).filter { $0.lowerBound > 16_383 }
      .sorted { $0.lowerBound < $1.lowerBound }.map { Array(bytes[$0]) }
  }

  /// Puts the checksums in `changed`, a changed copy of the bytes, right.
  func seal(_ changed: inout [UInt8]) {
    let count = changed.count
    changed.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress else { return }
      for seal in seals where seal.covered.upperBound <= count && seal.place + 8 <= count {
        let covered = UnsafeRawBufferPointer(
          start: base + seal.covered.lowerBound, count: seal.covered.count)
        let sum = Checksum.hash(Span(_unsafeBytes: covered))
        base.storeBytes(of: sum.littleEndian, toByteOffset: seal.place, as: UInt64.self)
      }
    }
  }
}
