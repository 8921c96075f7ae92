/// One write to a store: allocate, write, free, then publish or abort.
///
/// Belongs to one caller at a time, on any thread. A writer that is released without either ending
/// aborts.
///
/// Pointers: the bytes of a page belong to the caller and stay for the length of the call; they may be
/// others afterwards, so that a writer keeps copies only.
public protocol PageWriter: AnyObject {
  /// The head this write began from; it stays pinned until the write ends.
  var base: Head { get }
  /// The version that publishing will make.
  var version: Version { get }
  /// Which pages the store would like to have elsewhere; nil when all are welcome where they are.
  ///
  /// The engine writes some of them again with each commit.
  var relocation: Relocation? { get }

  /// Says how durable the version will likely have to be, so that nothing is sent to the medium early
  /// for a version that does not wait for it; ``Durability/full`` unless said otherwise.
  func expect(_ durability: Durability)

  /// Whether others wait to write, or for the medium: with them this one may share a sync, if it is published as
  /// ``Durability/relaxed`` and then made durable; false unless said otherwise.
  var isContended: Bool { get }

  /// Says that about `byteCount` bytes will be allocated next, so that they can lie together.
  func reserve(byteCount: Int) throws(StoreError)

  /// Gives room for a page of `byteCount` bytes. Calls that follow one another get ascending
  /// addresses where possible; the room belongs to this write until it ends.
  func allocate(byteCount: Int) throws(StoreError) -> Extent

  /// Fills an allocated extent. `bytes` is as long as the extent. May be called again for the same
  /// extent before publishing. After it returns, ``PageStore/read(_:at:)`` finds the page.
  ///
  /// `checksum` is the bytes' ``Checksum``, which a store may want to record.
  func write(
    _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
  ) throws(StoreError)

  /// Takes back a page that the version being made does not reach. Its birth decides when the room
  /// is used again: at once if it was born in this write, otherwise when no held version sees it.
  func free(_ reference: PageReference)

  /// Makes the written pages the newest version: all of them or, after a crash, none.
  ///
  /// `metadata`, at most 64 KiB, is kept with the commit for ``PageStore/metadata(from:through:)``. On return
  /// the version is visible to everyone, durable as far as `durability` says, and pinned by the result, which
  /// was taken before another writer could begin. If it throws, the old version is intact, and the
  /// caller aborts; after a failed sync the store is poisoned. A store that cannot tell whether the
  /// version was published throws ``StoreError/indeterminate(path:)``: it has released the writer lock,
  /// keeps the pages, and is not told to abort.
  ///
  /// Calls `beforeNext` with the new head once it is published, before another writer begins.
  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin

  /// Drops everything written since the beginning and releases the writer lock.
  func abort()
}

extension PageWriter {
  /// All pages are welcome where they are.
  public var relocation: Relocation? { nil }

  /// Makes no difference.
  public func expect(_ durability: Durability) {}

  /// Nobody is known of.
  public var isContended: Bool { false }

  /// Fills an allocated extent for a caller who does not know the bytes' checksum.
  public func write(_ bytes: Span<UInt8>, to extent: Extent) throws(StoreError) {
    try write(bytes, to: extent, checksum: Checksum.hash(bytes))
  }

  /// Publishes for a caller who does nothing before another writer begins.
  public func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    try publish(root: root, durability: durability, metadata: metadata) { _ in }
  }
}

/// How long a commit lasts once it has returned.
public enum Durability: UInt8, Hashable, Sendable, CaseIterable {
  /// It survives power loss.
  case full
  /// It survives the process; power loss may take the last moments, whole commits only. Made
  /// durable in the background or by `sync()`. On other machines it survives the process once it has
  /// arrived there.
  case relaxed
}
