#if Crypto
  import Crypto
  import Testing

  @testable import CambiumRealmFile

  /// SHA-224 and its HMAC give what the standards say.
  @Suite struct HashWhiteBoxTests {
    private static func bytes(_ hex: String) -> [UInt8] {
      var bytes: [UInt8] = []
      var rest = hex[...]
      while !rest.isEmpty {
        bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
        rest = rest.dropFirst(2)
      }
      return bytes
    }

    /// FIPS 180, and the examples that NIST gives for it.
    @Test(arguments: [
      ("", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"),
      ("abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525"
      ),
      (
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
          + "lmnopqrsmnopqrstnopqrstu",
        "c97ca9a559850ce97a04a96def6d99a9e0e0e2ab14e6b8df265fc0b3"
      ),
      (
        String(repeating: "a", count: 1_000_000),
        "20794655980c91d8bbb4c1ea97618a4bf03f42581948b2ee4ee7ad67"
      ),
    ])
    func `a digest is that of the standard`(message: String, digest: String) {
      #expect(SHA224.digest(of: Array(message.utf8)) == Self.bytes(digest))
    }

    /// RFC 4231, test cases 1 to 4, 6 and 7: key, message, code.
    @Test(arguments: [
      (
        [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
        "896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22"
      ),
      (
        Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
        "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44"
      ),
      (
        [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
        "7fb3cb3588c6c1f6ffa9694d7d6ad2649365b0c1f65d69d1ec8333ea"
      ),
      (
        Array(0x01...0x19), [UInt8](repeating: 0xcd, count: 50),
        "6c11506874013cac6a2abc1bb382627cec6a90d86efc012de7afec5a"
      ),
      (
        [UInt8](repeating: 0xaa, count: 131),
        Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
        "95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e"
      ),
      (
        [UInt8](repeating: 0xaa, count: 131),
        Array(
          ("This is a test using a larger than block-size key and a larger than block-size data. "
            + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
        "3a854166ac5d9f023f54d517d0b39dbd946770db9c2b95c9f6f565d1"
      ),
    ])
    func `a code is that of the standard`(key: [UInt8], message: [UInt8], code: String) {
      #expect(HMACSHA224(key: key).code(of: message) == Self.bytes(code))
    }

    @Test func `every length around a block has a digest of its own`() {
      let digests = (0...200).map { SHA224.digest(of: [UInt8](repeating: 7, count: $0)) }
      #expect(Set(digests).count == digests.count)
      #expect(digests.allSatisfy { $0.count == SHA224.byteCount })
    }
  }
#endif
