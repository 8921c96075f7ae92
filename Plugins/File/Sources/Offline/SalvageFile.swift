import CambiumCore

/// A file of pages as it lies there, for saving what can be read of it.
///
/// Believes nothing that it does not need: neither sizes nor which head is whole. Pages are read one
/// by one, never through a mapping, and what the medium does not give back counts as damaged. Everything
/// that would write throws.
///
/// Pointers: a pin lends no memory, and a page owns its bytes.
public final class SalvageFile: SalvageStore {
  /// What the store says it is, as far as that can be read.
  public let identity: StoreIdentity
  /// Every head that can be read, the newest first.
  public let heads: [Head]
  /// The small commits behind the newest version of the file that its log has and that cannot be read.
  public let lostCommits: [SalvageReport.Loss]
  /// All of the file behind identity and heads.
  public let pageExtent: Extent
  /// The codec that pages went through, bound to the file if it keeps anything for it.
  public let boundCodec: (any PageCodec)?
  private let device: SalvageDevice
  private let path: String

  /// Opens the file at `path` for reading and, where that is allowed, locks it against all others.
  ///
  /// Throws what `FileStore(path:options:)` throws for a path that leads to no file or to one in use,
  /// and when neither the identity nor a head can be read `StoreError.notAStore(path:reason:)`, or the
  /// medium's error.
  public convenience init(
    path: String, options: FileStoreOptions = FileStoreOptions()
  ) throws(StoreError) {
    let device: any Device
    if let makeDevice = options.device {
      device = try makeDevice(path)
    } else {
      device = try Self.open(path)
    }
    try self.init(device: device, codec: options.codec, path: path)
  }

  private init(
    device: any Device, codec: (any PageCodec)?, path: String
  ) throws(StoreError) {
    let device = SalvageDevice(device)
    self.device = device
    self.path = path
    let byteCount = try device.perform(path: path) { device throws(DeviceError) in
      try device.byteCount()
    }
    var sector: IdentitySector?
    var reason: StoreError?
    do throws(StoreError) {
      sector = try FileOpening.readIdentity(device, path: path)
    } catch {
      guard Self.isDamage(error) else { throw error }
      reason = error
    }
    if (sector?.readFeatures ?? 0) & FileLayout.codecFeature != 0 {
      // Nothing can be read without what the file keeps for its codec.
      try sector?.check(path: path, codec: codec?.name ?? "", isReadOnly: true)
      boundCodec = try sector?.bind(codec, device, path: path)
    } else {
      boundCodec = codec
    }
    let slots = try Self.readHeads(device, sector, path: path)
    if let reason, slots.isEmpty {
      // A medium that gives nothing back says nothing about the file.
      throw device.error.map { StoreError($0, path: path) } ?? reason
    }
    var heads: [Head] = []
    var lostCommits: [SalvageReport.Loss] = []
    let isReadable = sector.map { $0.codec == codec?.name ?? "" } ?? true
    for slot in slots.sorted(by: { $0.sequence > $1.sequence }) {
      let sector = sector ?? Self.identity(of: slot)
      if isReadable {
        let (logged, failure) = Self.smallCommits(
          behind: slot, sector, boundCodec, device, path: path)
        // The log of an older head may be that of the newest one by now.
        if let failure, heads.isEmpty {
          lostCommits.append(.smallCommits(behind: slot.head.version, "\(failure)"))
        }
        if let logged { heads.append(logged) }
      }
      heads.append(slot.head)
    }
    self.heads = heads
    self.lostCommits = lostCommits
    identity = StoreIdentity(
      kind: IdentitySector.kind, path: path,
      uuid: (
        sector?.uuidHigh ?? slots.first?.uuidHigh ?? 0, sector?.uuidLow ?? slots.first?.uuidLow ?? 0
      ), formatVersion: FileLayout.formatVersion, codec: sector?.codec ?? "", isReadOnly: true)
    let firstBlock = sector?.firstBlock ?? FileLayout.firstBlock
    let first = UInt64(firstBlock * FileLayout.blockByteCount / Extent.unitByteCount)
    let end = UInt64(byteCount / Extent.unitByteCount)
    pageExtent = Extent(address: first, unitCount: end > first ? end - first : 0)
  }

