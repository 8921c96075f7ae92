/// Changes a ``KeyTree`` within a write transaction.
///
/// Reads see every change at once, through ``tree``. Pages are copied when they are first changed;
/// older versions keep theirs. Belongs to the transaction's one user. After an error the tree may be
/// read, but the transaction must be rolled back.
///
/// The editor remembers the path to the leaf it changed last, so that changes close to one another,
/// ascending loads above all, skip the way down.
///
/// Pointers: keys and values belong to the caller for the length of a call. A node is read while its
/// page is kept, by its owner or the pin or, if it is dirty, by the context. What a dirty reference
/// names is a `KeyPage`, because only the editor of a tree puts such into it and checked pages have
/// none. Each step of `path` has a page once the path is dirty.
public final class KeyTreeEditor {
  /// Sizes that tests make small.
  struct Limits {
    /// How large a leaf may become before it is split, in bytes.
    ///
    /// Half or twice as much reads no faster; smaller leaves make higher trees, larger ones dearer
    /// small commits.
    var leafByteCount = 8192
    /// How large a branch may become before it is split, in bytes: about 80 children.
    var branchByteCount = 4096
    /// How many dirty bytes a copy of a whole tree holds before it writes them.
    var spillByteCount = 32 << 20
  }

  /// One node on the way to a leaf.
  struct Step {
    /// The node; stored or dirty.
    var reference: PageReference
    /// Which child the way goes on to; in a leaf without meaning.
    var index: Int
    /// The node's page if it is dirty.
    var page: KeyPage?
  }

  let context: WriteContext
  let limits: Limits
  /// Looks at each stored leaf before its entries are copied to one in memory.
  var checkStored: ((KeyNode) throws(StoreError) -> Void)?
  // Exclusivity is not checked: the editor has one user, and no access to these calls out.
  @exclusivity(unchecked) var root: TreeRoot
  /// From the root to the leaf of the last change.
  @exclusivity(unchecked) var path: [Step] = []
  /// Whether ``path`` is whole, dirty and current.
  @exclusivity(unchecked) var isWarm = false
  /// Whether the leaf of ``path`` is the first or last of the tree.
  @exclusivity(unchecked) var isFirstLeaf = false
  @exclusivity(unchecked) var isLastLeaf = false
  private(set) lazy var leafEntries = KeyEntryList(isLeaf: true)
  private(set) lazy var branchEntries = KeyEntryList(isLeaf: false)

  /// Edits the tree at `root` in the transaction of `context`.
  public convenience init(root: TreeRoot, context: WriteContext) {
    self.init(root: root, context: context, limits: Limits())
  }

  init(root: TreeRoot, context: WriteContext, limits: Limits) {
    unsafe self.root = root
    self.context = context
    self.limits = limits
  }

  /// The tree with all changes so far; valid until the next change.
  public var tree: KeyTree { unsafe KeyTree(root: root, source: context.source) }

  /// How many keys the tree holds.
  public var count: Int { unsafe root.count }

  // MARK: Pages

  /// The dirty page named by `reference`.
  func page(_ reference: PageReference) -> KeyPage {
    unsafe unsafeDowncast(context.dirty[reference.dirtyIndex], to: KeyPage.self)
  }

  /// The same if it is this transaction's own; nil if it belongs to a published version.
  private func ownPage(_ reference: PageReference) -> KeyPage? {
    context.dirty.own(at: reference.dirtyIndex).map { unsafe unsafeDowncast($0, to: KeyPage.self) }
  }

  func limit(_ kind: PageKind) -> Int {
    kind == .keyLeaf ? limits.leafByteCount : limits.branchByteCount
  }

  func entries(_ kind: PageKind) -> KeyEntryList {
    kind == .keyLeaf ? leafEntries : branchEntries
  }

  /// A new dirty page, and its name.
  func makePage(_ kind: PageKind) -> (KeyPage, PageReference) {
    let page = KeyPage(kind: kind, capacity: limit(kind))
    return (page, context.dirty.insert(page))
  }

  /// The kind of the nodes on level `level` of ``path``.
  func kind(_ level: Int) -> PageKind {
    unsafe level == Int(root.height) - 1 ? .keyLeaf : .keyBranch
  }

  /// The stored page named by `reference`, to copy its entries.
  func storedPage(_ reference: PageReference, _ kind: PageKind) throws(StoreError) -> Page {
    let page = try context.source.page(reference, kind)
    if kind == .keyLeaf, let checkStored { try checkStored(KeyNode(page)) }
    return page
  }

