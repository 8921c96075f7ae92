import CambiumCore
import CambiumStoreContract

/// Zeros of a page take no room: a count stands for each run of them.
struct ZeroRunCodec: PageCodec {
  let name = "zero-runs"

  // The body does not depend on where it lies, so that another codec may come behind.
  var needsPlace: Bool { false }

  private static let isPlain: UInt32 = 1 << 31

  func encode(_ page: Span<UInt8>, kind: PageKind) throws(StoreError) -> [UInt8] {
    // The stored bytes may be longer than the body, so the body says how long the page is.
    var body = Self.header(UInt32(page.count))
    var index = 0
    while index < page.count, body.count <= page.count {
      let isZeros = page[index] == 0
      var end = index
      while end < min(index + 255, page.count), (page[end] == 0) == isZeros { end += 1 }
      if isZeros { body.append(0) }
      body.append(UInt8(end - index))
      if !isZeros { body += [UInt8](copying: page.extracting(index..<end)) }
      index = end
    }
    if body.count <= page.count { return body }
    // A page that does not shrink stays as it is: a body may be little longer than its page.
    return Self.header(UInt32(page.count) | Self.isPlain) + [UInt8](copying: page)
  }

  private static func header(_ word: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
  }

  func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

  func open(_ body: Span<UInt8>, context: PageContext) throws(StoreError) -> PageBuffer {
    guard body.count > 4 else { throw failure("a page is cut short") }
    var header: UInt32 = 0
    for index in 0..<4 { header |= UInt32(body[index]) << (8 * UInt32(index)) }
    let byteCount = Int(header & ~Self.isPlain)
    // Before memory is taken for what bytes from outside claim to be.
    guard byteCount > 0, byteCount <= StoreLimits.pageByteCount else {
      throw failure("a page claims to have \(byteCount) bytes")
    }
    // Whole units, as pages have without a codec; what is not written stays zero.
    let unitCount = Int(Extent.unitCount(forByteCount: byteCount))
    let page = PageBuffer(
      byteCount: unitCount * Extent.unitByteCount, isSecret: context.isSecret)
    try page.withMutableBytes { bytes throws(StoreError) in
      let rest = body.extracting(4...)
      if header & Self.isPlain != 0 {
        guard byteCount <= rest.count else { throw failure("a page is cut short") }
        for index in 0..<byteCount { bytes[index] = rest[index] }
      } else {
        try fill(&bytes, byteCount, from: rest)
      }
    }
    return page
  }

  private func fill(
    _ bytes: inout MutableSpan<UInt8>, _ byteCount: Int, from runs: Span<UInt8>
  ) throws(StoreError) {
    var (filled, index) = (0, 0)
    while filled < byteCount {
      guard index + 1 < runs.count else { throw failure("a page is cut short") }
      let isZeros = runs[index] == 0
      let count = Int(isZeros ? runs[index + 1] : runs[index])
      index += isZeros ? 2 : 1
      guard count > 0, count <= byteCount - filled, isZeros || count <= runs.count - index else {
        throw failure("a run is longer than its page")
      }
      if !isZeros {
        for place in 0..<count { bytes[filled + place] = runs[index + place] }
        index += count
      }
      filled += count
    }
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
