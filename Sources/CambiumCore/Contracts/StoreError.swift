/// A failure that correct code can meet while a store is opened, read or written.
///
/// Nothing was changed unless a case says otherwise. Each case carries facts; the wording lives in
/// `StoreError+Description.swift` and names the thing and the way out.
public enum StoreError: Error, Hashable, Sendable {
  /// There is no file at the path, and the caller did not ask to create one.
  case notFound(path: String)
  /// The path's parent folder does not exist.
  case parentNotFound(path: String)
  /// The path names something that is not a regular file; `found` says what (“a directory”).
  case notAFile(path: String, found: String)
  /// The operating system refused access.
  case permissionDenied(path: String, operation: String)
  /// The file is not a Cambium store; `reason` says what gave it away.
  case notAStore(path: String, reason: String)
  /// The file is shorter than its own head says.
  case truncated(path: String, byteCount: Int, expected: Int)
  /// The store was written in a format version this library does not know.
  case unsupportedFormat(path: String, version: Int, supported: Int)
  /// The store has an older format version, and may not be brought to the one this library writes
  /// (``StoreRequest/upgradesFormat``). Nothing was changed.
  case formatUpgradeRequired(path: String, version: Int, supported: Int)
  /// The store needs a feature this library lacks; bits as in the file format.
  case unsupportedFeature(path: String, bits: UInt64)
  /// The store is of another kind than the configuration names.
  case wrongStoreKind(path: String, found: String, expected: String)
  /// The store's pages went through a codec that the configuration does not name.
  case codecMismatch(path: String, found: String, expected: String)
  /// The codec cannot undo a page: wrong key or tampering.
  case codecFailure(codec: String, reason: String)
  /// No plug-in with that codec has joined ``CodecRegistry``; `advice` says how to get it.
  case codecUnavailable(codec: String, advice: String)
  /// The program has no such kind of store, or it has not joined ``StoreRegistry``.
  case storeUnavailable(kind: String, advice: String)
  /// Bytes that break the file format or do not match their checksum.
  case damaged(Damage)
  /// Another process holds the store.
  case inUse(path: String, holder: String)
  /// The medium is full. The running transaction is rolled back; everything committed is intact.
  case mediumFull(path: String)
  /// The store would become larger than it may (``StoreRequest/maximumByteCount``). The running transaction is
  /// rolled back; everything committed is intact, and a transaction that deletes still has room.
  case sizeLimitReached(path: String, limit: Int)
  /// The operating system failed an operation; `code` is its `errno`.
  case system(operation: String, path: String, code: Int32)
  /// An earlier write or sync failed; writes are refused until the store is closed by all and
  /// opened again.
  case poisoned(path: String)
  /// The store was opened for reading only.
  case readOnly(path: String)
  /// An earlier version of this library did not end in order, and left what this one does not read; `what` says what it
  /// is and what to do.
  ///
  /// Nothing was changed.
  case leftUnfinished(path: String, what: String)
  /// The version is no longer held.
  case versionGone(Version)
  /// More versions are pinned than the configuration allows.
  case tooManyVersions(count: Int, limit: Int)
  /// The store has been closed.
  case closed(path: String)
  /// The process was forked; the store belongs to its parent. The child should run another program; it may open the store
  /// anew when nothing is left of what it has inherited.
  case forked(path: String)
  /// The addresses of the machine do not suffice to map the file.
  case addressSpaceExhausted(path: String, byteCount: Int)
  /// The store's file or folder was deleted or moved away while it was open, or another one has its place. Nothing is
  /// written any more; what is open can be read.
  case moved(path: String)
  /// A value or key is larger than the format can hold.
  case tooLarge(what: String, byteCount: Int, limit: Int)
  /// A supply that the format bounds is used up: `what` says of what there are no more.
  case exhausted(what: String, limit: Int)
  /// Whether a commit took place is unknown (possible on remote stores); the next read or write shows it.
  case indeterminate(path: String)
  /// Another machine has taken the writer lock over, because this one did not answer for longer than its lease.
  /// The running transaction is rolled back; of commits that nobody had waited for yet, some may be lost,
  /// and the store is poisoned then.
  case ownershipLost(path: String)
  /// A remote store gave no answer in time; `reason` says what is known. Nothing was lost.
  case unreachable(path: String, operation: String, reason: String)
  /// A remote store has refused an operation; `reason` says why. Nothing was changed.
  case refused(path: String, operation: String, reason: String)
  /// An evaluation gave up because an ``Interruption`` asked for it.
  case interrupted
}

/// What is wrong with stored bytes, and where.
public struct Damage: Hashable, Sendable {
  /// Which rule the bytes break.
  public enum Rule: String, Hashable, Sendable {
    /// The bytes do not hash to the reference's checksum.
    case checksum
    /// The page is of another kind than its parent says.
    case kind
    /// A count, offset, width or length leads out of its page.
    case bounds
    /// Keys, separators or rows are out of order or out of their parent's range.
    case order
    /// Row counts of a branch and its children differ.
    case count
    /// A reference leads outside of the store.
    case reference
    /// The tree is higher or lower than its root says.
    case height
    /// An encoding or a field has a value the format does not know.
    case encoding
    /// A catalog entry cannot be read.
    case catalog
    /// A head or record cannot be read.
    case head
    /// The record of the store's free space is wrong: the store can be read and copied, but not
    /// written until the record is rebuilt.
    case freeMap
  }

  /// Which rule is broken.
  public var rule: Rule
  /// The page, where one is known.
  public var reference: PageReference?
  /// What exactly was found, for people.
  public var detail: String

  /// Damage that breaks `rule`; `detail` is half a sentence for people, without a full stop.
  public init(_ rule: Rule, at reference: PageReference? = nil, _ detail: String) {
    self.rule = rule
    self.reference = reference
    self.detail = detail
  }
}

extension StoreError {
  /// What this error, met while the page at `reference` was read, says about the stored bytes; nil
  /// if it says nothing about them.
  package func damage(at reference: PageReference) -> Damage? {
    switch self {
    case .damaged(let damage): damage
    case .codecFailure(let codec, let reason):
      Damage(.encoding, at: reference, "codec \(codec): \(reason)")
    default: nil
    }
  }
}
