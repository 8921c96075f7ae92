import CambiumCore

/// A codec for tests that keeps something in its store and seals the store's own records: a mask and a
/// check, both of the place, and of what the store kept.
public struct SealCodec: PageCodec {
  /// The name that a store records.
  public let name = "seal"
  /// How much it lets a new store keep.
  private let parameterByteCount: Int
  /// What the store kept; empty until bound.
  private let kept: [UInt8]
  private let secret: UInt64

  /// A codec whose records only one with the same secret opens.
  public init(secret: UInt64 = 1, parameterByteCount: Int = 40) {
    self.init(secret: secret, parameterByteCount: parameterByteCount, kept: [])
  }

  private init(secret: UInt64, parameterByteCount: Int, kept: [UInt8]) {
    self.secret = secret
    self.parameterByteCount = parameterByteCount
    self.kept = kept
  }

  /// Bytes that follow from the store's number.
  public func makeParameters(for store: StoreNumber) throws(StoreError) -> [UInt8] {
    var generator = SeededGenerator(seed: store.high ^ store.low)
    return generator.bytes(count: parameterByteCount)
  }

  /// Refuses parameters that are not those of the store.
  public func bound(
    to store: StoreNumber, parameters: [UInt8]
  ) throws(StoreError) -> any PageCodec {
    guard parameters == (try makeParameters(for: store)) else {
      throw .codecFailure(codec: name, reason: "the store kept something else for it")
    }
    return SealCodec(secret: secret, parameterByteCount: parameterByteCount, kept: parameters)
  }

  private func mask(_ bytes: [UInt8], _ words: [UInt64]) -> [UInt8] {
    let seed = words.reduce(secret &+ UInt64(kept.count)) { ($0 &+ $1) &* 0x9E37_79B9_7F4A_7C15 }
    return Self.mask(bytes, seed: seed)
  }

  /// By words: crash tests seal and open many megabytes.
  private static func mask(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    var words = [UInt64](repeating: 0, count: (bytes.count + 7) / 8)
    return unsafe words.withUnsafeMutableBytes { words in
      unsafe words.copyBytes(from: bytes)
      let masked = unsafe words.bindMemory(to: UInt64.self)
      var index = 0
      while index < masked.count {
        unsafe masked[index] ^= generator.next()
        index += 1
      }
      return unsafe Array(words.prefix(bytes.count))
    }
  }

  private func check(_ sealed: [UInt8], _ words: [UInt64]) -> [UInt8] {
    let check =
      unsafe sealed.withUnsafeBytes { unsafe Checksum.hash($0) } &+ words.reduce(secret, ^)
    return unsafe withUnsafeBytes(of: check.littleEndian) { unsafe Array($0) }
  }

  private func seal(_ bytes: [UInt8], _ words: [UInt64]) -> [UInt8] {
    let sealed = mask(bytes, words)
    return check(sealed, words) + sealed
  }

  private func open(_ bytes: [UInt8], _ words: [UInt64]) throws(StoreError) -> [UInt8] {
    let sealed = Array(bytes.dropFirst(8))
    guard !sealed.isEmpty, check(sealed, words) == Array(bytes.prefix(8)) else {
      throw .codecFailure(codec: name, reason: "the check is wrong")
    }
    return mask(sealed, words)
  }

  private func words(_ context: PageContext) -> [UInt64] {
    [UInt64(context.kind.rawValue), context.address, context.born, context.storeLow]
  }

  /// The page with room for the check and its own length, in whole units.
  public func encode(
    _ page: Span<UInt8>, kind: PageKind
  ) throws(StoreError) -> [UInt8] {
    let filler = -(page.count + 9) & 63
    return [UInt8](repeating: 0, count: 8) + [UInt8](copying: page)
      + [UInt8](repeating: 0, count: filler) + [UInt8(filler)]
  }

  /// Masks it for its place.
  public func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {
    body = seal(Array(body.dropFirst(8)), words(context))
  }

  /// Takes the mask off, if the check is right.
  public func open(
    _ body: Span<UInt8>, context: PageContext
  ) throws(StoreError) -> PageBuffer {
    let opened = try open([UInt8](copying: body), words(context))
    let page = opened.dropLast(1 + Int(opened.last ?? 0))
    let buffer = PageBuffer(byteCount: (page.count + 63) / 64 * 64)
    buffer.withMutableBytes { bytes in
      for (index, byte) in page.enumerated() { bytes[index] = byte }
    }
    return buffer
  }

  /// The check.
  public var recordOverhead: Int { 8 }

  /// Masks a record for its place.
  public func sealRecord(_ record: [UInt8], context: RecordContext) -> [UInt8] {
    seal(record, [UInt64(context.role), context.place])
  }

  /// Takes the mask off, if the check is right.
  public func openRecord(
    _ sealed: [UInt8], context: RecordContext
  ) throws(StoreError) -> [UInt8] {
    try open(sealed, [UInt64(context.role), context.place])
  }
}
