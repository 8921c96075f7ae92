#if Zstd
  import CambiumCore

  /// The stored form of a page.
  ///
  ///      0        1              4
  ///     | plain  | page …
  ///     | packed | frame's length | one frame of zstd that says how long the page is
  ///
  /// Zeros may follow, up to the end of a unit.
  ///
  /// Pointers: page and body are lent for each call. The body that is made has room for a page that
  /// does not shrink; of one that is opened, lengths are held against its own before bytes are read,
  /// and the page gets a buffer of the length that the frame says, which zstd does not pass.
  enum ZstdBody {
    private static let plain: UInt8 = 0
    private static let packed: UInt8 = 1
    private static let headerByteCount = 4
    /// No page is longer: a reference counts its units in 16 bits.
    private static let largestPageByteCount = Int(UInt16.max) * Extent.unitByteCount

    static func encode(
      _ page: UnsafeRawBufferPointer, _ engine: ZstdEngine
    ) throws(StoreError) -> [UInt8] {
      // What takes as many units as the page itself is not worth the work of opening it.
      let room = headerByteCount + page.count
      let limit = (Extent.unitCount(forByteCount: page.count + 1) - 1)
      let body = unsafe [UInt8](unsafeUninitializedCapacity: room) { body, count in
        let bytes = UnsafeMutableRawBufferPointer(body)
        let frame = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[headerByteCount...])
        guard let length = unsafe engine.compress(page, into: frame),
          Extent.unitCount(forByteCount: headerByteCount + length) <= limit
        else {
          unsafe bytes[0] = plain
          unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[1...]).copyMemory(from: page)
          count = 1 + page.count
          return
        }
        unsafe bytes.storeBytes(
          of: UInt32(length << 8).littleEndian | UInt32(packed), as: UInt32.self)
        count = headerByteCount + length
      }
      return body
    }

    static func open(
      _ body: UnsafeRawBufferPointer, _ engine: ZstdEngine, isSecret: Bool
    ) throws(StoreError) -> PageBuffer {
      guard body.count > 1 else { throw failure("a page has no content") }
      switch unsafe body[0] {
      case plain:
        let page = unsafe UnsafeRawBufferPointer(rebasing: body[1...])
        let buffer = PageBuffer(roomFor: page.count, isSecret: isSecret)
        unsafe UnsafeMutableRawBufferPointer(start: buffer.bytes, count: page.count)
          .copyMemory(from: page)
        return buffer
      case packed:
        guard body.count > headerByteCount else { throw failure("a page's length is missing") }
        let length = unsafe Int(UInt32(littleEndian: body.loadUnaligned(as: UInt32.self)) >> 8)
        guard length > 0, length <= body.count - headerByteCount else {
          throw failure("a page's length is wrong")
        }
        let frame = unsafe UnsafeRawBufferPointer(
          rebasing: body[headerByteCount..<(headerByteCount + length)])
        guard let count = unsafe ZstdEngine.contentByteCount(of: frame), count > 0,
          count <= largestPageByteCount
        else { throw failure("a page claims a size that no page has") }
        let buffer = PageBuffer(roomFor: count, isSecret: isSecret)
        if let problem = unsafe engine.decompress(
          frame, into: UnsafeMutableRawBufferPointer(start: buffer.bytes, count: count))
        {
          throw failure("a page cannot be written out (\(problem))")
        }
        return buffer
      default: throw failure("a page is of a form it does not know")
      }
    }

    private static func failure(_ reason: String) -> StoreError {
      .codecFailure(codec: "zstd", reason: reason)
    }
  }

  extension PageBuffer {
    /// Room for `byteCount` bytes, readable in whole units as it would be without a codec.
    fileprivate convenience init(roomFor byteCount: Int, isSecret: Bool) {
      let unit = Extent.unitByteCount
      self.init(byteCount: (byteCount + unit - 1) / unit * unit, isSecret: isSecret)
    }
  }
#endif
