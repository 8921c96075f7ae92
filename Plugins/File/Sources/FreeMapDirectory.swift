import CambiumCore

/// Where the free map of each region is stored, and up to which version its page speaks.
///
/// A region's page holds one count per block: how many of its units the version reaches. The records
/// of later commits bring it up to date.
struct FreeMapDirectory: Sendable {
  struct Region: Hashable, Sendable {
    /// The page of counts; none while the region was empty.
    var page = PageReference.none
    /// The version whose counts they are.
    var version: Version = 0
    /// The first commit since then that touched the region; nil when there was none.
    var touchedSince: Version?
  }

  var regions: [Region] = []
  /// What records told that were given up since: extents that a pinned version still saw then.
  var waiting: [WaitingPage] = []
  /// The directory's own page.
  var page = PageReference.none
  /// Records up to this version were freed; those after it are all there.
  var retired: Version = 0

  /// Every region's counts include this version: records up to it are no longer needed.
  func completeVersion(newest: Version) -> Version {
    regions.compactMap(\.touchedSince).min().map { $0 - 1 } ?? newest
  }

  /// Notes that commit `version` changed the counts of `extent`.
  mutating func touch(_ extent: Extent, version: Version) {
    let unitsPerRegion = UInt64(BlockMap.regionBlockCount * BlockMap.unitsPerBlock)
    let first = Int(extent.address / unitsPerRegion)
    let last = Int((extent.end - 1) / unitsPerRegion)
    while regions.count <= last { regions.append(Region()) }
    touch(first...last, version)
  }

  /// Notes what a record says that was read: also that a region changed which lies behind the end by
  /// now, for its page would count again when the file grows.
  mutating func touchKnown(_ extent: Extent, version: Version) {
    let unitsPerRegion = UInt64(BlockMap.regionBlockCount * BlockMap.unitsPerBlock)
    let first = extent.address / unitsPerRegion
    let last = min((extent.address + extent.unitCount - 1) / unitsPerRegion, UInt64(regions.count))
    if first < UInt64(regions.count) { touch(Int(first)...Int(last), version) }
  }

  private mutating func touch(_ touched: ClosedRange<Int>, _ version: Version) {
    for region in touched.clamped(to: 0...regions.count - 1)
    where regions[region].touchedSince == nil && regions[region].version < version {
      regions[region].touchedSince = version
    }
  }

  /// Takes over which regions were touched from what was known before this directory was written.
  mutating func adoptTouches(of older: FreeMapDirectory) {
    for index in regions.indices where index < older.regions.count {
      let known = older.regions[index]
      guard regions[index].page == known.page, regions[index].version == known.version else {
        continue
      }
      regions[index].touchedSince = known.touchedSince
    }
  }

  /// Up to `count` regions whose pages are the oldest, for rewriting.
  func oldest(_ count: Int) -> [Int] {
    let touched = regions.indices.filter { regions[$0].touchedSince != nil }
    return Array(
      touched.sorted {
        (regions[$0].touchedSince ?? 0, $0) < (regions[$1].touchedSince ?? 0, $1)
      }.prefix(count))
  }

  /// A few regions that are not touched, but whose pages reach beyond `address`.
  func pages(behind address: UInt64?) -> ArraySlice<Int> {
    guard let address else { return [] }
    return regions.indices.filter {
      regions[$0].touchedSince == nil && regions[$0].page.extent.end > address
    }.prefix(2)
  }

  /// The directory's page.
  var packed: [UInt8] {
    typealias Field = FileLayout.Directory
    let used =
      Field.byteCount + regions.count * Field.entryByteCount
      + waiting.count * Field.waitingByteCount
    let unitCount = Int(Extent.unitCount(forByteCount: used))
    var bytes = StoredBytes(byteCount: unitCount * Extent.unitByteCount)
    bytes.store(FileLayout.Kind.directory, at: Field.kind)
    bytes.store(UInt64(regions.count), at: Field.regionCount)
    bytes.store(retired, at: Field.retired)
    for (index, region) in regions.enumerated() {
      let offset = Field.byteCount + index * Field.entryByteCount
      bytes.store(region.page, at: offset)
      bytes.store(region.version, at: offset + PageReference.byteCount)
    }
    bytes.store(UInt32(waiting.count), at: Field.waitingCount)
    for (index, page) in waiting.enumerated() {
      let offset = used - (waiting.count - index) * Field.waitingByteCount
      bytes.store(page.reference, at: offset)
      bytes.store(page.versions.lowerBound, at: offset + PageReference.byteCount)
      bytes.store(page.versions.upperBound, at: offset + PageReference.byteCount + 8)
    }
    return bytes.bytes
  }

  init() {}

  /// Reads the directory at `reference`; an empty one if there is none.
  static func read(
    _ reference: PageReference, identity: IdentitySector, device: any Device, path: String
  ) throws(StoreError) -> FreeMapDirectory {
    typealias Field = FileLayout.Directory
    var directory = FreeMapDirectory()
    directory.page = reference
    if reference.isNone { return directory }
    let buffer = try checkedPage(
      reference, rawKind: FileLayout.Kind.directory, identity: identity, device: device, path: path)
    let bytes = StoredBytes(buffer)
    let count =
      bytes.bytes.count < Field.byteCount ? 0 : bytes.load(Field.regionCount, as: UInt64.self)
    guard bytes.bytes.count >= Field.byteCount,
      bytes.load(Field.kind, as: UInt8.self) == FileLayout.Kind.directory,
      count <= UInt64((bytes.bytes.count - Field.byteCount) / Field.entryByteCount)
    else { throw .damaged(Damage(.bounds, at: reference, "the free map's directory")) }
    for index in 0..<Int(count) {
      let offset = Field.byteCount + index * Field.entryByteCount
      directory.regions.append(
        Region(
          page: bytes.reference(offset),
          version: bytes.load(offset + PageReference.byteCount, as: UInt64.self)))
    }
    directory.retired = bytes.load(Field.retired, as: UInt64.self)
    let waitingCount = Int(bytes.load(Field.waitingCount, as: UInt32.self))
    let first = Field.byteCount + Int(count) * Field.entryByteCount
    guard waitingCount <= (bytes.bytes.count - first) / Field.waitingByteCount else {
      throw .damaged(Damage(.bounds, at: reference, "the free map's directory"))
    }
    for index in 0..<waitingCount {
      let offset = first + index * Field.waitingByteCount
      let low = bytes.load(offset + PageReference.byteCount, as: UInt64.self)
      let high = bytes.load(offset + PageReference.byteCount + 8, as: UInt64.self)
      directory.waiting.append(
        WaitingPage(reference: bytes.reference(offset), versions: low...max(low, high)))
    }
    return directory
  }

  /// The page at `reference`, whose bytes match its checksum, without its seal.
  static func checkedPage(
    _ reference: PageReference, rawKind: UInt8, identity: IdentitySector, device: any Device,
    path: String
  ) throws(StoreError) -> PageBuffer {
    guard reference.rawKind == rawKind, reference.unitCount > 0, !reference.isDirty else {
      throw .damaged(Damage(.kind, at: reference, "a reference to a page of the free map"))
    }
    let buffer = try device.readPage(
      at: reference.byteOffset, byteCount: reference.byteCount, path: path)
    guard Checksum.hash(buffer.bytes, buffer.byteCount) == reference.checksum else {
      throw .damaged(Damage(.checksum, at: reference, "a page of the free map"))
    }
    guard let seal = identity.seal else { return buffer }
    return try seal.openedPage(buffer, reference)
  }
}
