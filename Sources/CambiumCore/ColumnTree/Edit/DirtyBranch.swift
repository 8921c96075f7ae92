/// A branch of a running write transaction: a copy of a page, patched in place.
///
/// Pointers: the bytes are the page's own. They have room for `room` children, which never changes and
/// decides where each part lies. Children are added and replaced as a whole only after a check of the room;
/// all other indices are below `count`, as the editor's path or a loop over the children gives them.
final class DirtyBranch: DirtyPage {
  /// How many children fit.
  let room: Int
  let isPositional: Bool

  /// A branch that has the room of `other` and nothing else yet.
  private init(room other: DirtyBranch) {
    room = other.room
    isPositional = other.isPositional
    super.init(kind: .columnBranch, unfilledCapacity: unsafe other.capacity)
  }

  /// A branch at `level` without children.
  init(level: Int, isPositional: Bool, room: Int) {
    self.room = room
    self.isPositional = isPositional
    super.init(kind: .columnBranch, unfilledCapacity: ColumnBranch.byteCount(room: room))
    unsafe byteCount = unsafe capacity
    // Its bytes may be shown to other processes, also those that no child has.
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    unsafe bytes.put(byte: PageKind.columnBranch.rawValue, 0)
    unsafe bytes.put(byte: UInt8(level), ColumnBranch.levelOffset)
    unsafe bytes.put(half: UInt16(room), ColumnBranch.roomOffset)
    unsafe bytes.put(byte: isPositional ? ColumnBranch.isPositional : 0, ColumnBranch.flagsOffset)
  }

  /// A copy of `branch`.
  convenience init(copying branch: ColumnBranch, isPositional: Bool, room: Int) {
    self.init(level: branch.level, isPositional: isPositional, room: max(room, branch.count))
    unsafe (bytes + separators).copyMemory(from: branch.separators, byteCount: branch.count * 8)
    unsafe (bytes + references).copyMemory(
      from: branch.references, byteCount: branch.count * PageReference.byteCount)
    unsafe (bytes + counts).copyMemory(from: branch.counts, byteCount: branch.count * 8)
    count = branch.count
  }

  /// The branch in `page`, byte by byte; it was checked.
  convenience init(restoring page: Page) {
    let branch = ColumnBranch(page)
    self.init(
      level: branch.level,
      isPositional: unsafe page.bytes.byte(ColumnBranch.flagsOffset) & ColumnBranch.isPositional
        != 0,
      room: unsafe Int(page.bytes.half(ColumnBranch.roomOffset)))
    unsafe bytes.copyMemory(from: page.bytes, byteCount: byteCount)
  }

  override func copy() -> DirtyPage {
    let copy = DirtyBranch(room: self)
    copyBytes(to: copy)
    return copy
  }

  private var separators: Int { ColumnBranch.headerByteCount }
  private var references: Int { separators + room * 8 }
  private var counts: Int { references + room * PageReference.byteCount }

  /// How many children there are.
  var count: Int {
    get { unsafe Int(UnsafeRawPointer(bytes).half(ColumnBranch.countOffset)) }
    set { unsafe bytes.put(half: UInt16(newValue), ColumnBranch.countOffset) }
  }

  var level: Int { unsafe Int(UnsafeRawPointer(bytes).byte(ColumnBranch.levelOffset)) }

  var branch: ColumnBranch {
    unsafe ColumnBranch(Page(bytes: bytes, byteCount: byteCount, owner: nil))
  }

  /// The child at `index`.
  subscript(index: Int) -> Child {
    get {
      let bytes = unsafe UnsafeRawPointer(bytes)
      return unsafe Child(
        separator: Int64(bitPattern: bytes.word(separators + index * 8)),
        reference: PageReference(
          loadingFrom: bytes + references + index * PageReference.byteCount),
        rowCount: bytes.word(counts + index * 8))
    }
    set {
      unsafe bytes.put(word: UInt64(bitPattern: newValue.separator), separators + index * 8)
      unsafe newValue.reference.store(to: bytes + references + index * PageReference.byteCount)
      unsafe bytes.put(word: newValue.rowCount, counts + index * 8)
    }
  }

  /// The first dirty child at or behind `index`; the count when there is none.
  func nextDirty(from index: Int) -> Int {
    let count = count
    guard index < count else { return count }
    var mark = unsafe UnsafeRawPointer(bytes) + references + index * PageReference.byteCount + 8
    for child in index..<count {
      if unsafe mark.word(0) == .max { return child }
      unsafe mark += PageReference.byteCount
    }
    return count
  }

  func setReference(_ reference: PageReference, at index: Int) {
    unsafe reference.store(to: bytes + references + index * PageReference.byteCount)
  }

  func setSeparator(_ separator: Int64, at index: Int) {
    unsafe bytes.put(word: UInt64(bitPattern: separator), separators + index * 8)
  }

  /// Adds `difference` to the row count of the child at `index`.
  func addRows(_ difference: Int, at index: Int) {
    let rows = unsafe UnsafeRawPointer(bytes).word(counts + index * 8)
    unsafe bytes.put(word: rows &+ UInt64(bitPattern: Int64(difference)), counts + index * 8)
  }

  /// Inserts a child; there must be room.
  func insert(_ child: Child, at index: Int) {
    let count = count
    precondition(count < room, "A branch has room for \(room) children.")
    shift(from: index, to: index + 1, count: count - index)
    self.count = count + 1
    self[index] = child
  }

  func remove(at index: Int) {
    let last = count - 1
    shift(from: index + 1, to: index, count: last - index)
    self[last] = Child(separator: 0, reference: .none, rowCount: 0)
    count = last
  }

  private func shift(from: Int, to: Int, count: Int) {
    for (start, size) in [(separators, 8), (references, PageReference.byteCount), (counts, 8)] {
      unsafe (bytes + start + to * size).copyMemory(
        from: bytes + start + from * size, byteCount: count * size)
    }
  }

  /// Replaces all children.
  func setChildren(_ children: some Collection<Child>) {
    precondition(children.count <= room, "A branch has room for \(room) children.")
    let old = count
    for (index, child) in children.enumerated() { self[index] = child }
    for index in children.count..<max(old, children.count) {
      self[index] = Child(separator: 0, reference: .none, rowCount: 0)
    }
    count = children.count
  }

  var children: [Child] { (0..<count).map { self[$0] } }

  /// The rows below all children.
  var rowCount: UInt64 {
    (0..<count).reduce(0) { unsafe $0 &+ UnsafeRawPointer(bytes).word(counts + $1 * 8) }
  }

  /// Moves the children together, so that the page takes no more bytes than they need; the branch
  /// is of no further use than to be written.
  func shrink() {
    let count = count
    let start = ColumnBranch.headerByteCount
    if count < room {
      unsafe (bytes + start + count * 8).copyMemory(
        from: bytes + references, byteCount: count * PageReference.byteCount)
      unsafe (bytes + start + count * (8 + PageReference.byteCount)).copyMemory(
        from: bytes + counts, byteCount: count * 8)
      unsafe bytes.put(half: UInt16(count), ColumnBranch.roomOffset)
      unsafe byteCount = ColumnBranch.byteCount(room: count)
    }
  }
}

/// A child as its branch sees it.
struct Child {
  /// No key below it is under this.
  var separator: Int64
  var reference: PageReference
  /// The rows below it.
  var rowCount: UInt64
}
