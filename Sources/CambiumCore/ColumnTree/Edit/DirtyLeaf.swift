/// A leaf of a running write transaction.
///
/// Starts as a private copy of a packed page, patched in place while new cells fit. The first row
/// that comes or goes, or cell that does not fit, turns it into a ``LeafBuilder``; the bytes are
/// packed again when somebody reads them or the transaction writes them.
///
/// Pointers: the bytes are the page's own, sized for what is copied or packed into them; `packed` borrows
/// them until the transaction's next change.
final class DirtyLeaf: DirtyPage {
  // Exclusivity is not checked: a transaction has one user, and no access to these calls out.
  /// The rows as arrays, unless the bytes are all there is.
  @exclusivity(unchecked) final var builder: LeafBuilder? {
    didSet {
      unsafe heldByteCount = unsafe builder?.heldByteCount ?? 0
      if unsafe builder != nil { unsafe hasOnlyGrown = false }
    }
  }
  /// Whether it is a stored leaf to which nothing was done but appending rows and patching cells in its
  /// bytes, so that it is no smaller than it was.
  @exclusivity(unchecked) final var hasOnlyGrown = false
  /// Whether the bytes are up to date.
  @inline(__always) var isPacked: Bool { unsafe builder?.isPacked ?? true }
  /// Where it is packed, which its editor lends; none when it belongs to a published version.
  @exclusivity(unchecked) final var scratch: PackScratch?

  /// A copy of a packed leaf.
  init(copying leaf: ColumnLeaf, scratch: PackScratch?) {
    unsafe self.scratch = scratch
    let used =
      unsafe Int(leaf.page.bytes.single(LeafHeader.usedByteCount)) + LeafHeader.slackByteCount
    let count = min(used, leaf.page.byteCount)
    super.init(kind: .columnLeaf, unfilledCapacity: count)
    unsafe bytes.copyMemory(from: leaf.page.bytes, byteCount: count)
    unsafe byteCount = count
  }

  /// A leaf of its own with one row more than the one before.
  init(_ spliced: LeafSplice.Bytes, scratch: PackScratch?) {
    unsafe self.scratch = scratch
    unsafe super.init(
      kind: .columnLeaf, memory: spliced.memory, memoryByteCount: spliced.memoryByteCount,
      capacity: spliced.capacity)
    unsafe byteCount = spliced.byteCount
  }

  /// Takes the bytes of a row more.
  func adopt(_ spliced: LeafSplice.Bytes) {
    unsafe adopt(
      spliced.memory, memoryByteCount: spliced.memoryByteCount, capacity: spliced.capacity)
    unsafe byteCount = spliced.byteCount
  }

  /// The leaf in `page`, byte by byte; it was checked.
  init(restoring page: Page) {
    super.init(kind: .columnLeaf, unfilledCapacity: page.byteCount)
    unsafe bytes.copyMemory(from: page.bytes, byteCount: page.byteCount)
    unsafe byteCount = page.byteCount
  }

  /// A leaf without rows.
  init(builder: LeafBuilder, scratch: PackScratch) {
    unsafe self.builder = builder
    unsafe self.scratch = scratch
    super.init(kind: .columnLeaf, unfilledCapacity: 0)
    unsafe heldByteCount = builder.heldByteCount
  }

  /// The packed bytes as a leaf; they must be up to date.
  var packed: ColumnLeaf { ColumnLeaf(packedPage) }

  /// The packed bytes; they must be up to date.
  var packedPage: Page {
    assert(isPacked)
    return unsafe Page(bytes: bytes, byteCount: byteCount, owner: nil)
  }

  @inline(__always) var rowCount: Int { unsafe builder?.rowCount ?? packed.rowCount }

  override var measuredHeldByteCount: Int { unsafe builder?.heldByteCount ?? 0 }

  override func pack() throws(StoreError) { packBuilder() }

  private func packBuilder() {
    guard let builder = unsafe builder, unsafe !builder.isPacked else { return }
    unsafe LeafPacker(builder, scratch: scratch ?? PackScratch()).pack(into: self)
    unsafe builder.isPacked = true
  }

  override func copy() -> DirtyPage {
    packBuilder()
    let copy = unsafe DirtyLeaf(copying: packed, scratch: scratch)
    unsafe copy.hasOnlyGrown = unsafe hasOnlyGrown
    return copy
  }

  override func takeStoredForm() {
    unsafe builder = nil
    unsafe scratch = nil
  }

  /// The key of `row`.
  func key(at row: Int) -> Int64 {
    guard let builder = unsafe builder else { return packed.key(at: row) }
    return unsafe builder.keys.map { unsafe $0[row] } ?? Int64(row)
  }

  /// The first row whose key is not below `key`.
  @inline(__always) func lowerBound(_ key: Int64) -> Int {
    if let builder = unsafe builder { return builder.lowerBound(key) }
    return packed.lowerBound(key)
  }
}