  // MARK: Path

  /// Goes down to the leaf where `key` belongs and notes the path.
  func descend(_ key: UnsafeRawBufferPointer) throws(StoreError) -> (index: Int, isFound: Bool) {
    unsafe isWarm = false
    unsafe path.removeAll(keepingCapacity: true)
    unsafe isFirstLeaf = true
    unsafe isLastLeaf = true
    var reference = unsafe root.reference
    var level = 1
    while true {
      let isLeaf = unsafe level == Int(root.height)
      let dirty = reference.isDirty ? ownPage(reference) : nil
      let node: KeyNode
      if let dirty {
        node = dirty.node
      } else {
        // The store's pages stay while the transaction pins them; cached ones until the next read.
        let page = try context.source.page(reference, isLeaf ? .keyLeaf : .keyBranch)
        let found = withExtendedLifetime(page) {
          unsafe visit(KeyNode(page), key, isLeaf, reference, nil)
        }
        if isLeaf { return (found.index, found.isFound) }
        reference = found.child
        level += 1
        continue
      }
      let found = unsafe visit(node, key, isLeaf, reference, dirty)
      if isLeaf { return (found.index, found.isFound) }
      reference = found.child
      level += 1
    }
  }

  private func visit(
    _ node: KeyNode, _ key: UnsafeRawBufferPointer, _ isLeaf: Bool, _ reference: PageReference,
    _ page: KeyPage?
  ) -> (index: Int, isFound: Bool, child: PageReference) {
    if isLeaf {
      unsafe path.append(Step(reference: reference, index: 0, page: page))
      let (index, isFound) = unsafe node.search(key, from: 0, header: KeyNode.leafCellHeader)
      return (index, isFound, .none)
    }
    let index = unsafe node.childIndex(key)
    unsafe path.append(Step(reference: reference, index: index, page: page))
    if index > 0 { unsafe isFirstLeaf = false }
    if index < node.count - 1 { unsafe isLastLeaf = false }
    return (index, false, node.child(index))
  }

  /// The place of `key` in the leaf of the last change, if it surely belongs there.
  @inline(__always)
  func warmPosition(_ key: UnsafeRawBufferPointer) -> (index: Int, isFound: Bool)? {
    guard unsafe isWarm, let leaf = unsafe path.last?.page else { return nil }
    let node = leaf.node
    let count = node.count
    guard count > 0 else { return nil }
    let last = unsafe node.order(count - 1, header: KeyNode.leafCellHeader, key)
    if last < 0 { return unsafe isLastLeaf ? (count, false) : nil }
    if last == 0 { return (count - 1, true) }
    let place = unsafe node.search(key, from: 0, header: KeyNode.leafCellHeader)
    return unsafe place.index > 0 || place.isFound || isFirstLeaf ? place : nil
  }

  /// Makes every node of ``path`` dirty, from the root down.
  func makePathDirty() throws(StoreError) {
    if unsafe isWarm { return }
    for level in unsafe path.indices where unsafe path[level].page == nil {
      let kind = kind(level)
      let stored = unsafe path[level].reference
      if stored.isDirty {
        // Of a published version: its copy has the same name.
        unsafe path[level].page = page(stored)
        continue
      }
      let source = try storedPage(stored, kind)
      let node = KeyNode(source)
      let room = node.end * 4 >= limit(kind) ? limit(kind) : node.end * 4
      let page = KeyPage(copying: node, kind: kind, capacity: room)
      unsafe page.origin = stored
      withExtendedLifetime(source) {}
      let reference = context.dirty.insert(page)
      if level == 0 {
        unsafe root.reference = reference
      } else {
        unsafe path[level - 1].page.unsafelyUnwrapped.setChild(path[level - 1].index, reference)
      }
      unsafe path[level].reference = reference
      unsafe path[level].page = page
      context.free(stored)
    }
    unsafe isWarm = true
  }

  /// Adds `change` to the row counts on the whole ``path``, which must be dirty.
  @inline(__always)
  func changeRowCount(by change: Int) {
    // Counts of a damaged tree may be anything; they must not trap.
    unsafe root.rowCount &+= UInt64(bitPattern: Int64(change))
    for level in unsafe 0..<path.count - 1 {
      let page = unsafe path[level].page.unsafelyUnwrapped
      let index = unsafe path[level].index
      page.setRowCount(index, max(0, page.node.childRowCount(index) + change))
    }
  }
}
