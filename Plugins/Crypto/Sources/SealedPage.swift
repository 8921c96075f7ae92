#if Crypto
  import CambiumCore
  import Foundation

  /// The stored form of a page, in whole units so that no byte of it is left out.
  ///
  ///     | nonce 12 | page … zeros | how many zeros, 1 | tag 16 |
  ///                 encrypted ────────────────────────
  ///
  /// Pointers: bytes are lent for each call. What was opened is copied into a buffer of just its
  /// length, which the caller gets.
  enum SealedPage {
    /// Everything in its place, not encrypted yet.
    static func body(of page: UnsafeRawBufferPointer) -> [UInt8] {
      let used = Cipher.overhead + page.count + 1
      let unit = Extent.unitByteCount
      let zeros = (unit - used % unit) % unit
      var body: [UInt8] = []
      body.reserveCapacity(used + zeros)
      body.append(contentsOf: repeatElement(0, count: Cipher.nonceByteCount))
      unsafe body.append(contentsOf: page)
      body.append(contentsOf: repeatElement(0, count: zeros))
      body.append(UInt8(zeros))
      body.append(contentsOf: repeatElement(0, count: Cipher.tagByteCount))
      return body
    }

    static func seal(_ body: inout [UInt8], _ context: PageContext, _ keys: StoreKeys) {
      let key = keys.key(for: .page, number: StoreKeys.number(of: context.born))
      let place = bytes(of: context)
      unsafe body.withUnsafeMutableBytes {
        unsafe Cipher.seal(inPlace: $0, key, authenticating: place)
      }
    }

    static func open(
      _ body: UnsafeRawBufferPointer, _ context: PageContext, _ keys: StoreKeys
    ) -> PageBuffer? {
      let key = keys.key(for: .page, number: StoreKeys.number(of: context.born))
      guard var opened = unsafe Cipher.open(body, key, authenticating: bytes(of: context)),
        let zeros = opened.last, Int(zeros) + 1 < opened.count
      else { return nil }
      defer { opened.resetBytes(in: 0..<opened.count) }
      let count = opened.count - 1 - Int(zeros)
      // Readable in whole units, as it would be without a codec.
      let unit = Extent.unitByteCount
      let buffer = PageBuffer(byteCount: (count + unit - 1) / unit * unit, isSecret: true)
      unsafe opened.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(start: buffer.bytes, count: count)
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count]))
      }
      return buffer
    }

    /// What a page is bound to.
    private static func bytes(of context: PageContext) -> [UInt8] {
      [UInt8(ascii: "p"), context.kind.rawValue]
        + Cipher.bytes(of: context.storeHigh, context.storeLow, context.address, context.born)
    }
  }

  /// The stored form of a record of the store itself.
  ///
  ///     | number of the key 4 | nonce 12 | record … | tag 16 |
  ///                                       encrypted
  ///
  /// Pointers: bytes are lent for each call, out of arrays that outlive it.
  enum SealedRecord {
    private static let numberByteCount = 4
    static let overhead = numberByteCount + Cipher.overhead

    static func seal(_ record: [UInt8], _ context: RecordContext, _ keys: StoreKeys) -> [UInt8] {
      // Versions have 48 bits.
      let number = UInt32(truncatingIfNeeded: StoreKeys.number(of: context.version) >> 4)
      let head = unsafe withUnsafeBytes(of: number.littleEndian) { unsafe Array($0) }
      let key = keys.key(for: .record, number: UInt64(number))
      return head + Cipher.seal(record, key, authenticating: head + bytes(of: context, keys))
    }

    static func open(
      _ sealed: [UInt8], _ context: RecordContext, _ keys: StoreKeys
    ) -> [UInt8]? {
      guard sealed.count >= overhead else { return nil }
      let head = Array(sealed.prefix(numberByteCount))
      let number = head.reversed().reduce(0) { $0 << 8 | UInt64($1) }
      let key = keys.key(for: .record, number: number)
      let opened = unsafe sealed.withUnsafeBytes { bytes in
        unsafe Cipher.open(
          UnsafeRawBufferPointer(rebasing: bytes[numberByteCount...]), key,
          authenticating: head + Self.bytes(of: context, keys))
      }
      return opened.map { Array($0) }
    }

    /// What a record is bound to.
    private static func bytes(of context: RecordContext, _ keys: StoreKeys) -> [UInt8] {
      [UInt8(ascii: "r"), context.role]
        + Cipher.bytes(of: keys.store.high, keys.store.low, context.place)
    }
  }
#endif
