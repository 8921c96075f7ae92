/// What a damaged store still says about its names: for each one all entries that can be found, the
/// best first.
///
/// Pointers: each place that is looked at keeps the owner of the bytes that were read around it, and
/// ends where these do. A node is believed after its check, as everywhere. Pins have no memory to lend.
struct SalvageCatalog {
  /// An entry, and where it was found.
  struct Candidate {
    var entry: CatalogEntry
    /// Reads the version it belongs to.
    var source: PageSource
    /// Where it comes from, when that is not the newest head.
    var origin: String?
  }

  /// The entries by their keys.
  private(set) var candidates: [[UInt8]: [Candidate]] = [:]
  /// Parts of the newest catalog that cannot be read.
  private(set) var losses: [SalvageReport.Loss] = []
  /// The keys that the newest catalog has, and those that others have where it cannot be read: any
  /// other was taken out of it.
  private(set) var expectedKeys: Set<[UInt8]> = []
  private var lostRanges: [KeySpan] = []
  /// The version of the newest head.
  private(set) var version: Version?
  private let store: any SalvageStore
  private let codec: (any PageCodec)?
  private let trust = TrustTable()
  private let cache: PageCache
  private var isScanned = false

  /// Reads the catalogs of all heads.
  init(
    store: any SalvageStore, codec: (any PageCodec)?, cache: PageCache = PageCache()
  ) throws(StoreError) {
    self.store = store
    self.codec = codec
    self.cache = cache
    var roots: Set<TreeRoot> = []
    for (index, head) in store.heads.enumerated() where roots.insert(head.root).inserted {
      if index == 0 { version = head.version }
      try read(head, isNewest: index == 0)
    }
    if store.heads.isEmpty {
      lostRanges = [.keys(lower: nil, upper: nil)]
      losses.append(
        SalvageReport.Loss(
          name: "catalog", keys: "all", rowCount: nil, reason: "neither head can be read"))
    }
  }

  private func makeSource(_ head: Head) -> PageSource {
    unsafe PageSource(
      pin: Pin(head: head) {}, store: store, codec: codec, trust: trust, cache: cache)
  }

  private mutating func read(_ head: Head, isNewest: Bool) throws(StoreError) {
    let source = makeSource(head)
    let origin = isNewest ? nil : "version \(head.version)"
    var found: [([UInt8], Candidate)] = []
    var lost: [SalvageReport.Loss] = []
    var ranges: [KeySpan] = []
    try TreeWalk(head.root, source).salvage(
      { page throws(StoreError) in
        let node = KeyNode(page)
        for index in 0..<node.count {
          let key = node.key(index, header: KeyNode.leafCellHeader)
          do throws(StoreError) {
            let entry = CatalogEntry(
              try node.storedValue(index).read(from: source),
              mayHaveUnstoredRoots: source.mayHaveUnstoredRoots)
            guard let entry else { throw .damaged(Damage(.catalog, "the entry cannot be read")) }
            found.append(
              (key, Candidate(entry: try entry.upToDate(source), source: source, origin: origin)))
          } catch {
            guard let damage = error.damage(at: .none) else { throw error }
            ranges.append(.keys(lower: key, upper: key + [0]))
            lost.append(
              SalvageReport.Loss(
                name: "catalog", keys: Salvage.describe(key), rowCount: 1, reason: "\(damage)"))
          }
        }
      },
      lost: { part, damage in
        ranges.append(part.keys)
        lost.append(
          SalvageReport.Loss(
            name: "catalog", keys: "\(part.keys)", rowCount: part.count,
            reason: "\(damage)"))
      })
    if isNewest {
      losses = lost
      lostRanges = ranges
    }
    for (key, candidate) in found { add(candidate, under: key, isNewest: isNewest) }
  }

  private mutating func add(_ candidate: Candidate, under key: [UInt8], isNewest: Bool = false) {
    candidates[key, default: []].append(candidate)
    if isNewest || lostRanges.contains(where: { $0.contains(key) }) { expectedKeys.insert(key) }
  }

  /// Whether the newest catalog could be read whole.
  var isWhole: Bool { losses.isEmpty }

  // MARK: Scanning

