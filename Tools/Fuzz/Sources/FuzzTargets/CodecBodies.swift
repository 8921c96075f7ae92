import CambiumCore

#if Zstd
  import CambiumZstd
#endif
#if Crypto
  import CambiumCrypto
#endif

/// What codecs are shown by a store that somebody has tampered with.
///
/// That is bodies of pages, records, and what the store keeps for them. Builds without a codec have
/// nothing to feed.
enum CodecBodies {
  static let store = StoreNumber(high: 7, low: 8)
  static let longestPage = 65_536 * 64

  static func context(address: UInt64 = 4711) -> PageContext {
    PageContext(
      storeHigh: store.high, storeLow: store.low, kind: .keyLeaf, address: address, born: 42)
  }

  /// The page that a body opens to; nil for a refusal, which has to be the codec's.
  static func open(
    _ body: [UInt8], _ codec: any PageCodec, _ context: PageContext = context()
  ) -> [UInt8]? {
    do throws(StoreError) {
      let buffer = try codec.open(body.span, context: context)
      precondition(buffer.byteCount <= longestPage, "a page of \(buffer.byteCount) bytes")
      return buffer.withBytes { Array(copying: $0) }
    } catch {
      guard case .codecFailure = error else { preconditionFailure("\(error)") }
      return nil
    }
  }

  static func encode(_ page: [UInt8], _ codec: any PageCodec) throws(StoreError) -> [UInt8] {
    try codec.encode(page.span, kind: .keyLeaf)
  }

  /// `page` goes in, and comes back.
  static func expectRoundTrip(_ page: [UInt8], _ codec: any PageCodec) throws(StoreError) {
    guard !page.isEmpty else { return }
    var body = try encode(page, codec)
    try codec.seal(&body, context: context())
    let opened = open(body, codec)
    precondition(
      opened?.prefix(page.count).elementsEqual(page) == true, "a page does not come back")
  }

  /// Changes some bytes, at least one.
  static func change(_ bytes: inout [UInt8], _ supply: inout ByteSupply) {
    guard !bytes.isEmpty else { return }
    repeat {
      let place = supply.number(below: bytes.count)
      bytes[place] ^= max(1, supply.byte())
    } while !supply.isEmpty
  }

  static let sample = [UInt8]((0..<40).map { "key \($0) of a page, " }.joined().utf8)
}

/// Compressed pages.
enum ZstdBodies {
  static func run(_ bytes: UnsafeRawBufferPointer) {
    #if Zstd
      var supply = ByteSupply(bytes)
      let mode = supply.byte()
      guard let codec = mode & 64 == 0 ? plain : trained else { return }
      let rest = [UInt8](bytes.dropFirst())
      tolerating { () throws(StoreError) in
        switch mode % 5 {
        case 0: _ = CodecBodies.open(rest, codec)
        case 1: _ = CodecBodies.open(framed(rest), codec)
        case 2: _ = CodecBodies.open(framed(lie(&supply, rest)), codec)
        case 3:
          var body = try CodecBodies.encode(CodecBodies.sample, codec)
          CodecBodies.change(&body, &supply)
          _ = CodecBodies.open(body, codec)
          // A page of the other codec: its dictionary is not there, or another.
          guard let other = mode & 64 == 0 ? trained : plain else { return }
          let foreign = try CodecBodies.encode(CodecBodies.sample + rest, other)
          _ = CodecBodies.open(foreign, codec)
        default: try CodecBodies.expectRoundTrip(rest, codec)
        }
      }
    #endif
  }

  #if Zstd
    private static let plain = try? ZstdCodec()
    private static let trained = dictionary.flatMap { try? ZstdCodec(dictionary: $0) }

    /// A small dictionary, made anew the same each time.
    static let dictionary: [UInt8]? = {
      let pages = (0..<200).map { number in
        [UInt8]((0..<30).map { "row \(number * $0) of table \($0 % 7); " }.joined().utf8)
      }
      return try? ZstdCodec.dictionary(from: pages, byteCount: 2048)
    }()

    /// The body of a packed page with that frame.
    private static func framed(_ frame: [UInt8]) -> [UInt8] {
      let count = frame.count
      return [1, UInt8(count & 255), UInt8(count >> 8 & 255), UInt8(count >> 16 & 255)] + frame
    }

    /// A frame that says whatever it wants of its length and its dictionary.
    private static func lie(_ supply: inout ByteSupply, _ rest: [UInt8]) -> [UInt8] {
      let flags = supply.byte()
      return [0x28, 0xb5, 0x2f, 0xfd, flags] + rest.dropFirst()
    }
  #endif
}

