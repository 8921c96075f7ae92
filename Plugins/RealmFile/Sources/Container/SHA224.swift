#if Crypto
  /// SHA-224 (FIPS 180-4), by which pages of encrypted files are known to be whole.
  enum SHA224 {
    static let byteCount = 28
    static let blockByteCount = 64

    private static let start: [UInt32] = [
      0xc105_9ed8, 0x367c_d507, 0x3070_dd17, 0xf70e_5939,
      0xffc0_0b31, 0x6858_1511, 0x64f9_8fa7, 0xbefa_4fa4,
    ]

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
      0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
      0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
      0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
      0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
      0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
      0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
      0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
      0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
      0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
      0xc671_78f2,
    ]

    /// The digest of `message`.
    static func digest(of message: [UInt8]) -> [UInt8] {
      var padded = message
      padded.append(0x80)
      let tail = (padded.count + 8) % blockByteCount
      padded += [UInt8](repeating: 0, count: tail == 0 ? 0 : blockByteCount - tail)
      padded += bytes(of: UInt64(message.count) * 8)
      var state = start
      var schedule = [UInt32](repeating: 0, count: 64)
      for block in stride(from: 0, to: padded.count, by: blockByteCount) {
        let span = padded.span
        for index in 0..<16 {
          schedule[index] = span.littleEndian(UInt32.self, at: block + 4 * index).byteSwapped
        }
        compress(&schedule, into: &state)
      }
      return state.dropLast().flatMap(bytes)
    }

    /// Adds one block, the first 16 words of `schedule`, to the state.
    private static func compress(_ schedule: inout [UInt32], into state: inout [UInt32]) {
      var words = schedule.mutableSpan
      for index in 16..<64 {
        let early = words[index - 15]
        let late = words[index - 2]
        let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
        let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
        words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
      }
      let constants = constants.span
      var (a, b, c, d) = (state[0], state[1], state[2], state[3])
      var (e, f, g, h) = (state[4], state[5], state[6], state[7])
      for index in 0..<64 {
        let sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
        let choice = e & f ^ ~e & g
        let step = h &+ sum1 &+ choice &+ constants[index] &+ words[index]
        let sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
        let majority = a & b ^ a & c ^ b & c
        (h, g, f, e) = (g, f, e, d &+ step)
        (d, c, b, a) = (c, b, a, step &+ sum0 &+ majority)
      }
      for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
      word >> count | word << (32 - count)
    }

    /// The bytes of an integer, the highest first.
    private static func bytes<Word: FixedWidthInteger>(of word: Word) -> [UInt8] {
      stride(from: Word.bitWidth - 8, through: 0, by: -8).map {
        UInt8(truncatingIfNeeded: word >> Word($0))
      }
    }
  }

  /// HMAC (RFC 2104) with SHA-224, for one key.
  struct HMACSHA224 {
    private let inner: [UInt8]
    private let outer: [UInt8]

    init(key: [UInt8]) {
      var block = key.count > SHA224.blockByteCount ? SHA224.digest(of: key) : key
      block += [UInt8](repeating: 0, count: SHA224.blockByteCount - block.count)
      inner = block.map { $0 ^ 0x36 }
      outer = block.map { $0 ^ 0x5c }
    }

    /// The code that tells whether `message` is whole.
    func code(of message: [UInt8]) -> [UInt8] {
      SHA224.digest(of: outer + SHA224.digest(of: inner + message))
    }
  }
#endif
