import CambiumCore

/// One commit, as a frame of the log; integers are little-endian.
///
///      0       4               8               12   16        24      32
///     | magic | record length | pages' length | 0  | version | epoch | checksum | record | zeros | pages |
///
/// The record, which a codec that seals records has sealed, lists the commit's root, its metadata, what it
/// changed in the blocks, and the pages that the frame carries, whose bytes follow it. A frame and its pages
/// begin at multiples of 64 bytes from the log's beginning. The checksum is of the record; pages have their
/// own.
struct CommitRecord: Sendable {
  /// The version that the commit made.
  var head: Head
  /// What it was given to keep.
  var metadata: [UInt8] = []
  /// What it has changed in the blocks.
  var changes: [BlockChange] = []
  /// The locations of the pages that the frame carries; the other pages of the commit are in blocks.
  var pages: [UInt64] = []

  private static let magic: UInt32 = 0x4d4d_4f43
  private static let headByteCount = 40
  private static let role: UInt8 = 17
  static let alignment = 64

  /// The record without what only the first log needs that it is in.
  var carried: CommitRecord { CommitRecord(head: head, metadata: metadata) }

  /// Where the record is, for a codec.
  private static func context(_ version: Version, isOpened: Bool) -> RecordContext {
    RecordContext(role: role, place: version, version: isOpened ? 0 : version)
  }

  /// The frame of this commit, with the bytes of the pages that it carries, in the order of `pages`.
  func frame(_ contents: [PageBuffer], _ codec: (any PageCodec)?) -> [UInt8] {
    var record = ByteWriter()
    record.put(head.root.storedBytes)
    record.put(UInt32(metadata.count))
    record.put(UInt32(changes.count))
    record.put(UInt32(pages.count))
    record.put(metadata)
    for change in changes {
      record.put(change.block)
      record.put(change.added)
      record.put(change.freed)
    }
    for location in pages { record.put(location) }
    var sealed = record.bytes
    if let codec, codec.recordOverhead > 0 {
      sealed = codec.sealRecord(sealed, context: Self.context(head.version, isOpened: false))
    }
    let pageByteCount = contents.reduce(0) { $0 + $1.byteCount }
    var frame: [UInt8] = []
    frame.reserveCapacity(Self.frameByteCount(sealed.count, pageByteCount))
    var writer = ByteWriter()
    writer.put(Self.magic)
    writer.put(UInt32(sealed.count))
    writer.put(UInt32(pageByteCount))
    writer.put(UInt32(0))
    writer.put(head.version)
    writer.put(head.epoch)
    writer.put(Checksum.hash(sealed.span))
    frame += writer.bytes
    frame += sealed
    frame += repeatElement(0, count: Self.roundUp(frame.count) - frame.count)
    for content in contents {
      content.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe frame.append(contentsOf: $0) }
      }
    }
    return frame
  }

  private static func roundUp(_ count: Int) -> Int {
    (count + alignment - 1) / alignment * alignment
  }

  private static func frameByteCount(_ recordByteCount: Int, _ pageByteCount: Int) -> Int {
    roundUp(headByteCount + recordByteCount) + pageByteCount
  }

  /// Reads the frame at `position` of a piece of the log, which ends at `end`; moves the position behind it.
  ///
  /// Gives the record and where its pages' bytes begin.
  static func read(
    _ log: PageBuffer, at position: inout Int, end: Int, _ codec: (any PageCodec)?, path: String
  ) throws(StoreError) -> (CommitRecord, pagesOffset: Int) {
    func damage(_ text: String) -> StoreError {
      .damaged(Damage(.head, "the log of '\(path)': \(text)"))
    }
    let begin = position
    guard end <= log.byteCount, end - begin >= headByteCount else { throw damage("a frame is cut") }
    var fields = ByteReader(log.copy(begin..<begin + headByteCount))
    guard fields.get(UInt32.self) == magic, let recordByteCount = fields.get(UInt32.self),
      let pageByteCount = fields.get(UInt32.self), fields.skipZeros(4),
      let version = fields.get(UInt64.self), let epoch = fields.get(UInt64.self),
      let checksum = fields.get(UInt64.self), version < 1 << 48
    else { throw damage("a frame cannot be read") }
    let byteCount = frameByteCount(Int(recordByteCount), Int(pageByteCount))
    guard byteCount <= end - begin else { throw damage("a frame is cut") }
    let recordBegin = begin + headByteCount
    let sealed = log.copy(recordBegin..<recordBegin + Int(recordByteCount))
    guard Checksum.hash(sealed.span) == checksum else {
      throw .damaged(
        Damage(.checksum, "the log of '\(path)': a record does not match its checksum"))
    }
    var bytes = sealed
    if let codec, codec.recordOverhead > 0 {
      bytes = try codec.openRecord(bytes, context: context(version, isOpened: true))
    }
    guard let record = CommitRecord(bytes, version, epoch),
      record.pages.reduce(0, { $0 + Int($1 & 0xffff) * Extent.unitByteCount }) == pageByteCount
    else { throw damage("a record has values that no store writes") }
    position = begin + byteCount
    return (record, position - Int(pageByteCount))
  }

  private init?(_ bytes: [UInt8], _ version: Version, _ epoch: UInt64) {
    var reader = ByteReader(bytes)
    guard let stored = reader.get(count: TreeRoot.byteCount),
      let root = TreeRoot(loadingFrom: stored.span),
      let metadataByteCount = reader.get(UInt32.self), let changeCount = reader.get(UInt32.self),
      let pageCount = reader.get(UInt32.self),
      let metadata = reader.get(count: Int(metadataByteCount))
    else { return nil }
    head = Head(version: version, epoch: epoch, root: root)
    self.metadata = metadata
    for _ in 0..<changeCount {
      guard let block = reader.get(UInt64.self), let added = reader.get(UInt32.self),
        let freed = reader.get(UInt32.self)
      else { return nil }
      changes.append(BlockChange(block: block, added: added, freed: freed))
    }
    for _ in 0..<pageCount {
      guard let location = reader.get(UInt64.self), location & 0xffff > 0 else { return nil }
      pages.append(location)
    }
    guard reader.isAtEnd else { return nil }
  }

  private init(head: Head, metadata: [UInt8]) {
    self.head = head
    self.metadata = metadata
  }

  /// The record of a commit that made `head`.
  init(
    head: Head, metadata: [UInt8], changes: [BlockChange], pages: [UInt64] = []
  ) {
    self.head = head
    self.metadata = metadata
    self.changes = changes
    self.pages = pages
  }
}

/// What a commit has changed in a block.
struct BlockChange: Hashable, Sendable {
  /// The block's number.
  var block: UInt64
  /// How many units of pages it has added.
  var added: UInt32
  /// How many units of pages it has freed.
  var freed: UInt32
}

extension PageBuffer {
  /// A copy of some of the bytes, which are there.
  func copy(_ range: Range<Int>) -> [UInt8] {
    withBytes { Array(copying: $0.extracting(range)) }
  }
}
