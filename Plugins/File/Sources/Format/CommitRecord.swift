import CambiumCore
import CambiumStoreKit

/// What one commit allocated and freed: manifest, and change of the free space.
///
/// A record takes one page, or a list of pages when it is long; each page names the next.
///
/// Pointers: a checksum is taken over the bytes of a page's buffer, which the reading function holds. Everything
/// else is read from an array, with checks.
struct CommitRecord: Sendable {
  /// A page that the commit wrote.
  struct Allocated: Hashable, Sendable, BitwiseCopyable {
    var extent: Extent
    var checksum: UInt64
  }

  var version: Version
  var epoch: UInt64
  /// The record of the commit before; none for the first one.
  var previous: PageReference
  /// Everything allocated, except the record's own pages.
  var allocated: [Allocated] = []
  /// Where among them an earlier version of this library left the commit's head; nil otherwise.
  private(set) var headExtent: Extent?
  var freed: [VersionLedger.Dead] = []
  /// What the commits were given that made this version and, if they left their pages in memory, those before it
  /// since the version of the file before; the latest ones, oldest first.
  private(set) var commits: [CommitMetadata] = []
  /// The same as it is stored.
  private var metadata: [UInt8] = []
  /// The record's own pages, first one first; known once it is stored.
  var parts: [PageReference] = []

  /// No page of a record is longer; metadata fits beside the fields of the first.
  static let largestPartByteCount = 1 << 20

  // MARK: Metadata

  /// Sets what is kept: all that fits of `small`, which are the versions before this one, and of this one `own`.
  mutating func keep(_ small: [CommitMetadata], _ own: [UInt8]) {
    commits = [CommitMetadata(version: version, epoch: epoch, bytes: own)]
    var byteCount = 0
    for commit in small.reversed() {
      byteCount += 4 + commit.bytes.count
      guard byteCount <= Self.smallCommitsLimit, commits.count < CommitMetadata.keptCount,
        commit.version + UInt64(commits.count) == version
      else { break }
      commits.insert(commit, at: 0)
    }
    metadata = own
    guard commits.count > 1 else { return }
    metadata = Self.bytes(commits.count)
    for commit in commits { metadata += Self.bytes(commit.bytes.count) + commit.bytes }
  }

  private static let smallCommitsLimit = 512 << 10

  private static func bytes(_ number: Int) -> [UInt8] {
    unsafe withUnsafeBytes(of: UInt32(number).littleEndian) { unsafe Array($0) }
  }

  /// Finds ``commits`` in what is stored.
  private mutating func readMetadata(hasSeveral: Bool, _ reference: PageReference)
    throws(StoreError)
  {
    guard hasSeveral else {
      commits = [CommitMetadata(version: version, epoch: epoch, bytes: metadata)]
      return
    }
    var reader = ByteReader(metadata)
    let count = Version(reader.get(UInt32.self) ?? 0)
    guard count > 0, count <= version else { throw Self.damaged(reference, "its metadata") }
    for version in version - count + 1...version {
      guard let bytes = reader.get(UInt32.self).flatMap({ reader.get(count: Int($0)) }) else {
        throw Self.damaged(reference, "its metadata")
      }
      commits.append(CommitMetadata(version: version, epoch: epoch, bytes: bytes))
    }
    guard reader.isAtEnd else { throw Self.damaged(reference, "its metadata") }
  }

  // MARK: Writing

  /// The record's pages without their links, last one first.
  ///
  /// To be stored in this order, each with the reference to the one before in
  /// ``FileLayout/Record/next``.
  func packedParts(uuidHigh: UInt64, uuidLow: UInt64) -> [StoredBytes] {
    typealias Field = FileLayout.Record
    let largestEntryCount = (Self.largestPartByteCount - Field.byteCount) / Field.entryByteCount
    let firstRoom = largestEntryCount - (metadata.count + 15) / Field.entryByteCount
    let entryCount = allocated.count + freed.count
    if entryCount <= firstRoom {
      return [
        pack(
          entries: 0..<entryCount, metadata: metadata, uuidHigh: uuidHigh, uuidLow: uuidLow)
      ]
    }
    var bounds = [0, min(entryCount, firstRoom)]
    while let last = bounds.last, last < entryCount {
      bounds.append(min(entryCount, last + largestEntryCount))
    }
    var parts: [StoredBytes] = []
    for (index, (start, end)) in zip(bounds, bounds.dropFirst()).enumerated() {
      let metadata = index == 0 ? self.metadata : []
      parts.append(
        pack(entries: start..<end, metadata: metadata, uuidHigh: uuidHigh, uuidLow: uuidLow))
    }
    return parts.reversed()
  }

