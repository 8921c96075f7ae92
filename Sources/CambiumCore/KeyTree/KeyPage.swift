/// A node of a ``KeyTree`` that the running transaction edits in place.
///
/// The layout is that of ``KeyNode`` with the heap at the far end of the page, so that slots and
/// heap grow towards each other. All reading goes through ``node``.
///
/// Pointers: the memory is that of a `DirtyPage`. A new entry is checked to fit between slots and
/// heap before it is written; apart from that the fields of the node are believed, which was checked
/// when its page was first read.
final class KeyPage: DirtyPage {
  /// Bytes of a cell before the rest of its key.
  let cellHeader: Int

  /// An empty node of `kind` with room for `capacity` bytes.
  init(kind: PageKind, capacity: Int) {
    let capacity = Self.rounded(capacity)
    cellHeader = kind == .keyLeaf ? KeyNode.leafCellHeader : KeyNode.branchCellHeader
    super.init(kind: kind, unfilledCapacity: capacity)
    unsafe bytes.storeBytes(of: kind.rawValue, as: UInt8.self)
    unsafe byteCount = capacity
    end = capacity
  }

  /// A private copy of `node` with room for `capacity` bytes.
  convenience init(copying node: KeyNode, kind: PageKind, capacity: Int) {
    let slots = KeyNode.headerByteCount + node.count * KeyNode.slotByteCount
    let heap = max(0, node.end - slots)
    self.init(kind: kind, capacity: max(capacity, node.end))
    let capacity = unsafe self.capacity
    unsafe bytes.copyMemory(from: node.bytes, byteCount: slots)
    unsafe (bytes + capacity - heap).copyMemory(from: node.bytes + node.end - heap, byteCount: heap)
    end = capacity
    count = node.count
    self.heap = heap
  }

  /// The node in `page`, byte by byte; it was checked.
  init(restoring page: Page, kind: PageKind) {
    cellHeader = kind == .keyLeaf ? KeyNode.leafCellHeader : KeyNode.branchCellHeader
    super.init(kind: kind, unfilledCapacity: page.byteCount)
    unsafe bytes.copyMemory(from: page.bytes, byteCount: page.byteCount)
    unsafe byteCount = page.byteCount
  }

  /// How much room a copy of a published node has for changes.
  private static let copyRoom = 256

  override func takeStoredForm() { unsafe byteCount = tighten() }

  override func copy() -> DirtyPage {
    if unsafe isFrozen {
      return unsafe KeyPage(copying: node, kind: kind, capacity: byteCount + Self.copyRoom)
    }
    let copy = unsafe KeyPage(kind: kind, capacity: capacity)
    copyBytes(to: copy)
    return copy
  }

  /// A capacity that holds `byteCount` bytes and can be written as it is.
  static func rounded(_ byteCount: Int) -> Int {
    min(KeyNode.maximumByteCount, (max(byteCount, 64) + 63) & ~63)
  }

  /// The page as a reader sees it; valid until the next change.
  var node: KeyNode { unsafe KeyNode(bytes, byteCount: byteCount) }

  /// How many entries it has.
  var count: Int {
    get { field(KeyNode.Field.count) }
    set { setField(KeyNode.Field.count, newValue) }
  }
  /// One past the heap.
  var end: Int {
    get { field(KeyNode.Field.end) }
    set { setField(KeyNode.Field.end, newValue) }
  }
  /// How many bytes lie in the heap, garbage included.
  var heap: Int {
    get { field(KeyNode.Field.heap) }
    set { setField(KeyNode.Field.heap, newValue) }
  }
  /// How many bytes of the heap nothing reaches.
  var garbage: Int {
    get { field(KeyNode.Field.garbage) }
    set { setField(KeyNode.Field.garbage, newValue) }
  }
  /// How many values of a leaf lie in overflow pages.
  var overflowCount: Int {
    get { field(KeyNode.Field.overflow) }
    set { setField(KeyNode.Field.overflow, newValue) }
  }

  /// How many bytes it would occupy in the store.
  var liveByteCount: Int {
    KeyNode.headerByteCount + count * KeyNode.slotByteCount + heap - garbage
  }

  private func field(_ offset: Int) -> Int {
    unsafe Int(UInt16(littleEndian: bytes.load(fromByteOffset: offset, as: UInt16.self)))
  }

  private func setField(_ offset: Int, _ value: Int) {
    unsafe bytes.storeBytes(of: UInt16(value).littleEndian, toByteOffset: offset, as: UInt16.self)
  }

  /// How many bytes the cell of entry `index` of `node`, which is this one or a copy, takes.
  private func cellByteCount(_ index: Int, in node: KeyNode) -> Int {
    let tail = unsafe kind == .keyLeaf ? node.storedValue(index).bytes.count : 0
    return cellHeader + node.slot(index).restLength + tail
  }

