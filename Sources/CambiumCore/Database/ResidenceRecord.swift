/// What a small commit has changed of the pages in memory, for other processes.
///
/// Numbers are little-endian:
///
///      0      40        44         48
///     | root | changes | given up |
///
/// A change: the page's number (32 bits), its kind and form (8 each), two zero bytes, how many bytes the page has
/// and how many follow (32 each). A removed page has none; a whole one all of them; of a page that was patched
/// there follow the pieces that make it of what it was (``PageDelta``); of a patched copy of a stored page first its
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

  /// How many bytes the stored form takes at most.
  package var byteLimit: Int {
    let changed = changes.reduce(0) { sum, change in
      unsafe sum + Self.changeByteCount + PageReference.byteCount + (change.page?.byteCount ?? 0)
    }
    return Self.headerByteCount + changed + freed.count * PageReference.byteCount
  }

  /// Appends the stored form.
  package func write(to bytes: inout OutputRawSpan) {
    unsafe Self.append(TreeRoot.byteCount, &bytes) { unsafe root.store(to: $0) }
    bytes.append(changes.count)
    bytes.append(freed.count)
    for change in changes { put(change, &bytes) }
    for reference in freed { Self.put(reference, &bytes) }
  }

  private func put(_ change: DirtyPages.Change, _ bytes: inout OutputRawSpan) {
    bytes.append(change.index)
    let start = bytes.byteCount
    unsafe bytes.append(repeating: 0, count: Self.changeByteCount - 4, as: UInt8.self)
    guard let page = change.page else { return }
    let data = bytes.byteCount
    let pageByteCount = unsafe page.byteCount
    let patch = putPatch(page, change.former, &bytes)
    if patch == nil {
      bytes.removeLast(bytes.byteCount - data)
      unsafe bytes.append(copying: UnsafeRawBufferPointer(start: page.bytes, count: pageByteCount))
    }
    bytes.store(page.kind.rawValue, at: start)
    bytes.store((patch ?? .whole).rawValue, at: start + 1)
    bytes.store(UInt32(pageByteCount), at: start + 4)
    bytes.store(UInt32(bytes.byteCount - data), at: start + 8)
  }

  /// Appends how a page differs from what it was; nil where that is not known, or it is another one.
  private func putPatch(
    _ page: DirtyPage, _ former: DirtyPage?, _ bytes: inout OutputRawSpan
  ) -> Form? {
    let new = unsafe UnsafeRawBufferPointer(start: page.bytes, count: page.byteCount)
    if let former {
      guard former.kind == page.kind else { return nil }
      let old = unsafe UnsafeRawBufferPointer(start: former.bytes, count: former.byteCount)
      return unsafe PageDelta.append(of: new, from: old, shift: Self.shift(page, old), to: &bytes)
        ? .patched : nil
    }
    let origin = unsafe page.origin
    guard !origin.isNone, let stored = try? source.page(origin, page.kind) else { return nil }
    defer { withExtendedLifetime(stored) {} }
    Self.put(origin, &bytes)
    let old = unsafe UnsafeRawBufferPointer(start: stored.bytes, count: stored.byteCount)
    return unsafe PageDelta.append(of: new, from: old, shift: Self.shift(page, old), to: &bytes)
      ? .patchedCopy : nil
  }

  /// How far bytes behind a change have moved: the entries of a node of keys end at its end.
  private static func shift(_ page: DirtyPage, _ former: UnsafeRawBufferPointer) -> Int {
    guard let node = page as? KeyPage, let start = former.baseAddress else { return 0 }
    return unsafe KeyNode(start, byteCount: former.count).end - node.end
  }

  private static func put(_ reference: PageReference, _ bytes: inout OutputRawSpan) {
    unsafe append(PageReference.byteCount, &bytes) { unsafe reference.store(to: $0) }
  }

  /// Appends `byteCount` bytes that `store` writes.
  @inline(__always) private static func append(
    _ byteCount: Int, _ bytes: inout OutputRawSpan, store: (UnsafeMutableRawPointer) -> Void
  ) {
    unsafe withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { form in
      if let start = form.baseAddress { unsafe store(start) }
      unsafe bytes.append(copying: UnsafeRawBufferPointer(form))
    }
  }
}
