import CambiumCore
import CambiumStoreContract

/// Zeros of a page take no room: a count stands for each run of them.
struct ZeroRunCodec: PageCodec {
  let name = "zero-runs"

  // The body does not depend on where it lies, so that another codec may come behind.
  var needsPlace: Bool { false }

  private static let isPlain: UInt32 = 1 << 31

  func encode(_ page: UnsafeRawBufferPointer, kind: PageKind) throws(StoreError) -> [UInt8] {
    // The stored bytes may be longer than the body, so the body says how long the page is.
    var body = withUnsafeBytes(of: UInt32(page.count).littleEndian) { Array($0) }
    var index = 0
    while index < page.count, body.count <= page.count {
      let rest = page[index...]
      let zeroCount = min(255, rest.prefix { $0 == 0 }.count)
      if zeroCount > 0 {
        body += [0, UInt8(zeroCount)]
        index += zeroCount
      } else {
        let bytes = rest.prefix(255).prefix { $0 != 0 }
        body += [UInt8(bytes.count)] + bytes
        index += bytes.count
      }
    }
    if body.count <= page.count { return body }
    // A page that does not shrink stays as it is: a body may be little longer than its page.
    return withUnsafeBytes(of: (UInt32(page.count) | Self.isPlain).littleEndian) {
      Array($0) + page
    }
  }

  func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

  func open(
    _ body: UnsafeRawBufferPointer, context: PageContext
  ) throws(StoreError) -> PageBuffer {
    guard body.count > 4 else { throw failure("a page is cut short") }
    let header = UInt32(littleEndian: body.loadUnaligned(as: UInt32.self))
    let byteCount = Int(header & ~Self.isPlain)
    // Before memory is taken for what bytes from outside claim to be.
    guard byteCount > 0, byteCount <= StoreLimits.pageByteCount else {
      throw failure("a page claims to have \(byteCount) bytes")
    }
    // Whole units, as pages have without a codec; what is not written stays zero.
    let unitCount = Int(Extent.unitCount(forByteCount: byteCount))
    let page = PageBuffer(
      byteCount: unitCount * Extent.unitByteCount, isSecret: context.isSecret)
    if header & Self.isPlain != 0 {
      guard byteCount <= body.count - 4 else { throw failure("a page is cut short") }
      UnsafeMutableRawBufferPointer(start: page.bytes, count: byteCount)
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: body[4..<(4 + byteCount)]))
      return page
    }
    var (filled, index) = (0, 4)
    while filled < byteCount {
      guard index + 1 < body.count else { throw failure("a page is cut short") }
      let isZeros = body[index] == 0
      let count = Int(isZeros ? body[index + 1] : body[index])
      index += isZeros ? 2 : 1
      guard count > 0, count <= byteCount - filled, isZeros || count <= body.count - index else {
        throw failure("a run is longer than its page")
      }
      if !isZeros {
        UnsafeMutableRawBufferPointer(start: page.bytes + filled, count: count)
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: body[index..<(index + count)]))
        index += count
      }
      filled += count
    }
    return page
  }

  private func failure(_ reason: String) -> StoreError {
    .codecFailure(codec: name, reason: reason)
  }
}

// snippet.next
let codec = CodecSubject("zero-runs") { () throws(StoreError) in ZeroRunCodec() }
for result in CodecContract.check(codec) where !result.findings.isEmpty { print(result) }
// snippet.hide
print("done")
