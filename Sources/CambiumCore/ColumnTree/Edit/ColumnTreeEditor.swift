/// Sizes by which an editor shapes its tree.
///
/// Every choice gives a valid tree.
public struct ColumnTreeOptions: Sendable {
  /// How many bytes a packed leaf should take.
  public var leafByteCount = 7936
  /// A leaf with fewer rows is not split for its size alone until ``leafByteLimit``.
  public var minimumRowCount = 32
  /// More rows never share a leaf.
  public var maximumRowCount = 4096
  /// A leaf larger than this sheds its largest values to overflow pages.
  public var leafByteLimit = 64 << 10
  /// Longer values never lie in a leaf.
  public var inlineByteCount = 1 << 10
  /// A transaction with more dirty bytes writes leaves as soon as appended rows have filled them.
  public var writeAheadByteCount = 1 << 20
  /// So much memory at most takes what was inserted out of order before it is sorted into the tree;
  /// 0 if each row is to go there at once.
  public var rowLogByteCount = 160 << 20
  /// How many children a branch holds.
  public var branchRoom = ColumnBranch.maximumRoom

  /// The sizes that measurements favour.
  public init() {}

  /// Whether a packed leaf is to be split.
  func isOver(byteCount: Int, rowCount: Int) -> Bool {
    rowCount > maximumRowCount || byteCount > leafByteLimit && rowCount > 1
      || byteCount > leafByteCount * 5 / 4 && rowCount >= minimumRowCount * 2
  }
}

/// Changes a ``ColumnTree`` within a write transaction.
///
/// Belongs to the transaction and its user. Only one editor may change a tree at a time. When a call
/// throws, the transaction must be rolled back.
///
/// Pointers: values are the caller's for the time of the call, one for each column, which is checked here.
/// The leaf under the finger keeps the builder, and `leaf` keeps that leaf; `nearLeaf` and `hot` change with
/// it. A dirty reference names a branch above level 0 and a leaf at it: the editor puts them there, and a
/// stored page with a dirty reference is no valid one. What is read of a clean leaf stays until the next
/// change.
@safe public final class ColumnTreeEditor {
  /// The tree's columns.
  ///
  /// Columns that leave the layout vanish as leaves are rewritten; columns that join it hold their
  /// default everywhere. The type of an id never changes.
  public var layout: ColumnLayout {
    willSet { if newValue != layout { mergeLogSilently() } }
    didSet {
      if layout != oldValue { layoutChanged() }
      unsafe columnCount = layout.columns.count
    }
  }
  // Exclusivity is not checked: an editor has one user, and no access to these calls out.
  @exclusivity(unchecked) final var columnCount: Int
  let context: WriteContext
  let options: ColumnTreeOptions
  @exclusivity(unchecked) final var root: TreeRoot
  let isPositional: Bool
  let scratch = PackScratch()
  /// Packed bytes over estimated ones in the leaf packed last.
  @exclusivity(unchecked) final var packedRatio = 1.0
  /// Where the last call ended: the next one is likely near.
  @exclusivity(unchecked) final var finger = Finger()
  /// The leaf under the finger, if it is dirty.
  @exclusivity(unchecked) final var leaf: DirtyLeaf? {
    didSet {
      unsafe nearLeaf = unsafe leaf.map { unsafe Unmanaged.passUnretained($0) }
      unsafe hot = nil
    }
  }
  /// The same, for who asks at every cell.
  @exclusivity(unchecked) private(set) final var nearLeaf: Unmanaged<DirtyLeaf>?
  /// The builder of that leaf, if it has one and is in a tree with keys; the leaf keeps it alive.
  @exclusivity(unchecked) final var hot: Unmanaged<LeafBuilder>?
  /// The leaf under the finger, if it is not.
  @exclusivity(unchecked) final var cleanLeaf: ColumnLeaf?
  /// Branches from the root to the leaf under the finger.
  @exclusivity(unchecked) final var steps: [Step] = []
  /// Builders to use again.
  @exclusivity(unchecked) final var spareBuilders: [LeafBuilder] = []
  /// Whether the log could not be merged, which nobody was told.
  @exclusivity(unchecked) private final var hasFailed = false

  /// Notes such a failure, which the context keeps.
  func fail(_ error: StoreError) {
    unsafe hasFailed = true
    context.fail(error)
  }

  /// Brings the tree up to date before something other than inserting rows: merges the log.
  ///
  /// Throws also what has failed before; what has failed elsewhere does not concern who reads this tree.
  func settleLog() throws(StoreError) {
    if unsafe log != nil { try mergeLog() }
    if unsafe hasFailed { try context.checkChanges() }
  }

