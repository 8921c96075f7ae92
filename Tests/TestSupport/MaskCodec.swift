import CambiumCore

/// A codec for tests: masks every byte with its place and prefixes a check byte, so that its pages
/// are longer than plain ones and useless without it.
public struct MaskCodec: PageCodec {
  /// The name that a store records.
  public let name: String

  /// Whether what it masks belongs to one place.
  public let needsPlace: Bool

  /// A codec that needs nothing, but for the page's place where it `needsPlace`.
  public init(name: String = "mask", needsPlace: Bool = true) {
    (self.name, self.needsPlace) = (name, needsPlace)
  }

  /// The check byte, the length in four bytes, the page.
  public func encode(
    _ page: Span<UInt8>, kind: PageKind
  ) throws(StoreError) -> [UInt8] {
    var body: [UInt8] = [kind.rawValue]
    unsafe body.append(
      contentsOf: withUnsafeBytes(of: UInt32(page.count).littleEndian) { unsafe Array($0) })
    body.append(contentsOf: [UInt8](copying: page))
    return body
  }

  /// Masks every byte with its place.
  public func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {
    for index in body.indices { body[index] ^= mask(index, context) }
  }

  /// Takes the mask off; throws when the check byte or the length is wrong.
  public func open(
    _ body: Span<UInt8>, context: PageContext
  ) throws(StoreError) -> PageBuffer {
    var plain = [UInt8](copying: body)
    for index in plain.indices { plain[index] ^= mask(index, context) }
    guard plain.count >= 5, plain[0] == context.kind.rawValue else {
      throw .codecFailure(codec: name, reason: "the check byte is wrong")
    }
    let count = (0..<4).reduce(0) { $0 | Int(plain[1 + $1]) << (8 * $1) }
    guard count > 0, count <= plain.count - 5 else {
      throw .codecFailure(codec: name, reason: "the length is wrong")
    }
    // A page is readable in whole units, as it would be without a codec.
    let buffer = PageBuffer(byteCount: (count + 63) / 64 * 64)
    buffer.withMutableBytes { bytes in
      for index in 0..<count { bytes[index] = plain[5 + index] }
    }
    return buffer
  }

  private func mask(_ index: Int, _ context: PageContext) -> UInt8 {
    let place = needsPlace ? context.address &* 7 &+ context.born : 0
    return UInt8(truncatingIfNeeded: UInt64(index) &* 31 &+ place &+ 1)
  }
}
