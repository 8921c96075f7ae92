/// Makes of the records of small commits what their versions have in memory, in another process.
///
/// Nothing of a record is believed: its lengths are held against its end, every page that comes of it against the
/// rules of its kind, and what pages in memory refer to against what is there.
///
/// Pointers: pages are read and written within the bytes of their arrays.
package struct ResidenceReplay {
  /// What hangs from the last record's root.
  private(set) package var root: TreeRoot
  private let base: Residence?
  /// Reads a stored page, whose checksum it checks, as it was before it went through a codec.
  private let read: (PageReference, PageKind) throws(StoreError) -> [UInt8]
  private var changed: [Int: Replayed?] = [:]
  private var freed: [PageReference] = []

  private struct Replayed {
    var kind: PageKind
    var bytes: [UInt8]
  }

  /// How many bytes ``changed`` has.
  private var changedByteCount = 0

  /// No honest version has more pages in memory, or more bytes of them.
  private static let pageLimit = 1 << 16
  private static let byteLimit = 2 * WriteContext.residentByteLimit
  /// How many more bytes of stored pages may be opened, which may take a codec long.
  private var openedBytesLeft = 8 * byteLimit

  /// Begins with what a version has that hangs from `root`; `read` gives a stored page that was held against its
  /// checksum, as it was before it went through a codec.
  package init(
    onto base: Residence?, root: TreeRoot,
    read: @escaping (PageReference, PageKind) throws(StoreError) -> [UInt8]
  ) {
    self.base = base
    self.read = read
    self.root = root
  }

  /// Applies the record of the next version; throws ``StoreError/damaged(_:)`` when it is none.
  package mutating func apply(_ record: [UInt8]) throws(StoreError) {
    var reader = ByteReader(record)
    guard let root = reader.get(count: TreeRoot.byteCount).flatMap(Self.root), root.kind == .key,
      let changeCount = reader.get(UInt32.self), let freedCount = reader.get(UInt32.self)
    else { throw Self.damaged("its header") }
    for _ in 0..<changeCount { try applyChange(&reader) }
    for _ in 0..<freedCount {
      guard let reference = reader.get(count: PageReference.byteCount).map(Self.reference),
        !reference.isDirty, !reference.isNone, reference.unitCount > 0
      else { throw Self.damaged("what it gives up") }
      freed.append(reference)
    }
    self.root = root
  }

  private static func root(_ bytes: [UInt8]) -> TreeRoot? {
    unsafe bytes.withUnsafeBytes { unsafe TreeRoot(loadingFrom: $0, mayBeUnstored: true) }
  }

  private static func damaged(_ detail: String) -> StoreError {
    .damaged(Damage(.encoding, "the record of a small commit: \(detail)"))
  }

  private mutating func applyChange(_ reader: inout ByteReader) throws(StoreError) {
    guard let index = reader.get(UInt32.self).map(Int.init), index < Self.pageLimit,
      let rawKind = reader.get(UInt8.self),
      let form = reader.get(UInt8.self).flatMap(ResidenceRecord.Form.init), reader.skipZeros(2),
      let pageByteCount = reader.get(UInt32.self).map(Int.init),
      let data = reader.get(UInt32.self).flatMap({ reader.get(count: Int($0)) })
    else { throw Self.damaged("a change") }
    guard form != .removed else { return try note(nil, index) }
    guard let kind = PageKind(rawValue: rawKind), kind != .overflow else {
      throw Self.damaged("page \(index) is of kind \(rawKind)")
    }
    guard form != .whole else {
      guard data.count == pageByteCount, !data.isEmpty else {
        throw Self.damaged("the length of page \(index)")
      }
      return try note(Replayed(kind: kind, bytes: data), index)
    }
    var (delta, former) = (data, page(index))
    if form == .patchedCopy {
      var pieces = ByteReader(data)
      former = try storedPage(kind, &pieces)
      delta = pieces.rest()
    }
    guard let former, former.kind == kind, pageByteCount <= Self.byteLimit,
      let bytes = PageDelta.page(delta, of: former.bytes, byteCount: pageByteCount)
    else { throw Self.damaged("page \(index) is not made of the one that was patched") }
    try note(Replayed(kind: kind, bytes: bytes), index)
  }

  /// Notes what has become of the page with that number; nil where it was removed.
  private mutating func note(_ page: Replayed?, _ index: Int) throws(StoreError) {
    if case .some(.some(let former)) = changed[index] { changedByteCount -= former.bytes.count }
    changedByteCount += page?.bytes.count ?? 0
    guard changedByteCount <= Self.byteLimit else {
      throw Self.damaged("more than fits into memory")
    }
    changed[index] = .some(page)
  }

  /// The stored page that is named next; nil where that is none.
  private mutating func storedPage(
    _ kind: PageKind, _ reader: inout ByteReader
  ) throws(StoreError) -> Replayed? {
    guard let reference = reader.get(count: PageReference.byteCount).map(Self.reference),
      !reference.isDirty, !reference.isNone, reference.rawKind == kind.rawValue
    else { return nil }
    guard openedBytesLeft > 0 else { throw Self.damaged("how many stored pages it patches") }
    let bytes = try read(reference, kind)
    openedBytesLeft -= bytes.count
    return Replayed(kind: kind, bytes: bytes)
  }

  private static func reference(_ bytes: [UInt8]) -> PageReference {
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe bytes.baseAddress.map { unsafe PageReference(loadingFrom: $0) } ?? .none
    }
  }

  /// The page with that number as it is so far.
  private func page(_ index: Int) -> Replayed? {
    if let page = changed[index] { return page }
    return base?.pages.dirtyPage(at: index).map { page in
      unsafe Replayed(
        kind: page.kind,
        bytes: Array(UnsafeRawBufferPointer(start: page.bytes, count: page.byteCount)))
    }
  }

  /// What the version of the last record has in memory.
  ///
  /// Throws ``StoreError/damaged(_:)`` when a page breaks a rule, or refers to one that is not there.
  package func finish() throws(StoreError) -> Residence {
    var changes: [DirtyPages.Change] = []
    for (index, page) in changed.sorted(by: { $0.key < $1.key }) {
      var restored: DirtyPage?
      if let page { restored = try Self.restored(page, index) }
      changes.append(DirtyPages.Change(index: index, page: restored))
    }
    let pages = (base?.pages ?? .none).replacing(changes)
    var links = ResidentLinks(pages: pages)
    try links.check(root, isCatalog: true)
    return Residence(
      pages: pages,
      freed: freed.isEmpty ? base?.freed : Residence.Freed(freed, before: base?.freed))
  }

  private static func restored(_ page: Replayed, _ index: Int) throws(StoreError) -> DirtyPage {
    let reference = PageReference(dirty: index, kind: page.kind)
    let buffer = PageBuffer(copying: page.bytes.span)
    defer { withExtendedLifetime(buffer) {} }
    try PageValidator.validate(buffer.page, reference, page.kind, isUnstored: true)
    let restored: DirtyPage
    switch page.kind {
    case .keyLeaf, .keyBranch: restored = KeyPage(restoring: buffer.page, kind: page.kind)
    case .columnLeaf: restored = DirtyLeaf(restoring: buffer.page)
    case .columnBranch: restored = DirtyBranch(restoring: buffer.page)
    case .overflow: throw damaged("page \(index) holds a value")
    }
    try restored.freeze()
    return restored
  }
}

