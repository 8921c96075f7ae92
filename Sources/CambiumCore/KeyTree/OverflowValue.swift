/// A value too large for its leaf, in pages of its own.
///
/// A value of up to one chunk is one page. A longer one is a tree of fixed shape: its pages are full
/// lists of references, the lowest of which name the chunks in order; only the last page of a level
/// is shorter. Length alone tells how high the tree is, and checksums guard it all the way down.
///
/// Stored form, 32 bytes, little-endian:
///
///      0            8
///     | byte count | page reference 24 |
///
/// Pointers: whoever has a stored form read or written vouches for `storedByteCount` bytes there. A
/// value belongs to the caller for the length of a call; lists belong to the call. That a page is as
/// long as its piece or list is checked before it is read.
@frozen public struct OverflowValue: Hashable, Sendable, BitwiseCopyable {
  /// How long the value is, in bytes; never 0.
  public var byteCount: UInt64
  /// The only chunk, or the top list.
  public var reference: PageReference

  /// The size of the stored form.
  public static let storedByteCount = 32
  /// Where the reference begins in the stored form.
  static let referenceOffset = 8
  /// The longest piece of a value in one page, in bytes.
  public static let chunkByteCount = 256 << 10
  /// How many references one list holds.
  public static let fanOut = chunkByteCount / PageReference.byteCount
  /// The longest value the format can hold, in bytes.
  public static let maximumByteCount = 1 << 46

  init(byteCount: UInt64, reference: PageReference) {
    self.byteCount = byteCount
    self.reference = reference
  }

  /// Reads the stored form at `pointer`; any alignment.
  package init(loadingFrom pointer: UnsafeRawPointer) {
    byteCount = unsafe UInt64(littleEndian: pointer.loadUnaligned(as: UInt64.self))
    reference = unsafe PageReference(loadingFrom: pointer + 8)
  }

  /// Writes the stored form at `pointer`; any alignment.
  package func store(to pointer: UnsafeMutableRawPointer) {
    unsafe pointer.storeBytes(of: byteCount.littleEndian, as: UInt64.self)
    unsafe reference.store(to: pointer + 8)
  }

  /// Whether the fields can belong to a stored value.
  public var isWellFormed: Bool {
    byteCount > 0 && byteCount <= UInt64(Self.maximumByteCount) && !reference.isNone
      && !reference.isDirty && reference.rawKind == PageKind.overflow.rawValue
  }

  /// How many bytes of the value a page `height` levels above the chunks covers.
  static func coverage(_ height: Int) -> Int {
    (0..<height).reduce(chunkByteCount) { coverage, _ in coverage * fanOut }
  }

  /// How many levels of lists lie above the chunks of `byteCount` bytes.
  static func height(_ byteCount: Int) -> Int {
    var height = 0
    while coverage(height) < byteCount { height += 1 }
    return height
  }
}

extension OverflowValue {
  /// Writes `bytes` into pages of the running transaction.
  ///
  /// `bytes` must not be empty.
  ///
  /// Throws ``StoreError/tooLarge(what:byteCount:limit:)`` past ``maximumByteCount``. If it throws,
  /// pages already written return with the transaction's rollback.
  package static func write(
    _ bytes: UnsafeRawBufferPointer, to context: WriteContext
  ) throws(StoreError) -> OverflowValue {
    unsafe precondition(!bytes.isEmpty, "An empty value needs no overflow page; store it inline.")
    guard bytes.count <= maximumByteCount else {
      throw .tooLarge(what: "A value", byteCount: bytes.count, limit: maximumByteCount)
    }
    let reference = try unsafe write(bytes, height: height(bytes.count), to: context)
    return OverflowValue(byteCount: UInt64(bytes.count), reference: reference)
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, height: Int, to context: WriteContext
  ) throws(StoreError) -> PageReference {
    if height == 0 { return try unsafe context.write(bytes, kind: .overflow) }
    let step = coverage(height - 1)
    let count = (bytes.count + step - 1) / step
    let list = UnsafeMutableRawBufferPointer.allocate(
      byteCount: count * PageReference.byteCount, alignment: 8)
    defer { unsafe list.deallocate() }
    for index in 0..<count {
      let piece = unsafe bytes[index * step..<min(bytes.count, (index + 1) * step)]
      let child = try unsafe write(
        UnsafeRawBufferPointer(rebasing: piece), height: height - 1, to: context)
      unsafe child.store(to: list.baseAddress.unsafelyUnwrapped + index * PageReference.byteCount)
    }
    return try unsafe context.write(UnsafeRawBufferPointer(list), kind: .overflow)
  }

