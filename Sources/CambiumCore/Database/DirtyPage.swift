/// A private page of a running write transaction.
///
/// Edited in place while its bytes suffice. A subclass may keep another form that is quicker to edit
/// and pack it when somebody reads or the transaction commits.
///
/// Pointers: `bytes` belongs to the page, which gives it back to `PageMemory` when it takes other
/// memory or goes; who uses it stays within `capacity` and the 64 bytes behind. `owner` is made nil
/// when the page is taken out of the owner, and when that goes.
@safe open class DirtyPage {
  // Exclusivity is not checked: a page has one user at a time, and no access to these calls out, but to
  // count room at the owner.

  /// The packed bytes; 64-byte aligned, with 64 readable bytes behind the capacity.
  @exclusivity(unchecked) public private(set) final var bytes: UnsafeMutableRawPointer
  /// How many bytes of them the page uses.
  @exclusivity(unchecked) public final var byteCount: Int
  /// How many bytes there is room for.
  @exclusivity(unchecked) public private(set) final var capacity: Int
  /// What ``PageMemory`` was asked for.
  @exclusivity(unchecked) private final var memoryByteCount: Int
  /// Room that a subclass takes besides, in bytes; counted like the capacity.
  @exclusivity(unchecked) public final var heldByteCount = 0 {
    didSet {
      if unsafe heldByteCount != oldValue { unsafe owner?.byteCount += heldByteCount - oldValue }
    }
  }
  /// What counts its room.
  ///
  /// Not counted itself: it says good-bye to its pages before it goes.
  @exclusivity(unchecked) final unowned(unsafe) var owner: DirtyPages?
  /// What it becomes.
  public let kind: PageKind
  /// The stored page that it is a copy of, as far as nothing was changed; none where that is not known.
  @exclusivity(unchecked) final var origin = PageReference.none
  /// Whether it belongs to a published version, so that nobody may change it any more.
  @exclusivity(unchecked) private(set) final var isFrozen = false

  /// An all-zero page of `kind` with room for `capacity` bytes.
  public convenience init(kind: PageKind, capacity: Int) {
    self.init(kind: kind, unfilledCapacity: capacity)
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0, count: capacity + 64)
  }

  /// A page of which only the first 64 bytes are zero, for subclasses that write all they use.
  init(kind: PageKind, unfilledCapacity capacity: Int) {
    self.kind = kind
    unsafe self.capacity = capacity
    unsafe byteCount = 0
    unsafe memoryByteCount = capacity + 64
    unsafe bytes = unsafe PageMemory.take(byteCount: capacity + 64)
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
  }

  /// A page in `memory`, which ``PageMemory`` gave for `memoryByteCount`; `capacity` and 64 bytes more of it belong to
  /// the page.
  init(
    kind: PageKind, memory: UnsafeMutableRawPointer, memoryByteCount: Int, capacity: Int
  ) {
    self.kind = kind
    unsafe self.capacity = capacity
    unsafe byteCount = 0
    unsafe self.memoryByteCount = memoryByteCount
    unsafe bytes = unsafe memory
  }

  deinit { unsafe PageMemory.giveBack(bytes, byteCount: memoryByteCount) }

  /// Makes room for `capacity` bytes, keeping those in use.
  public func grow(to capacity: Int) {
    guard unsafe capacity > self.capacity else { return }
    let larger = unsafe PageMemory.take(byteCount: capacity + 64)
    unsafe larger.copyMemory(from: bytes, byteCount: byteCount)
    unsafe (larger + byteCount).initializeMemory(
      as: UInt8.self, repeating: 0, count: capacity + 64 - byteCount)
    unsafe adopt(larger, memoryByteCount: capacity + 64, capacity: capacity)
  }

  /// Takes `memory`, which ``PageMemory`` gave for `memoryByteCount`, in place of its own; `capacity`
  /// and 64 bytes more of it belong to the page.
  func adopt(_ memory: UnsafeMutableRawPointer, memoryByteCount: Int, capacity: Int) {
    unsafe owner?.byteCount += capacity - self.capacity
    unsafe PageMemory.giveBack(bytes, byteCount: self.memoryByteCount)
    unsafe bytes = unsafe memory
    unsafe self.memoryByteCount = memoryByteCount
    unsafe self.capacity = capacity
  }

  /// Brings ``bytes`` and ``byteCount`` up to date with any other form.
  ///
  /// The base class has none.
  open func pack() throws(StoreError) {}

  /// The same page once more, without an owner.
  func copy() -> DirtyPage {
    let copy = unsafe DirtyPage(kind: kind, unfilledCapacity: capacity)
    copyBytes(to: copy)
    return copy
  }

  /// Gives `copy`, which has the same capacity, all bytes of this one.
  final func copyBytes(to copy: DirtyPage) {
    unsafe precondition(copy.capacity == capacity, "A copy has the room of its page.")
    unsafe copy.bytes.copyMemory(from: bytes, byteCount: capacity)
    unsafe copy.byteCount = unsafe byteCount
  }

  /// What ``heldByteCount`` should say.
  var measuredHeldByteCount: Int { 0 }

  /// The packed page; valid until the transaction's next change.
  func page() throws(StoreError) -> Page {
    if unsafe !isFrozen { try pack() }
    return frozen
  }

  /// The bytes as they are.
  final var frozen: Page { unsafe Page(bytes: bytes, byteCount: byteCount, owner: nil) }

  /// Makes it a page of a published version.
  final func freeze() throws(StoreError) {
    try pack()
    takeStoredForm()
    pad()
    unsafe owner = nil
    unsafe isFrozen = true
  }

  /// Fills the last unit with zeros; 64 bytes behind the capacity are the page's, too.
  ///
  /// Those of a published version are filled already: others read them.
  @discardableResult
  final func pad() -> Int {
    let padding = unsafe -byteCount & (Extent.unitByteCount - 1)
    if unsafe !isFrozen {
      unsafe (bytes + byteCount).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
    }
    return padding
  }

  /// Forgets any other form, and brings ``bytes``, which are up to date, into the one in which they are stored.
  ///
  /// The base class has no other.
  func takeStoredForm() {}
}
