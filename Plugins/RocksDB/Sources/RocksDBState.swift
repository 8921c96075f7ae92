#if RocksDB
  import CambiumCore
  import CambiumStoreKit

  /// What changes while a store is open; behind its lock.
  struct RocksDBState {
    /// Nil when the store was closed; what is still held keeps the database open.
    var database: RocksDatabase?
    /// The newest version.
    var newest: HeadRecord
    /// What held versions see, the newest one among them.
    var views: [Version: RocksSnapshot]
    /// Which versions are held, and what waits for them.
    var ledger = VersionLedger()
    /// The newest version known to survive power loss.
    var durable: Version
    /// The newest version that is to be made durable in the background.
    var relaxed: Version = 0
    /// Where the next page goes, in units.
    var nextAddress: UInt64
    /// Where the pages begin of writes that did not end; nil when there are none.
    ///
    /// The next batch removes them.
    var firstLeftover: UInt64?
    /// Whether the mark of an open store is in the database.
    var isMarked: Bool
    var isWriting = false
    var isPoisoned = false

    /// Begins with a version that was found in the database.
    init(_ newest: HeadRecord, in database: RocksDatabase, isMarked: Bool) {
      self.newest = newest
      self.database = database
      self.isMarked = isMarked
      let version = newest.head.version
      views = [version: database.snapshot()]
      durable = version
      nextAddress = newest.nextAddress
      ledger.hold(version, .store)
    }

    /// Ends a hold of `version`; what nobody sees any more, to be let go outside of the lock.
    mutating func release(_ version: Version, _ reason: VersionLedger.Reason) -> RocksSnapshot? {
      ledger.release(version, reason) { _ in }
      return ledger.isHeld(version) ? nil : views.removeValue(forKey: version)
    }
  }
#endif