  /// The whole value.
  public func read(from source: PageSource) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    // A damaged length must not reserve the machine's memory.
    bytes.reserveCapacity(min(Int(clamping: byteCount), 16 << 20))
    try unsafe forEachChunk(in: source) { chunk throws(StoreError) in
      unsafe bytes.append(contentsOf: chunk)
    }
    return bytes
  }

  /// Calls `body` with the value's pieces in order; each is valid during the call.
  public func forEachChunk(
    in source: PageSource, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try forEachPage(in: source, readsChunks: true) { reference, chunkByteCount throws(StoreError) in
      guard let chunkByteCount else { return }
      let page = try Self.page(reference, atLeast: chunkByteCount, in: source)
      defer { withExtendedLifetime(page) {} }
      try unsafe body(UnsafeRawBufferPointer(start: page.bytes, count: chunkByteCount))
    }
  }

  /// Calls `body` with the first piece of the value, which is the whole value where that fits into one page.
  func withFirstChunk<Result>(
    in source: PageSource, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard isWellFormed else {
      throw .damaged(Damage(.encoding, at: reference, "the form of an overflow value"))
    }
    var reference = reference
    for _ in 0..<Self.height(Int(byteCount)) {
      let list = try Self.page(reference, atLeast: PageReference.byteCount, in: source)
      defer { withExtendedLifetime(list) {} }
      reference = unsafe PageReference(loadingFrom: list.bytes)
      try Self.checkKind(reference)
    }
    let count = min(Int(byteCount), Self.chunkByteCount)
    let page = try Self.page(reference, atLeast: count, in: source)
    defer { withExtendedLifetime(page) {} }
    return try unsafe body(UnsafeRawBufferPointer(start: page.bytes, count: count))
  }

  /// Gives all pages of the value back to the store.
  ///
  /// Lists are read, chunks are not. If it throws, nothing was given back.
  public func free(in context: WriteContext) throws(StoreError) {
    try Self.free([self], in: context)
  }

  /// Gives all pages of several values back; if it throws, none were.
  static func free(_ values: [OverflowValue], in context: WriteContext) throws(StoreError) {
    var references: [PageReference] = []
    for value in values {
      try value.forEachPage(in: context.source) { reference, _ throws(StoreError) in
        references.append(reference)
      }
    }
    // A damaged length turns a chunk into a list of anything; no page may be freed twice.
    guard Set(references.map(\.address)).count == references.count else {
      throw .damaged(
        Damage(.reference, at: references.first, "overflow values name a page twice"))
    }
    for reference in references { context.free(reference) }
  }

  /// Calls `body` with every page of the value, children before parents: the reference, and for a
  /// chunk its length in bytes.
  ///
  /// Lists are read, chunks are not; `readsChunks` says that `body` does.
  public func forEachPage(
    in source: PageSource, readsChunks: Bool = false,
    _ body: (PageReference, Int?) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard isWellFormed else {
      throw .damaged(Damage(.encoding, at: reference, "the form of an overflow value"))
    }
    let byteCount = Int(byteCount)
    let height = Self.height(byteCount)
    if height == 0 {
      try Self.checkKind(reference)
      return try body(reference, byteCount)
    }
    var pages: [(reference: PageReference, chunkByteCount: Int?)] = []
    try Self.collect(reference, byteCount: byteCount, height: height, in: source, into: &pages)
    try Self.checkDistinct(pages.map(\.reference))
    var ahead = ReadAhead(source, toEnd: true)
    for (index, page) in pages.enumerated() {
      if readsChunks { ahead.step(to: index, of: pages.count) { pages[$0].reference } }
      try body(page.reference, page.chunkByteCount)
    }
  }

  /// Adds the pages below `reference`, and itself, to `pages`, children first.
  ///
  /// The children of one list share no bytes, so that the lists of a level never have more entries
  /// than the store has room for, whatever length a crafted value claims.
  private static func collect(
    _ reference: PageReference, byteCount: Int, height: Int, in source: PageSource,
    into pages: inout [(reference: PageReference, chunkByteCount: Int?)]
  ) throws(StoreError) {
    try checkKind(reference)
    if height == 0 { return pages.append((reference, byteCount)) }
    let step = coverage(height - 1)
    let count = (byteCount + step - 1) / step
    let list = try page(reference, atLeast: count * PageReference.byteCount, in: source)
    let children = (0..<count).map {
      unsafe PageReference(loadingFrom: list.bytes + $0 * PageReference.byteCount)
    }
    try checkDistinct(children)
    var ahead = ReadAhead(source, toEnd: true)
    for (index, child) in children.enumerated() {
      if height > 1 { ahead.step(to: index, of: children.count) { children[$0] } }
      let length = min(step, byteCount - index * step)
      try collect(child, byteCount: length, height: height - 1, in: source, into: &pages)
    }
    pages.append((reference, nil))
  }

  private static func checkKind(_ reference: PageReference) throws(StoreError) {
    guard reference.rawKind == PageKind.overflow.rawValue, !reference.isDirty else {
      throw .damaged(Damage(.kind, at: reference, "a piece of a value is no overflow page"))
    }
  }

  /// Refuses references to pages that share bytes: a few of them would stand for any length.
  private static func checkDistinct(_ references: [PageReference]) throws(StoreError) {
    let isAscending = zip(references, references.dropFirst())
      .allSatisfy { $0.extent.end <= $1.extent.address }
    if isAscending { return }
    let order = references.sorted { $0.extent.address < $1.extent.address }
    for (left, right) in zip(order, order.dropFirst())
    where left.extent.end > right.extent.address {
      throw .damaged(
        Damage(.reference, at: right, "two pieces of a value lie in the same place"))
    }
  }

  /// Reads a chunk and checks that it is as long as it should be.
  func check(
    _ chunk: PageReference, _ byteCount: Int, in source: PageSource
  ) throws(StoreError) {
    _ = try Self.page(chunk, atLeast: byteCount, in: source)
  }

  private static func page(
    _ reference: PageReference, atLeast byteCount: Int, in source: PageSource
  ) throws(StoreError) -> Page {
    let page = try source.page(reference, .overflow)
    guard page.byteCount >= byteCount else {
      throw .damaged(Damage(.bounds, at: reference, "an overflow page is shorter than its piece"))
    }
    return page
  }
}