/// Checks that pages in memory form trees: that each is there, is what its parent says, and has one parent.
///
/// Pointers: nodes and values lie in pages that were checked, and that `pages` keeps.
private struct ResidentLinks {
  let pages: ResidentPages
  private var seen: Set<Int> = []

  init(pages: ResidentPages) { self.pages = pages }

  mutating func check(_ root: TreeRoot, isCatalog: Bool = false) throws(StoreError) {
    if root.isEmpty { return }
    try check(root.reference, PageRole(root, isCatalog: isCatalog))
  }

  private mutating func check(
    _ reference: PageReference, _ role: PageRole
  ) throws(StoreError) {
    guard reference.isDirty else { return }
    let index = reference.dirtyIndex
    guard seen.insert(index).inserted, reference.rawKind == role.kind.rawValue,
      let page = pages.page(at: index, role.kind)
    else {
      throw .damaged(Damage(.reference, "page \(index) in memory is not what refers to it"))
    }
    if case .column(let height) = role, height > 1, ColumnBranch(page).level != height - 1 {
      throw .damaged(Damage(.height, "page \(index) in memory is of another level"))
    }
    if case .key(height: 1, isCatalog: true) = role { return try checkEntries(KeyNode(page)) }
    if role.height == 1 { return }
    var links: [PageLink] = []
    try page.forEachLink(as: role) { if $0.reference.isDirty { links.append($0) } }
    for link in links { try check(link.reference, link.role) }
  }

  /// Checks the trees that a leaf of the catalog names.
  private mutating func checkEntries(_ node: KeyNode) throws(StoreError) {
    for index in 0..<node.count {
      let value = node.storedValue(index)
      if value.isOverflow { continue }
      switch unsafe CatalogEntry(Array(value.bytes), mayHaveUnstoredRoots: true) {
      case .keyTree(let root): try check(root)
      case .table(let table): for root in table.roots { try check(root) }
      case nil: throw .damaged(Damage(.encoding, "an entry of the catalog in memory"))
      default: break
      }
    }
  }
}