  private func setSlot(_ index: Int, _ slot: KeySlot) {
    unsafe bytes.storeBytes(
      of: slot.raw.littleEndian, toByteOffset: 16 + index * 8, as: UInt64.self)
  }
}

// MARK: Room

extension KeyPage {
  /// Makes room for one more slot and a cell of `cellByteCount` bytes; false if the node would
  /// exceed `limit` bytes, in which case nothing changed.
  func reserve(_ cellByteCount: Int, limit: Int) -> Bool {
    let needed = cellByteCount + KeyNode.slotByteCount
    let slots = KeyNode.headerByteCount + count * KeyNode.slotByteCount
    if needed <= end - heap - slots { return true }
    let live = liveByteCount
    guard live + needed <= limit else { return false }
    if end < limit, live + needed > end / 2 {
      unsafe expand(to: min(limit, max(2 * capacity, live + needed)))
    }
    if needed > end - heap - slots { compact() }
    return true
  }

  /// Moves the node to a larger page.
  func expand(to capacity: Int) {
    let capacity = Self.rounded(capacity)
    let (end, heap) = (end, heap)
    if unsafe capacity > self.capacity {
      unsafe byteCount = unsafe self.capacity
      grow(to: capacity)
    }
    let larger = unsafe self.capacity
    unsafe (bytes + larger - heap).copyMemory(from: bytes + end - heap, byteCount: heap)
    unsafe byteCount = larger
    self.end = larger
  }

  /// Closes the gaps that removed and replaced cells left.
  func compact() {
    let (end, count) = (end, count)
    let scratch = UnsafeMutableRawPointer.allocate(byteCount: end, alignment: 8)
    defer { unsafe scratch.deallocate() }
    unsafe scratch.copyMemory(from: bytes, byteCount: end)
    let old = unsafe KeyNode(scratch, byteCount: end)
    let slots = KeyNode.headerByteCount + count * KeyNode.slotByteCount
    var used = old.prefixLength
    unsafe (bytes + end - used).copyMemory(from: scratch + old.prefixStart, byteCount: used)
    setField(KeyNode.Field.prefixOffset, used)
    for index in 0..<count {
      let slot = old.slot(index)
      let byteCount = cellByteCount(index, in: old)
      used += byteCount
      // Cells of a checked page tile its heap; writing on would leave the page.
      precondition(
        used <= end - slots && byteCount <= slot.offset && slot.offset <= end,
        "The cells of a node are more than its heap.")
      unsafe (bytes + end - used).copyMemory(
        from: scratch + end - slot.offset, byteCount: byteCount)
      setSlot(index, KeySlot(head: slot.head, offset: used, suffixLength: slot.suffixLength))
    }
    heap = used
    garbage = 0
  }

  /// Empties the node, makes room for `capacity` bytes and sets the prefix of the keys to come.
  func reset(capacity: Int, prefix: UnsafeRawBufferPointer) {
    precondition(capacity <= KeyNode.maximumByteCount, "A node cannot be this large.")
    unsafe byteCount = 0
    if unsafe Self.rounded(capacity) > self.capacity { grow(to: Self.rounded(capacity)) }
    unsafe byteCount = unsafe self.capacity
    unsafe bytes.storeBytes(of: UInt64(kind.rawValue), as: UInt64.self)
    unsafe bytes.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
    end = unsafe self.capacity
    if prefix.count > 0, let base = prefix.baseAddress {
      unsafe (bytes + end - prefix.count).copyMemory(from: base, byteCount: prefix.count)
      setField(KeyNode.Field.prefixLength, prefix.count)
      setField(KeyNode.Field.prefixOffset, prefix.count)
      heap = prefix.count
    }
  }

  /// Brings the node into its stored form: no garbage, no room between slots and heap.
  ///
  /// Returns how many bytes to write, whole units, zero behind the node.
  func tighten() -> Int {
    if garbage > 0 { compact() }
    let (end, heap) = (end, heap)
    let tight = KeyNode.headerByteCount + count * KeyNode.slotByteCount + heap
    precondition(tight <= end, "The cells of a node are more than its heap.")
    if tight < end {
      unsafe (bytes + tight - heap).copyMemory(from: bytes + end - heap, byteCount: heap)
      self.end = tight
    }
    let whole = (tight + 63) & ~63
    unsafe (bytes + tight).initializeMemory(as: UInt8.self, repeating: 0, count: whole - tight)
    return whole
  }
}

// MARK: Entries

