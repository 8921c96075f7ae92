import CPlatform

/// Reads pages of one version: checked at first touch, trusted afterwards.
///
/// For a mapped store without codec a read of a trusted page is an addition and a compare. All other
/// pages come through the database's cache. In a write transaction the source also finds the
/// transaction's own dirty pages, so that every reading algorithm works on uncommitted data as it is.
///
/// Not `Sendable`, and so no tree is: what a write transaction reads changes with it, and belongs to its
/// user. The source of a ``Snapshot`` never changes; the snapshot gives it to any thread.
///
/// Pointers: `base` is memory that the store lends for as long as the pin, which the source holds
/// until its transaction ends. Only pages that lie within `readableByteCount` are given out from
/// there; all others have an owner, are held as long as the source, or are dirty ones of the
/// transaction.
@safe public final class PageSource {
  // Exclusivity is not checked: it changes once, when the transaction ends, whose one user does that.
  @exclusivity(unchecked) @usableFromInline private(set) final var base: UnsafeRawPointer?
  @usableFromInline let readableByteCount: Int
  @usableFromInline let trust: TrustTable
  /// What the version has in memory.
  private let resident: ResidentPages?
  let store: any PageStore
  let codec: (any PageCodec)?
  let cache: PageCache
  /// Where pages are decoded: those that stay for as long as this source.
  private let held: HeldPages?
  /// Keeps the version readable.
  private(set) var pin: Pin?
  /// The running transaction's own pages.
  private(set) var dirty: DirtyPages?
  #if DEBUG
    @usableFromInline let lease = PageLease.begin()

    deinit { lease.end() }
  #endif

  /// Reads the version that `pin` holds.
  public init(
    pin: Pin, store: any PageStore, codec: (any PageCodec)?, trust: TrustTable, cache: PageCache
  ) {
    self.pin = pin
    self.store = store
    self.codec = codec
    self.trust = trust
    self.cache = cache
    unsafe base = unsafe codec == nil ? pin.base : nil
    resident = pin.head.residence?.pages
    held = unsafe base == nil ? cache.heldPages() : nil
    readableByteCount = pin.readableByteCount
  }

  /// Makes this the source of a transaction, whose own pages are `dirty`.
  func begin(_ dirty: DirtyPages) { self.dirty = dirty }

  /// Ends the source of a transaction: lets its version go.
  ///
  /// Reading through it is misuse from now on.
  func end() {
    unsafe base = nil
    pin = nil
    dirty = nil
    #if DEBUG
      lease.end()
    #endif
  }

  /// The page at `reference`, checked to be a whole page of `kind`.
  ///
  /// Throws ``StoreError/damaged(_:)`` when the bytes break the format or their checksum.
  @inlinable @inline(__always)
  public func page(_ reference: PageReference, _ kind: PageKind) throws(StoreError) -> Page {
    if let base = unsafe base, trust.contains(reference), reference.rawKind == kind.rawValue,
      reference.byteOffset &+ reference.byteCount <= readableByteCount
    {
      return unsafe Page(
        bytes: base + reference.byteOffset, byteCount: reference.byteCount, owner: nil
      ).lent(by: self)
    }
    return try untrustedPage(reference, kind).lent(by: self)
  }

  /// The page at `reference`; nil when it is damaged.
  ///
  /// For who would only tidy up beside what was changed: a damaged neighbour is no reason to refuse that.
  func soundPage(_ reference: PageReference, _ kind: PageKind) throws(StoreError) -> Page? {
    do throws(StoreError) { return try page(reference, kind) } catch .damaged { return nil }
  }

  /// Whether pages come through the cache, and stay there.
  var usesCache: Bool { unsafe base == nil && cache.keepsPages }

  /// Whether the page at `reference` is in memory already.
  func isHere(_ reference: PageReference) -> Bool {
    held?.page(reference) != nil || cache.contains(reference)
  }

  /// Whether a new source would find room for pages that this one reads again and again.
  var isOutworn: Bool { held?.isOutworn ?? false }

  /// Hints that all of a page will be read next, if it is mapped.
  func prefetch(_ reference: PageReference) {
    guard let base = unsafe base, !reference.isDirty,
      reference.byteOffset &+ reference.byteCount <= readableByteCount
    else { return }
    var line = unsafe base + reference.byteOffset
    let end = unsafe line + reference.byteCount
    while unsafe line < end {
      unsafe cambium_prefetch(line)
      unsafe line += 64
    }
  }