/// Encrypted pages and records.
enum AESBodies {
  static func run(_ bytes: UnsafeRawBufferPointer) {
    #if Crypto
      guard let codec else { return }
      var supply = ByteSupply(bytes)
      let mode = supply.byte()
      let rest = [UInt8](bytes.dropFirst())
      tolerating { () throws(StoreError) in
        switch mode % 6 {
        case 0:
          precondition(CodecBodies.open(rest, codec) == nil, "made up bytes are a page")
        case 1:
          // Somebody with the key wrote what no page is.
          var body = [UInt8](repeating: 0, count: 12) + rest + [UInt8](repeating: 0, count: 16)
          try codec.seal(&body, context: CodecBodies.context())
          _ = CodecBodies.open(body, codec)
        case 2:
          var body = try CodecBodies.encode(CodecBodies.sample, codec)
          try codec.seal(&body, context: CodecBodies.context())
          let elsewhere = CodecBodies.context(address: 4712 &+ supply.word() % 1000)
          precondition(CodecBodies.open(body, codec, elsewhere) == nil, "a page is anywhere")
          let before = body
          CodecBodies.change(&body, &supply)
          precondition(
            CodecBodies.open(body, codec) == nil || body == before, "a changed page is a page")
        case 3: try CodecBodies.expectRoundTrip(rest, codec)
        case 4: expectRefusal(rest, codec)
        default:
          let context = RecordContext(role: 16, place: 3, version: supply.word() >> 16)
          let sealed = codec.sealRecord(rest, context: context)
          let opened = try codec.openRecord(sealed, context: RecordContext(role: 16, place: 3))
          precondition(opened == rest, "a record does not come back")
          var changed = sealed
          CodecBodies.change(&changed, &supply)
          if changed != sealed { expectRefusal(changed, codec) }
        }
      }
    #endif
  }

  #if Crypto
    static func unbound() throws(StoreError) -> AESCodec {
      try AESCodec(
        key: CodecKey(copying: [UInt8](repeating: 9, count: AESCodec.keyByteCount).span))
    }

    private static let codec: (any PageCodec)? = {
      guard let codec = try? unbound(),
        let parameters = try? codec.makeParameters(for: CodecBodies.store)
      else { return nil }
      return try? codec.bound(to: CodecBodies.store, parameters: parameters)
    }()

    private static func expectRefusal(_ record: [UInt8], _ codec: any PageCodec) {
      do throws(StoreError) {
        _ = try codec.openRecord(record, context: RecordContext(role: 16, place: 3))
        preconditionFailure("made up bytes are a record")
      } catch {
        guard case .codecFailure = error else { preconditionFailure("\(error)") }
      }
    }
  #endif
}

/// A chain of both, and what a store keeps for it.
enum ChainBodies {
  static func run(_ bytes: UnsafeRawBufferPointer) {
    #if Zstd && Crypto
      guard let chain, let parameters, let bound else { return }
      var supply = ByteSupply(bytes)
      let mode = supply.byte()
      let rest = [UInt8](bytes.dropFirst())
      tolerating { () throws(StoreError) in
        switch mode % 5 {
        case 0: try bind(chain, rest)
        case 1:
          var changed = parameters
          CodecBodies.change(&changed, &supply)
          try bind(chain, changed)
        case 2:
          // The right key, and a dictionary that is none.
          let end = 4 + Int(parameters[0]) + Int(parameters[1]) << 8
          let sealed = bound.sealRecord(
            rest, context: RecordContext(role: RecordContext.parametersRole, place: 0))
          let count = withUnsafeBytes(of: UInt32(sealed.count).littleEndian) { Array($0) }
          try bind(chain, Array(parameters[..<end]) + count + sealed)
        case 3:
          // The right key, and a compressed page that is none.
          let cipher = bound.codecs[1]
          var body = try CodecBodies.encode(rest.isEmpty ? [0] : rest, cipher)
          try cipher.seal(&body, context: CodecBodies.context())
          _ = CodecBodies.open(body, bound)
        default: try CodecBodies.expectRoundTrip(rest, bound)
        }
      }
    #endif
  }

  #if Zstd && Crypto
    private static let chain: CodecChain? = {
      guard let small = try? ZstdCodec(dictionary: ZstdBodies.dictionary),
        let cipher = try? AESBodies.unbound()
      else { return nil }
      return CodecChain([small, cipher])
    }()

    private static let parameters = try? chain?.makeParameters(for: CodecBodies.store)

    private static let bound: CodecChain? = {
      guard let chain, let parameters else { return nil }
      return (try? chain.bound(to: CodecBodies.store, parameters: parameters)) as? CodecChain
    }()

    /// What opens with those parameters works.
    private static func bind(
      _ chain: CodecChain, _ parameters: [UInt8]
    ) throws(StoreError) {
      let codec: any PageCodec
      do throws(StoreError) {
        codec = try chain.bound(to: CodecBodies.store, parameters: parameters)
      } catch {
        guard case .codecFailure = error else { preconditionFailure("\(error)") }
        return
      }
      try CodecBodies.expectRoundTrip(CodecBodies.sample, codec)
    }
  #endif
}
