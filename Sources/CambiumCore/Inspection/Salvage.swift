/// A store that is looked at as it lies there, whatever it says of itself.
///
/// Reading any place is allowed; nothing is ever written.
public protocol SalvageStore: PageStore {
  /// Every head that can be read, the newest first; none may lead to whole trees.
  var heads: [Head] { get }
  /// Where pages may lie.
  var pageExtent: Extent { get }
  /// Which bytes the medium did not give back, of those that were read so far; what lay there counts as
  /// damaged.
  var unreadable: [Range<Int>] { get }
  /// Commits that the store has made durable and that no head shows, because they cannot be read.
  var lostCommits: [SalvageReport.Loss] { get }
}

extension SalvageStore {
  /// None: of a store that is no file, nothing is known.
  public var unreadable: [Range<Int>] { [] }
  /// None.
  public var lostCommits: [SalvageReport.Loss] { [] }
}

/// Writes everything that can still be read of a damaged store into a new database.
///
/// Trees are copied leaf by leaf; what lies below an unreadable page is left out and reported. A row
/// is whole or lost: one whose values, or whose part in another column group, cannot be read is left
/// out. Of a collection that has a tree of its own the readable elements are kept. When names are
/// missing, because a page of the catalog is damaged, or the page that a name leads to, older heads
/// are asked, and then leaves of catalogs that lie anywhere in the store; what comes from there may
/// be older than what was lost.
public struct Salvage {
  private let store: any SalvageStore
  private let codec: (any PageCodec)?

  /// Looks into `store`, whose pages went through `codec`.
  public init(store: any SalvageStore, codec: (any PageCodec)? = nil) {
    self.store = store
    self.codec = store.boundCodec ?? codec
  }

  /// Writes everything into `destination`, which must be empty, in one durable transaction.
  ///
  /// Names for which `isDerived` holds are left out: whoever can make them anew from the rest does so
  /// in `completing`, before the commit. `progress` is called now and then with the number of rows
  /// written so far. Throws only what says nothing about the damaged bytes; nothing was written then.
  public func run(
    into destination: Database, leavingOut isDerived: (String) -> Bool = { _ in false },
    progress: @escaping (Int) -> Void = { _ in },
    completing: (Transaction) throws(StoreError) -> [SalvageReport.Loss] = { _ in [] }
  ) throws(StoreError) -> SalvageReport {
    var catalog = try SalvageCatalog(store: store, codec: codec)
    if !catalog.isWhole { try catalog.scan() }
    let transaction = try destination.beginWrite()
    do throws(StoreError) {
      var copy = SalvageCopy(transaction: transaction, progress: progress)
      copy.report.version = catalog.version
      copy.report.losses = store.lostCommits + catalog.losses
      let names = catalog.expectedKeys.compactMap(Self.name).sorted()
      for name in names where !isDerived(name) {
        if try copy.take(name, from: catalog) { continue }
        // What the heads say of it leads nowhere.
        try catalog.scan()
        try copy.takeOrReport(name, from: catalog)
      }
      try copy.numberTables(catalog)
      copy.report.losses += try completing(transaction)
      _ = try transaction.commit(durability: .full)
      copy.report.unreadable = store.unreadable
      return copy.report
    } catch {
      transaction.rollback()
      throw error
    }
  }

  /// The name that a catalog's key stands for; nil for keys of the engine's own and for descriptions.
  private static func name(_ key: [UInt8]) -> String? {
    guard !key.isEmpty, !key.contains(0), let name = String(validating: key, as: UTF8.self) else {
      return nil
    }
    return name
  }

  // MARK: Words

  static func describe(_ key: [UInt8]) -> String {
    if let text = String(validating: key, as: UTF8.self),
      text.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
    {
      return "'\(text)'"
    }
    let digits = key.prefix(24).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return "0x" + digits.joined() + (key.count > 24 ? "…" : "")
  }
}
