import CPlatform

/// What a small commit has changed of the pages in memory, for other processes.
///
/// Numbers are little-endian:
///
///      0      40        44         48
///     | root | changes | given up |
///
/// A change: the page's number (32 bits), its kind and form (8 each), two zero bytes, how many bytes the page has
/// and how many follow (32 each). A removed page has none; a whole one all of them; of a page that was patched
/// there follow runs, each with its place and length (32 each) and bytes; of a patched copy of a stored page first its
/// reference. Then come the stored pages that were given up.
///
/// Pointers: pages of a published version, which nobody changes; they are read within their lengths during one call.
package struct ResidenceRecord {
  let root: TreeRoot
  let changes: [DirtyPages.Change]
  let freed: [PageReference]
  /// Reads pages of the version before.
  let source: PageSource

  enum Form: UInt8 {
    case removed = 0
    case whole = 1
    case patched = 2
    case patchedCopy = 3
  }

  static let headerByteCount = TreeRoot.byteCount + 8
  /// How many bytes a change takes at most besides its page.
  static let changeByteCount = 16

  /// The stored form.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1 << 10)
    bytes += root.storedBytes
    Self.put(changes.count, &bytes)
    Self.put(freed.count, &bytes)
    for change in changes { put(change, &bytes) }
    for reference in freed { Self.put(reference, &bytes) }
    return bytes
  }

  private static func put(_ number: Int, _ bytes: inout [UInt8]) {
    unsafe withUnsafeBytes(of: UInt32(number).littleEndian) { unsafe bytes += $0 }
  }

  private func put(_ change: DirtyPages.Change, _ bytes: inout [UInt8]) {
    Self.put(change.index, &bytes)
    let start = bytes.count
    bytes += [change.page?.kind.rawValue ?? 0, Form.removed.rawValue, 0, 0]
    Self.put(0, &bytes)
    Self.put(0, &bytes)
    guard let page = change.page else { return }
    let data = bytes.count
    let pageByteCount: Int
    if page is KeyPage, let tight = page.copy() as? KeyPage {
      // Without garbage and gaps, as it would be stored.
      pageByteCount = tight.tighten()
      unsafe bytes += UnsafeRawBufferPointer(start: tight.bytes, count: pageByteCount)
      bytes[start + 1] = Form.whole.rawValue
    } else {
      pageByteCount = unsafe page.byteCount
      if let form = putPatch(page, change.former, &bytes) {
        bytes[start + 1] = form.rawValue
      } else {
        bytes.removeSubrange(data...)
        unsafe bytes += UnsafeRawBufferPointer(start: page.bytes, count: pageByteCount)
        bytes[start + 1] = Form.whole.rawValue
      }
    }
    Self.store(pageByteCount, at: start + 4, &bytes)
    Self.store(bytes.count - data, at: start + 8, &bytes)
  }

  /// Appends how a page differs from what it was; nil where that is not known, or it is another one.
  private func putPatch(
    _ page: DirtyPage, _ former: DirtyPage?, _ bytes: inout [UInt8]
  ) -> Form? {
    if let former {
      guard unsafe former.kind == page.kind && former.byteCount == page.byteCount else {
        return nil
      }
      return unsafe Self.putRuns(page.bytes, former.bytes, page.byteCount, &bytes) ? .patched : nil
    }
    let origin = unsafe page.origin
    guard !origin.isNone, let stored = try? source.page(origin, page.kind) else { return nil }
    defer { withExtendedLifetime(stored) {} }
    guard unsafe page.byteCount <= stored.byteCount else { return nil }
    Self.put(origin, &bytes)
    return unsafe Self.putRuns(page.bytes, stored.bytes, page.byteCount, &bytes)
      ? .patchedCopy : nil
  }

  private static func put(_ reference: PageReference, _ bytes: inout [UInt8]) {
    unsafe withUnsafeTemporaryAllocation(
      byteCount: PageReference.byteCount, alignment: 8
    ) { form in
      if let start = form.baseAddress { unsafe reference.store(to: start) }
      unsafe bytes += UnsafeRawBufferPointer(form)
    }
  }

  private static func store(_ number: Int, at offset: Int, _ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes {
      unsafe $0.storeBytes(of: UInt32(number).littleEndian, toByteOffset: offset, as: UInt32.self)
    }
  }

  /// Appends where two pages of the same length differ; false when that is most of them.
  private static func putRuns(
    _ page: UnsafeRawPointer, _ former: UnsafeRawPointer, _ byteCount: Int, _ bytes: inout [UInt8]
  ) -> Bool {
    let limit = bytes.count + byteCount / 2
    var position = 0
    while position < byteCount {
      // Most of it is the same.
      if position + blockByteCount <= byteCount,
        unsafe cambium_equal(page + position, former + position, blockByteCount)
      {
        position += blockByteCount
        continue
      }
      if unsafe isSame(page, former, position, byteCount) {
        position += wordByteCount
        continue
      }
      let start = position
      while position < byteCount, unsafe !isSame(page, former, position, byteCount) {
        position += wordByteCount
      }
      let end = min(position, byteCount)
      guard bytes.count + end - start + 8 <= limit else { return false }
      put(start, &bytes)
      put(end - start, &bytes)
      unsafe bytes += UnsafeRawBufferPointer(start: page + start, count: end - start)
    }
    return true
  }

  private static let wordByteCount = 8
  private static let blockByteCount = 256

  /// Whether the word at `position` is the same in both, or what there is of it at the end.
  @inline(__always) private static func isSame(
    _ page: UnsafeRawPointer, _ former: UnsafeRawPointer, _ position: Int, _ byteCount: Int
  ) -> Bool {
    if position + wordByteCount <= byteCount {
      return unsafe page.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        == former.loadUnaligned(fromByteOffset: position, as: UInt64.self)
    }
    return (position..<byteCount).allSatisfy {
      unsafe page.load(fromByteOffset: $0, as: UInt8.self)
        == former.load(fromByteOffset: $0, as: UInt8.self)
    }
  }
}