  /// The page at `reference`, wherever it is; the slow half of ``page(_:_:)``.
  @usableFromInline
  func untrustedPage(_ reference: PageReference, _ kind: PageKind) throws(StoreError) -> Page {
    guard let pin else {
      preconditionFailure("The transaction has ended; read through the snapshot it returned.")
    }
    if reference.isDirty { return try unstoredPage(reference, kind) }
    if let held, reference.rawKind == kind.rawValue, let page = held.page(reference) { return page }
    guard reference.rawKind == kind.rawValue else {
      throw .damaged(
        Damage(.kind, at: reference, "expected \(kind), found kind \(reference.rawKind)"))
    }
    guard reference.unitCount > 0, !reference.isNone else {
      throw .damaged(Damage(.reference, at: reference, "an empty reference"))
    }
    // Pages of a running write may not have reached the memory that the pin lends.
    if codec == nil, let base = unsafe base, reference.born <= pin.head.version,
      reference.byteOffset <= readableByteCount,
      reference.byteCount <= readableByteCount - reference.byteOffset
    {
      let page = unsafe Page(
        bytes: base + reference.byteOffset, byteCount: reference.byteCount, owner: nil)
      try check(page, reference, kind)
      trust.insert(reference)
      return page
    }
    let buffer: PageBuffer
    let isBranch = kind == .columnBranch || kind == .keyBranch
    var isHot = isBranch
    if let known = cache.page(reference) {
      buffer = known
      isHot = true
    } else {
      buffer = try load(reference, kind, pin)
      cache.insert(buffer, for: reference)
    }
    if isHot { held?.insert(buffer, for: reference, isBranch: isBranch) }
    return buffer.page
  }

  /// A page of the transaction, or of a version whose newest pages lie in memory.
  private func unstoredPage(
    _ reference: PageReference, _ kind: PageKind
  ) throws(StoreError) -> Page {
    guard reference.rawKind == kind.rawValue else {
      throw .damaged(Damage(.kind, "expected \(kind), found kind \(reference.rawKind)"))
    }
    if let dirty, let page = try dirty.page(at: reference.dirtyIndex, kind) { return page }
    guard dirty == nil, let page = resident?.page(at: reference.dirtyIndex, kind) else {
      throw .damaged(Damage(.reference, "a stored page refers to a page that was never stored"))
    }
    return page
  }

  /// Whether the roots of trees may be pages that are not stored.
  var mayHaveUnstoredRoots: Bool { unsafe dirty?.isResident ?? (resident != nil) }

  /// Whether what hangs from `reference` is surely the same here and in `other`.
  ///
  /// A page in memory keeps its number when it is changed, and so do those above it.
  func isSame(_ reference: PageReference, in other: PageSource) -> Bool {
    if !reference.isDirty || self === other { return true }
    guard dirty == nil, other.dirty == nil, let mine = resident, let theirs = other.resident else {
      return false
    }
    if mine === theirs { return true }
    guard let kind = PageKind(rawValue: reference.rawKind), kind == .columnLeaf || kind == .keyLeaf
    else { return false }
    return mine.isSame(reference.dirtyIndex, kind, as: theirs)
  }

  private func load(
    _ reference: PageReference, _ kind: PageKind, _ pin: Pin
  ) throws(StoreError) -> PageBuffer {
    let stored = try store.read(reference, at: pin)
    defer { withExtendedLifetime(stored) {} }
    guard stored.byteCount >= reference.byteCount else {
      throw .damaged(Damage(.reference, at: reference, "the store returned too few bytes"))
    }
    guard let codec else {
      let buffer: PageBuffer
      if let owned = stored.owner as? PageBuffer, owned.byteCount == reference.byteCount {
        buffer = owned
      } else {
        let body = unsafe UnsafeRawBufferPointer(start: stored.bytes, count: reference.byteCount)
        buffer = unsafe PageBuffer(copying: Span(_unsafeBytes: body))
      }
      try check(buffer.page, reference, kind)
      return buffer
    }
    try checkSum(stored, reference)
    let start = DatabaseEvents.now
    let identity = store.identity
    let context = PageContext(
      kind, at: reference.address, born: reference.born, in: identity.uuid)
    let body = unsafe UnsafeRawBufferPointer(start: stored.bytes, count: reference.byteCount)
    let buffer = try unsafe codec.open(Span(_unsafeBytes: body), context: context)
    try PageValidator.validate(buffer.page, reference, kind)
    DatabaseEvents.tell(since: start, identity.path) {
      .pageDecoded(byteCount: buffer.byteCount, nanoseconds: $0)
    }
    return buffer
  }

  private func check(
    _ page: Page, _ reference: PageReference, _ kind: PageKind
  ) throws(StoreError) {
    try checkSum(page, reference)
    try PageValidator.validate(page, reference, kind)
  }

  private func checkSum(_ page: Page, _ reference: PageReference) throws(StoreError) {
    guard unsafe Checksum.hash(page.bytes, reference.byteCount) == reference.checksum else {
      throw .damaged(Damage(.checksum, at: reference, "the bytes do not match their checksum"))
    }
  }
}