  /// Rows that came out of order and are not in the tree yet, though counted in its root.
  ///
  /// While there are any, the finger is nowhere.
  @exclusivity(unchecked) final var log: RowLog?
  /// The memory of the log that the transaction's budget knows of.
  @exclusivity(unchecked) final var logByteCount = 0
  /// How many rows went to a leaf before that of the row before, and from how many on there is a log.
  @exclusivity(unchecked) final var scatterCount = 0
  @exclusivity(unchecked) final var scatterLimit = 32
  /// A leaf that was written ahead; its memory serves the next one.
  @exclusivity(unchecked) final var spareLeaf: DirtyLeaf?
  /// Where the bytes of the value read last lie: those of a leaf go, or move, when the editor is called next.
  private var valueBuffer = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)

  /// Counted up whenever a row that was located may lie elsewhere or be gone; see ``locate(_:)``.
  ///
  /// Whoever sets it clears it before the memory goes.
  public final var rowGeneration: UnsafeMutablePointer<UInt64>?

  /// What the finger points at.
  struct Finger {
    var isSet = false
    /// The row found last and its key; -1 for none.
    var row = -1
    var key: Int64 = 0
    /// The keys that belong to the leaf.
    var low = Int64.min
    var high = Int64.max
    /// In a tree by position, the position of the leaf's first row.
    var first = 0
    /// Rows added to the leaf that its branches do not count yet.
    var pendingRows = 0
    /// Changes to the leaf's rows since the finger came.
    var changeCount = 0
  }

  /// A branch on the way to the finger.
  struct Step {
    var reference: PageReference
    var child: Int
  }

  /// Edits the tree at `root`, whose rows have the columns of `layout`.
  public init(
    root: TreeRoot, layout: ColumnLayout, context: WriteContext,
    options: ColumnTreeOptions = ColumnTreeOptions()
  ) {
    precondition(root.kind != .key, "A key tree is edited by a KeyTreeEditor.")
    unsafe self.root = root
    self.layout = layout
    unsafe columnCount = layout.columns.count
    self.context = context
    self.options = options
    isPositional = root.kind == .position
  }

  deinit {
    if unsafe log != nil { forgetLogMemory() }
    unsafe valueBuffer.deallocate()
  }

  /// Lends a copy of `bytes` until the editor is asked for a value again.
  func borrowed(_ bytes: UnsafeRawBufferPointer) -> ColumnValue {
    if unsafe bytes.count > valueBuffer.count {
      unsafe valueBuffer.deallocate()
      unsafe valueBuffer = .allocate(byteCount: max(bytes.count, 64), alignment: 16)
    }
    unsafe valueBuffer.copyMemory(from: bytes)
    return unsafe .bytes(UnsafeRawBufferPointer(rebasing: valueBuffer[..<bytes.count]))
  }

  /// The tree as edited so far; valid until the next change.
  public var tree: ColumnTree {
    mergeLogSilently()
    settleFinger()
    return unsafe ColumnTree(root: root, source: context.source)
  }

  /// How many rows there are.
  public var count: Int { unsafe root.count }

  // MARK: Rows by key

  /// Inserts a row; false, and nothing changed, when `key` exists.
  ///
  /// `values` has one value for each column of the layout, in its order.
  @discardableResult
  public func insert(
    key: Int64, values: UnsafeBufferPointer<ColumnValue>
  ) throws(StoreError) -> Bool {
    precondition(!isPositional, "This tree has positions, not keys; insert at one.")
    unsafe precondition(
      values.count == columnCount,
      unsafe "A row needs a value for each of the \(columnCount) columns.")
    // The hot path: the next row of a leaf that is being filled.
    if let hot = unsafe hot, unsafe key <= finger.high, let start = values.baseAddress {
      let isDone = unsafe hot._withUnsafeGuaranteedRef { builder in
        guard unsafe !builder.isFull, let keys = unsafe builder.keys,
          unsafe keys[builder.rowCount &- 1] < key,
          unsafe builder.append(key: key, values: start, inlineLimit: options.inlineByteCount)
        else { return false }
        noteRow(in: builder)
        return true
      }
      if isDone { return true }
    }
    return try context.change { () throws(StoreError) in
      if let log = unsafe log { return try unsafe insert(key: key, values: values, into: log) }
      if try wantsLog(key), let log = unsafe log {
        return try unsafe insert(key: key, values: values, into: log)
      }
      try reach(key)
      if unsafe root.isEmpty {
        try unsafe insertFirst(values, key: key)
        return true
      }
      let row = try position(of: key)
      guard !row.isFound else { return false }
      try unsafe insert(values, key: key, row: row.row)
      unsafe hot = unsafe leaf?.builder.map { unsafe Unmanaged.passUnretained($0) }
      return true
    }
  }

  /// Inserts a row given as an array; see `insert(key:values:)`.
  @discardableResult
  public func insert(key: Int64, values: [ColumnValue]) throws(StoreError) -> Bool {
    try unsafe values.withUnsafeBufferPointer { buffer throws(StoreError) in
      try unsafe insert(key: key, values: buffer)
    }
  }

  /// Replaces a cell; false when `key` does not exist.
  ///
  /// What an overflow value or a tree in it occupied is given back, except when a tree replaces a
  /// tree: then it is the old one with its changes, whose editor has given back what it must. To put
  /// an unrelated tree there, empty the cell first.
  @discardableResult
  public func update(
    key: Int64, column: UInt16, value: ColumnValue
  ) throws(StoreError) -> Bool {
    precondition(!isPositional, "This tree has positions, not keys; update at one.")
    return try context.change { () throws(StoreError) in
      try reach(key)
      let row = try position(of: key)
      guard row.isFound else { return false }
      try update(row: row.row, column: column, value: value)
      return true
    }
  }

  /// The cell of `key` in `column`; nil when the key does not exist.
  ///
  /// A missing column reads as null.
  ///
  /// Bytes in it are the editor's until it is asked for a value again; other calls may be given them.
  public func value(key: Int64, column: UInt16) throws(StoreError) -> ColumnValue? {
    precondition(!isPositional, "This tree has positions, not keys; read at one.")
    try reach(key)
    let row = try position(of: key)
    return row.isFound ? try value(row: row.row, column: column) : nil
  }

  /// Where a row of a tree that is being changed is.
  public enum Location {
    /// There is no such row.
    case absent
    /// Its leaf is being rebuilt: its cells can be had from the editor only.
    case unpacked
    /// It lies there until ``rowGeneration`` moves on; cells that are overwritten in place are seen.
    case packed(RowPosition)
  }

  /// Where the row of `key` is.
  public func locate(_ key: Int64) throws(StoreError) -> Location {
    precondition(!isPositional, "This tree has positions, not keys; read at one.")
    try reach(key)
    let row = try position(of: key)
    guard row.isFound else { return .absent }
    if let leaf = unsafe leaf {
      guard unsafe leaf.builder == nil else { return .unpacked }
      let page = leaf.packedPage.lent(by: context.source)
      return .packed(RowPosition(leaf: ColumnLeaf(page), row: row.row, index: -1))
    }
    return unsafe cleanLeaf.map { .packed(RowPosition(leaf: $0, row: row.row, index: -1)) }
      ?? .absent
  }

  /// Whether a row has `key`.
  public func contains(key: Int64) throws(StoreError) -> Bool {
    try reach(key)
    return try position(of: key).isFound
  }

  /// Removes a row; false when `key` does not exist.
  @discardableResult
  public func remove(key: Int64) throws(StoreError) -> Bool {
    precondition(!isPositional, "This tree has positions, not keys; remove at one.")
    return try context.change { () throws(StoreError) in
      try reach(key)
      let row = try position(of: key)
      guard row.isFound else { return false }
      try remove(row: row.row)
      return true
    }
  }

  // MARK: Rows by position

  /// Inserts a row before the one at `position`, or at the end when that is the count.
  public func insert(
    at position: Int, values: UnsafeBufferPointer<ColumnValue>
  ) throws(StoreError) {
    precondition(isPositional, "This tree has keys, not positions; insert under one.")
    precondition(position >= 0 && position <= count, "A position is between 0 and the count.")
    unsafe precondition(
      values.count == columnCount,
      unsafe "A row needs a value for each of the \(columnCount) columns.")
    try context.change { () throws(StoreError) in
      if unsafe root.isEmpty { return try unsafe insertFirst(values, key: 0) }
      try reach(position: position, forInsertion: true)
      try unsafe insert(values, key: 0, row: position - finger.first)
    }
  }

  /// Inserts a row given as an array; see ``insert(at:values:)-(Int,_)``.
  public func insert(at position: Int, values: [ColumnValue]) throws(StoreError) {
    try unsafe values.withUnsafeBufferPointer { buffer throws(StoreError) in
      try unsafe insert(at: position, values: buffer)
    }
  }

  /// Replaces a cell of the row at `position`.
  public func update(at position: Int, column: UInt16, value: ColumnValue) throws(StoreError) {
    try context.change { () throws(StoreError) in
      try reachRow(position)
      try unsafe update(row: position - finger.first, column: column, value: value)
    }
  }

  /// The cell of the row at `position`; bytes in it are the editor's until it is asked for a value again.
  public func value(at position: Int, column: UInt16) throws(StoreError) -> ColumnValue {
    try reachRow(position)
    return try unsafe value(row: position - finger.first, column: column)
  }

  /// The positions of the rows that share a leaf with the row at `position`, which are read without
  /// leaving it.
  public func leafRows(at position: Int) throws(StoreError) -> Range<Int> {
    try reachRow(position)
    return unsafe finger.first..<finger.first + leafRowCount
  }

  /// Removes the row at `position`.
  public func remove(at position: Int) throws(StoreError) {
    try context.change { () throws(StoreError) in
      try reachRow(position)
      try unsafe remove(row: position - finger.first)
    }
  }

  private func reachRow(_ position: Int) throws(StoreError) {
    precondition(isPositional, "This tree has keys, not positions; use them.")
    precondition(position >= 0 && position < count, "A position is below the count.")
    try reach(position: position)
    guard unsafe position - finger.first < leafRowCount else {
      throw unsafe ColumnTree.wrongCount(root.reference)
    }
  }
}