  private func pack(
    entries: Range<Int>, metadata: [UInt8], uuidHigh: UInt64, uuidLow: UInt64
  ) -> StoredBytes {
    typealias Field = FileLayout.Record
    let used = Field.byteCount + entries.count * Field.entryByteCount + metadata.count
    let unitCount = Extent.unitCount(forByteCount: used)
    return StoredBytes(byteCount: Int(unitCount) * Extent.unitByteCount) { fields in
      fields.store(FileLayout.Kind.record, at: Field.kind)
      fields.store(commits.count > 1 ? Field.hasSeveral : 0, at: Field.flags)
      fields.store(version, at: Field.version)
      fields.store(epoch, at: Field.epoch)
      fields.store(uuidHigh, at: Field.uuid)
      fields.store(uuidLow, at: Field.uuid + 8)
      fields.store(previous, at: Field.previous)
      var position = Field.byteCount
      let split = min(max(entries.lowerBound, allocated.count), entries.upperBound)
      for entry in allocated[..<min(split, allocated.count)].dropFirst(entries.lowerBound) {
        fields.store(entry.extent.location, at: position)
        fields.store(entry.checksum, at: position + 8)
        position += Field.entryByteCount
      }
      let freedEnd = max(0, entries.upperBound - allocated.count)
      for dead in freed[..<freedEnd].dropFirst(max(0, split - allocated.count)) {
        fields.store(dead.extent.location, at: position)
        fields.store(dead.born, at: position + 8)
        position += Field.entryByteCount
      }
      fields.store(UInt32(split - entries.lowerBound), at: Field.allocatedCount)
      fields.store(UInt32(entries.upperBound - split), at: Field.freedCount)
      fields.store(UInt32(metadata.count), at: Field.metadataByteCount)
      fields.store(metadata, at: position)
    }
  }

  // MARK: Reading

  /// Reads the record at `reference`.
  ///
  /// Its pages are checked against their checksums; throws `StoreError.damaged(_:)` when anything
  /// is not as it must be.
  init(
    at reference: PageReference, identity: IdentitySector, device: any Device, path: String
  ) throws(StoreError) {
    version = reference.born
    epoch = 0
    previous = .none
    var next = reference
    // Parts were written last one first; without this a hostile file could lead in circles.
    var left = try device.perform(path: path) { device throws(DeviceError) in
      try device.byteCount()
    }
    var flags: UInt32 = 0
    while !next.isNone {
      left -= next.byteCount
      guard left >= 0 else { throw Self.damaged(reference, "it is longer than the file") }
      let bytes = try Self.readPart(next, identity: identity, device: device, path: path)
      typealias Field = FileLayout.Record
      if parts.isEmpty {
        epoch = bytes.load(Field.epoch, as: UInt64.self)
        previous = bytes.reference(Field.previous)
        flags = bytes.load(Field.flags, as: UInt32.self)
      }
      parts.append(next)
      try append(bytes, next)
      next = bytes.reference(Field.next)
    }
    try readMetadata(hasSeveral: flags & FileLayout.Record.hasSeveral != 0, reference)
    guard flags & FileLayout.Record.chained != 0 else { return }
    headExtent = allocated.first?.extent
    guard headExtent?.byteCount == FileLayout.sectorByteCount else {
      throw Self.damaged(reference, "it names no place for its head")
    }
  }

  init(version: Version, epoch: UInt64, previous: PageReference) {
    self.version = version
    self.epoch = epoch
    self.previous = previous
  }

  /// The version of the file before this one; 0 where there is none.
  ///
  /// Throws ``StoreError/damaged(_:)`` where it does not lie before: records could lead in circles.
  func previousVersion() throws(StoreError) -> Version {
    if previous.isNone { return 0 }
    guard previous.born < version else {
      throw Self.damaged(parts.first ?? .none, "the one before it is of version \(previous.born)")
    }
    return previous.born
  }

  private static func damaged(_ reference: PageReference, _ detail: String) -> StoreError {
    .damaged(Damage(.head, at: reference, "a commit record: \(detail)"))
  }

  private static func readPart(
    _ reference: PageReference, identity: IdentitySector, device: any Device, path: String
  ) throws(StoreError) -> StoredBytes {
    typealias Field = FileLayout.Record
    guard reference.rawKind == FileLayout.Kind.record, reference.byteCount >= Field.byteCount
    else { throw damaged(reference, "the reference to it names something else") }
    let buffer = try device.readPage(
      at: reference.byteOffset, byteCount: reference.byteCount, path: path)
    guard unsafe Checksum.hash(buffer.bytes, buffer.byteCount) == reference.checksum else {
      throw .damaged(Damage(.checksum, at: reference, "a commit record"))
    }
    let bytes = StoredBytes(try identity.seal?.openedPage(buffer, reference) ?? buffer)
    guard bytes.bytes.count >= Field.byteCount,
      bytes.load(Field.kind, as: UInt8.self) == FileLayout.Kind.record,
      bytes.load(Field.version, as: UInt64.self) == reference.born,
      bytes.load(Field.uuid, as: UInt64.self) == identity.uuidHigh,
      bytes.load(Field.uuid + 8, as: UInt64.self) == identity.uuidLow
    else { throw damaged(reference, "it belongs to something else") }
    return bytes
  }

  private mutating func append(
    _ bytes: StoredBytes, _ reference: PageReference
  ) throws(StoreError) {
    typealias Field = FileLayout.Record
    let allocatedCount = Int(bytes.load(Field.allocatedCount, as: UInt32.self))
    let freedCount = Int(bytes.load(Field.freedCount, as: UInt32.self))
    let metadataCount = Int(bytes.load(Field.metadataByteCount, as: UInt32.self))
    let entryCount = allocatedCount + freedCount
    let used = Field.byteCount + entryCount * Field.entryByteCount + metadataCount
    guard used <= bytes.bytes.count else { throw Self.damaged(reference, "it is too long") }
    for index in 0..<entryCount {
      let offset = Field.byteCount + index * Field.entryByteCount
      let extent = Extent(location: bytes.load(offset, as: UInt64.self))
      let word = bytes.load(offset + 8, as: UInt64.self)
      if index < allocatedCount {
        allocated.append(Allocated(extent: extent, checksum: word))
      } else {
        freed.append(VersionLedger.Dead(extent: extent, born: word))
      }
    }
    metadata += bytes.bytes[(used - metadataCount)..<used]
  }
}