extension KeyPage {
  /// Opens a gap at `index` for a key whose part behind the prefix is `suffix`, with `tail` bytes
  /// behind the key, and returns the cell.
  ///
  /// There must be room (``reserve(_:limit:)``).
  private func open(
    at index: Int, _ suffix: UnsafeRawBufferPointer, tail: Int
  ) -> UnsafeMutableRawPointer {
    let restLength = max(0, suffix.count - 4)
    let heap = heap + cellHeader + restLength + tail
    let count = count
    // Writing on would ruin the slots, and with them the tree.
    precondition(
      KeyNode.headerByteCount + (count + 1) * KeyNode.slotByteCount + heap <= end,
      "A node has no room for the entry.")
    let slots = unsafe bytes + KeyNode.headerByteCount
    if index < count {
      unsafe (slots + (index + 1) * 8).copyMemory(
        from: slots + index * 8, byteCount: (count - index) * 8)
    }
    let cell = unsafe bytes + end - heap
    var head: UInt32 = 0
    if suffix.count > 0, let base = suffix.baseAddress {
      head = unsafe KeySlot.head(base, suffix.count)
      if restLength > 0 {
        unsafe (cell + cellHeader).copyMemory(from: base + 4, byteCount: restLength)
      }
    }
    setSlot(index, KeySlot(head: head, offset: heap, suffixLength: suffix.count))
    self.heap = heap
    self.count = count + 1
    return unsafe cell
  }

  /// Inserts a leaf entry; there must be room.
  func insert(at index: Int, suffix: UnsafeRawBufferPointer, _ value: StoredValue) {
    let cell = unsafe open(at: index, suffix, tail: value.bytes.count)
    unsafe put(value, cell, restLength: max(0, suffix.count - 4))
    if value.isOverflow { overflowCount += 1 }
  }

  private func put(_ value: StoredValue, _ cell: UnsafeMutableRawPointer, restLength: Int) {
    let length = unsafe value.isOverflow ? KeyNode.overflowMark : value.bytes.count
    unsafe cell.storeBytes(of: UInt16(length).littleEndian, as: UInt16.self)
    if unsafe value.bytes.count > 0, let base = unsafe value.bytes.baseAddress {
      unsafe (cell + KeyNode.leafCellHeader + restLength).copyMemory(
        from: base, byteCount: value.bytes.count)
    }
  }

  /// Overwrites the value of entry `index` if the new one is not longer.
  func replaceInPlace(at index: Int, _ value: StoredValue) -> Bool {
    let node = node
    let old = node.storedValue(index)
    guard unsafe value.bytes.count <= old.bytes.count else { return false }
    let slot = node.slot(index)
    unsafe precondition(
      slot.offset <= heap
        && cellHeader + slot.restLength + old.bytes.count <= slot.offset,
      "A cell of a node lies outside of its heap.")
    unsafe put(value, bytes + end - slot.offset, restLength: slot.restLength)
    unsafe garbage += old.bytes.count - value.bytes.count
    overflowCount += (value.isOverflow ? 1 : 0) - (old.isOverflow ? 1 : 0)
    return true
  }

  /// Inserts child `index`, which begins at the separator; there must be room.
  func insertChild(
    at index: Int, suffix: UnsafeRawBufferPointer, _ reference: PageReference, rowCount: Int
  ) {
    let cell = unsafe open(at: index, suffix, tail: 0)
    unsafe reference.store(to: cell)
    unsafe (cell + PageReference.byteCount).storeBytes(
      of: UInt64(rowCount).littleEndian, as: UInt64.self)
  }

  /// Points child `index` to another page.
  func setChild(_ index: Int, _ reference: PageReference) {
    unsafe reference.store(to: bytes + node.childCell(index))
  }

  /// Sets how many rows lie below child `index`.
  func setRowCount(_ index: Int, _ rowCount: Int) {
    unsafe (bytes + node.childCell(index) + PageReference.byteCount).storeBytes(
      of: UInt64(rowCount).littleEndian, as: UInt64.self)
  }

  /// Drops entry `index`.
  ///
  /// In a branch the next child takes over the first one's range.
  func remove(at index: Int) {
    let node = node
    let count = count
    precondition(index < count, "A node has no such entry.")
    if kind == .keyLeaf, node.storedValue(index).isOverflow { overflowCount -= 1 }
    garbage += cellByteCount(index, in: node)
    let slots = unsafe bytes + KeyNode.headerByteCount
    unsafe (slots + index * 8).copyMemory(
      from: slots + (index + 1) * 8, byteCount: (count - index - 1) * 8)
    self.count = count - 1
    if kind == .keyBranch, index == 0, count > 1 {
      let first = node.slot(0)
      garbage += first.restLength
      setSlot(0, KeySlot(head: 0, offset: first.offset, suffixLength: 0))
    }
  }
}