  /// The version that small commits have made behind `head`, as far as their log can be read, and why it cannot.
  ///
  /// A damaged page is no ground for them, nor is one that cannot be opened.
  private static func smallCommits(
    behind head: HeadSector, _ identity: IdentitySector, _ codec: (any PageCodec)?,
    _ device: any Device, path: String
  ) -> (newest: Head?, failure: StoreError?) {
    func newest(endsAtDamage: Bool) throws(StoreError) -> Head? {
      try StoredLog.content(
        following: head, identity: identity, codec: codec, device: device, path: path,
        endsAtDamage: endsAtDamage)?.newest.head
    }
    do throws(StoreError) {
      return (try newest(endsAtDamage: false), nil)
    } catch {
      return (try? newest(endsAtDamage: true), error)
    }
  }

  private static func open(_ path: String) throws(StoreError) -> PosixDevice {
    let (device, _) = try FilePaths.open(path: path, isReadOnly: true)
    do throws(StoreError) {
      return try FilePaths.openExclusively(path, named: path, for: "open")?.0 ?? device
    } catch .permissionDenied {
      // Who may not write may still read.
      return device
    }
  }

  /// Whether an error may stem from damaged bytes, of which heads may still know better.
  private static func isDamage(_ error: StoreError) -> Bool {
    switch error {
    case .damaged, .notAStore, .truncated, .unsupportedFormat: true
    default: false
    }
  }

  /// An identity as far as heads repeat it.
  private static func identity(of head: HeadSector) -> IdentitySector {
    var identity = IdentitySector(codec: "")
    (identity.uuidHigh, identity.uuidLow) = (head.uuidHigh, head.uuidLow)
    return identity
  }

  /// Both slots; without an identity each is believed on its own checksum.
  private static func readHeads(
    _ device: any Device, _ sector: IdentitySector?, path: String
  ) throws(StoreError) -> [HeadSector] {
    if let sector {
      return try FileOpening.readSlots(device, identity: sector, path: path).compactMap { $0 }
    }
    var heads: [HeadSector] = []
    for offset in FileLayout.headOffsets {
      let buffer: PageBuffer
      do throws(StoreError) {
        buffer = try device.readPage(
          at: offset, byteCount: FileLayout.sectorByteCount, path: path)
      } catch .damaged {
        continue
      }
      let stored = StoredBytes(buffer)
      var guess = IdentitySector(codec: "")
      guess.uuidHigh = stored.load(FileLayout.Head.uuid, as: UInt64.self)
      guess.uuidLow = stored.load(FileLayout.Head.uuid + 8, as: UInt64.self)
      let head = HeadSector(
        stored: stored.bytes, identity: guess, at: HeadSector.place(atByte: offset))
      if let head { heads.append(head) }
    }
    return heads
  }

  /// Which bytes the medium did not give back, of those that were read so far.
  public var unreadable: [Range<Int>] { device.unreadable }

  /// The bytes at `reference`, wherever in the file that is.
  public func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    let extent = reference.extent
    guard extent.unitCount > 0, !reference.isDirty, extent.address >= pageExtent.address,
      extent.end <= pageExtent.end
    else {
      throw .damaged(Damage(.reference, at: reference, "the page lies outside of the store"))
    }
    return try device.readPage(at: extent.byteOffset, byteCount: extent.byteCount, path: path).page
  }

  /// The newest head that can be read, or an empty one.
  public func newestHead() throws(StoreError) -> Head {
    heads.first ?? Head(version: 0, epoch: 1, root: .empty(.key))
  }

  /// Pins the newest head; nothing changes, so that nothing has to be held.
  public func pin() throws(StoreError) -> Pin { unsafe Pin(head: try newestHead()) {} }

  /// Throws: a damaged store is not written.
  public func beginWrite() throws(StoreError) -> any PageWriter { throw .readOnly(path: path) }

  /// Does nothing: there is nothing to sync.
  public func sync() throws(StoreError) {}

  /// The newest version, at once.
  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    heads.first?.version ?? 0
  }

  /// The size; of free space nothing is known.
  public func statistics() throws(StoreError) -> StoreStatistics {
    let version = heads.first?.version ?? 0
    return StoreStatistics(
      totalByteCount: Int(pageExtent.end) * Extent.unitByteCount, freeByteCount: 0,
      pendingByteCount: 0, newestVersion: version, durableVersion: version, pinnedVersions: [])
  }

  /// Finds nothing: the store's own books are not read.
  public func audit() throws(StoreError) -> StoreAudit { StoreAudit(of: try pin()) { _ in [] } }

  /// Does nothing: the file is let go with this object.
  public func close() throws(StoreError) {}
}

extension SalvageReport.Loss {
  /// The changes of small commits that the log of a file has behind `version`.
  fileprivate static func smallCommits(behind version: Version, _ reason: String) -> Self {
    Self(
      name: "log of small commits", keys: "what was changed since version \(version)",
      rowCount: nil, reason: reason)
  }
}
