#if Crypto
  import Crypto
  import Foundation

  /// AES-256-GCM over bytes: nonce, ciphertext and tag, in this order.
  ///
  /// Pointers: bytes are lent for each call. What is sealed in place has room for nonce and tag, which
  /// the caller sees to, and each copy has the length of the part that it fills.
  enum Cipher {
    static let nonceByteCount = 12
    static let tagByteCount = 16
    static let overhead = nonceByteCount + tagByteCount

    /// Little-endian words in a row.
    static func bytes(of words: UInt64...) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(8 * words.count)
      for word in words {
        unsafe withUnsafeBytes(of: word.littleEndian) { unsafe bytes.append(contentsOf: $0) }
      }
      return bytes
    }

    /// Seals the middle of `body`, which has room for nonce and tag at its ends, in place.
    static func seal(
      inPlace body: UnsafeMutableRawBufferPointer, _ key: SymmetricKey,
      authenticating context: [UInt8]
    ) {
      let end = body.count - tagByteCount
      let message = unsafe UnsafeRawBufferPointer(rebasing: body[nonceByteCount..<end])
      let nonce = AES.GCM.Nonce()
      guard
        let box = try? unsafe AES.GCM.seal(
          message, using: key, nonce: nonce, authenticating: context)
      else { fatalError("AES-GCM cannot seal \(message.count) bytes.") }
      unsafe copy(nonce, to: body, at: 0)
      unsafe copy(box.ciphertext, to: body, at: nonceByteCount)
      unsafe copy(box.tag, to: body, at: end)
    }

    private static func copy(
      _ source: some ContiguousBytes, to target: UnsafeMutableRawBufferPointer, at offset: Int
    ) {
      unsafe source.withUnsafeBytes { bytes in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: bytes)
      }
    }

    static func seal(
      _ message: [UInt8], _ key: SymmetricKey, authenticating context: [UInt8]
    ) -> [UInt8] {
      var body = [UInt8](repeating: 0, count: nonceByteCount)
      body += message
      body += [UInt8](repeating: 0, count: tagByteCount)
      unsafe body.withUnsafeMutableBytes { unsafe seal(inPlace: $0, key, authenticating: context) }
      return body
    }

    /// The message in `body`; nil when key or context is another, or a byte was changed.
    static func open(
      _ body: UnsafeRawBufferPointer, _ key: SymmetricKey, authenticating context: [UInt8]
    ) -> Data? {
      guard body.count >= overhead, let box = try? unsafe AES.GCM.SealedBox(combined: body) else {
        return nil
      }
      return try? AES.GCM.open(box, using: key, authenticating: context)
    }
  }
#endif
