/// A random generator that repeats itself from its seed (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// The sequence of that seed, from its beginning.
  public init(seed: UInt64) { state = seed }

  /// The next bytes of the sequence.
  public mutating func bytes(count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count + 8) { buffer, filled in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      for offset in stride(from: 0, to: count, by: 8) {
        unsafe bytes.storeBytes(of: next(), toByteOffset: offset, as: UInt64.self)
      }
      filled = count
    }
  }

  /// The next 64 bits of the sequence.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
