import CambiumCore
import Testing

@Suite struct ChecksumTests {
  /// Vectors of the published algorithm, seed 0.
  @Test(arguments: [
    ("", 0xEF46_DB37_51D8_E999 as UInt64),
    ("a", 0xD24E_C4F1_A98C_6E5B),
    ("abc", 0x44BC_2CF5_AD77_0999),
    ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
  ])
  func `the hash of a known text is the published one`(text: String, expected: UInt64) {
    #expect(Array(text.utf8).withUnsafeBytes { Checksum.hash($0) } == expected)
  }

  @Test func `flipping any bit changes the hash`() {
    var bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let before = bytes.withUnsafeBytes { Checksum.hash($0) }
    for bit in 0..<bytes.count * 8 {
      bytes[bit / 8] ^= 1 << (bit % 8)
      #expect(bytes.withUnsafeBytes { Checksum.hash($0) } != before)
      bytes[bit / 8] ^= 1 << (bit % 8)
    }
  }
}
