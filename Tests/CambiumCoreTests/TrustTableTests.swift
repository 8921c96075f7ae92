import Testing

@testable import CambiumCore

@Suite struct TrustTableTests {
  private let reference = PageReference(
    checksum: 0x1234_5678_9ABC_DEF0, extent: Extent(address: 4096, unitCount: 2), kind: .keyLeaf,
    born: 7)

  @Test func aPageIsTrustedAfterItWasChecked() {
    let table = TrustTable(bitCount: 8)
    #expect(!table.contains(reference))
    table.insert(reference)
    #expect(table.contains(reference))
  }

  @Test func aReferenceThatDiffersInAnyBitIsNotTrusted() {
    let table = TrustTable(bitCount: 8)
    table.insert(reference)
    for bit in 0..<64 {
      var other = reference
      other.checksum ^= 1 << bit
      #expect(!table.contains(other), "bit \(bit) of the checksum")
      other = reference
      other.location ^= 1 << bit
      #expect(!table.contains(other), "bit \(bit) of the location")
      other = reference
      other.origin ^= 1 << bit
      #expect(!table.contains(other), "bit \(bit) of the origin")
    }
  }

  @Test func whatIsAlikeInOneTableIsNotInAnother() {
    // Two references of which one table says the same, found with that table's own tags: who makes a
    // file may do the same with any table of their own.
    let (known, unknown) = (TrustTable(bitCount: 8), TrustTable(bitCount: 8))
    #expect(known.tag(reference) != unknown.tag(reference))
    var other = PageReference(
      checksum: 0, extent: Extent(address: 4096, unitCount: 9), kind: .columnLeaf, born: 7)
    // The factor of the origin is no secret, so the origin can be chosen to make up for the rest.
    let difference = known.tag(reference) ^ known.tag(other)
    other.origin = (other.origin &* originFactor ^ difference) &* inverse(originFactor)
    #expect(known.tag(reference) == known.tag(other))
    #expect(unknown.tag(reference) != unknown.tag(other))
  }

  private let originFactor: UInt64 = 0x1656_67B1_9E37_79F9

  /// The number that times `factor`, which is odd, gives one.
  private func inverse(_ factor: UInt64) -> UInt64 {
    // Newton's method doubles the bits that are right.
    (0..<6).reduce(factor) { inverse, _ in inverse &* (2 &- factor &* inverse) }
  }
}
