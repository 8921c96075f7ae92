extension Extent {
  /// From here on lie pages that no store has, but a backup.
  ///
  /// A store has less than half of the addresses that a reference has room for.
  package static let firstCollectedAddress: UInt64 = 1 << 47
}

/// Takes the pages of a version that lie in memory, as they would be stored.
///
/// They get addresses behind those of any store. Nothing becomes of what is given up.
///
/// Pointers: the pin that it makes lends no memory.
final class PageCollector: PageWriter {
  let base: Head
  fileprivate private(set) var root: TreeRoot
  /// By address.
  fileprivate private(set) var pages: [UInt64: PageBuffer] = [:]
  private var nextAddress = Extent.firstCollectedAddress

  /// Begins at the version of `pin`.
  init(base pin: Pin) {
    // The pages with which writers go on are theirs.
    var head = pin.head
    head.residence = head.residence.map { Residence(pages: $0.pages, freed: $0.freed) }
    base = head
    root = head.root
  }

  var version: Version { base.version }
  var isContended: Bool { false }

  func reserve(byteCount: Int) {}

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try StoreLimits.checkPage(byteCount: byteCount)
    let unitCount = Extent.unitCount(forByteCount: byteCount)
    defer { nextAddress += unitCount }
    return Extent(address: nextAddress, unitCount: unitCount)
  }

  func write(_ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64) {
    pages[extent.address] = PageBuffer(copying: bytes)
  }

  func free(_ reference: PageReference) {}

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) -> Pin {
    self.root = root
    let head = Head(version: base.version, epoch: base.epoch, root: root)
    beforeNext(head)
    return unsafe Pin(head: head) {}
  }

  func abort() {}
}

/// A version of a store with all its pages stored; read only.
///
/// Those that lie in memory there are here.
///
/// Pointers: its pins lend the memory of the original one, and hold that. A page of its own is held by who reads it.
final class StoredForm: PageStore {
  private let store: any PageStore
  /// Holds the version in the store.
  private let original: Pin
  private let head: Head
  private let pages: [UInt64: PageBuffer]

  init(_ store: any PageStore, _ original: Pin, _ collector: PageCollector) {
    self.store = store
    self.original = original
    pages = collector.pages
    head = Head(
      version: original.head.version, epoch: original.head.epoch, root: collector.root)
  }

  var identity: StoreIdentity { store.identity }
  var boundCodec: (any PageCodec)? { store.boundCodec }
  var codecParameters: [UInt8] { store.codecParameters }

  func newestHead() -> Head { head }

  func pin() -> Pin {
    unsafe Pin(
      head: head, base: original.base, readableByteCount: original.readableByteCount
    ) { [original] in withExtendedLifetime(original) {} }
  }

  func isNewest(_ pin: Pin) -> Bool { true }

  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    guard reference.address >= Extent.firstCollectedAddress else {
      return try store.read(reference, at: original)
    }
    guard let page = pages[reference.address], page.byteCount >= reference.byteCount else {
      throw .damaged(Damage(.reference, at: reference, "a page that was never stored"))
    }
    return page.page
  }

  var readAheadCount: Int { store.readAheadCount }

  func prefetch(_ references: [PageReference], at pin: Pin) {
    store.prefetch(
      references.filter { $0.address < Extent.firstCollectedAddress }, at: original)
  }

  func statistics() throws(StoreError) -> StoreStatistics { try store.statistics() }

  func audit() throws(StoreError) -> StoreAudit {
    // It keeps no books besides the pages.
    var audit = StoreAudit(of: pin()) { _ in [] }
    audit.hasDeadRoots = false
    return audit
  }

  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version { head.version }

  func beginWrite() throws(StoreError) -> any PageWriter { throw .readOnly(path: identity.path) }

  func sync() {}
  func close() {}
}