  /// Adds what leaves of catalogs anywhere in the store say, whatever version they belong to.
  ///
  /// A leaf tells what it is: its cells tile it to the byte, and every one of them is an entry. The
  /// births of the trees that it names tell which of several is the newest.
  mutating func scan() throws(StoreError) {
    // What went through a codec cannot be recognized.
    if isScanned || codec != nil { return }
    isScanned = true
    let head = Head(version: version ?? 0, epoch: 1, root: .empty(.key))
    let pin = unsafe Pin(head: head) {}
    let source = makeSource(head)
    var leaves: [(born: Version, entries: [([UInt8], CatalogEntry)])] = []
    let chunkUnitCount: UInt64 = 16_384
    var address = store.pageExtent.address
    while address < store.pageExtent.end {
      // Pages may reach into the next chunk by as much as the largest leaf takes.
      let unitCount = min(chunkUnitCount + 1024, store.pageExtent.end - address)
      let extent = Extent(address: address, unitCount: unitCount)
      if let page = try readable(extent, pin) {
        for unit in 0..<Int(min(chunkUnitCount, unitCount)) {
          let place = unsafe Page(
            bytes: page.bytes + unit * 64, byteCount: page.byteCount - unit * 64, owner: page.owner)
          if let entries = Self.catalogLeaf(place) {
            leaves.append((entries.map { Self.born($0.1) }.max() ?? 0, entries))
          }
        }
      }
      address += chunkUnitCount
    }
    leaves.sort { $0.born > $1.born }
    for (born, entries) in leaves {
      for (key, entry) in entries {
        let origin = "a page found by scanning (version \(born))"
        add(Candidate(entry: entry, source: source, origin: origin), under: key)
      }
    }
  }

  private func readable(_ extent: Extent, _ pin: Pin) throws(StoreError) -> Page? {
    let reference = PageReference(checksum: 0, extent: extent, kind: .overflow, born: 0)
    do throws(StoreError) {
      return try store.read(reference, at: pin)
    } catch {
      guard error.damage(at: reference) != nil else { throw error }
      return nil
    }
  }

  /// The entries of the catalog's leaf that begins at `page`; nil when there is none.
  private static func catalogLeaf(_ page: Page) -> [([UInt8], CatalogEntry)]? {
    guard page.byteCount >= 64, unsafe page.bytes.load(as: UInt8.self) == PageKind.keyLeaf.rawValue,
      unsafe page.bytes.load(fromByteOffset: 1, as: UInt8.self) == 0
    else { return nil }
    let node = KeyNode(page)
    guard node.count > 0, node.end < page.byteCount || page.byteCount % 64 == 0 else { return nil }
    let leaf = unsafe Page(
      bytes: page.bytes, byteCount: min(page.byteCount, (node.end + 63) / 64 * 64),
      owner: page.owner)
    let reference = PageReference(checksum: 0, location: 1, origin: 0)
    do throws(StoreError) {
      try KeyNode.validate(leaf, reference, .keyLeaf)
    } catch { return nil }
    var entries: [([UInt8], CatalogEntry)] = []
    for index in 0..<node.count {
      let value = node.storedValue(index)
      // A large value is found through its reference, or not at all.
      if value.isOverflow { continue }
      let key = node.key(index, header: KeyNode.leafCellHeader)
      guard isCatalogKey(key), let entry = unsafe CatalogEntry([UInt8](value.bytes)) else {
        return nil
      }
      entries.append((key, entry))
    }
    // Leaves of other trees may hold values that look like entries; a catalog names trees.
    let namesTree = entries.contains { entry in
      if case .value = entry.1 { false } else { true }
    }
    return namesTree ? entries : nil
  }

  private static func isCatalogKey(_ key: [UInt8]) -> Bool {
    if key.first == 0 {
      return key == Catalog.nextTableKey || key == Catalog.layoutGenerationKey || key.count == 10
    }
    return String(validating: key, as: UTF8.self) != nil
  }

  private static func born(_ entry: CatalogEntry) -> Version {
    switch entry {
    case .keyTree(let root), .deadRoot(let root): root.reference.born
    case .table(let table): table.roots.map(\.reference.born).max() ?? 0
    case .value, .tableDescription: 0
    }
  }
}
