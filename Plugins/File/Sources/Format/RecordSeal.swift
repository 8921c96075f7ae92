import CambiumCore

/// Seals the store's own bytes with the file's codec: heads, records, free map.
///
/// A sealed page is one unit longer. A sealed head keeps its sector: the fields move together to make
/// room, and magic and checksum stay where they are.
///
/// Pointers: an opened page is copied into a new buffer of its length, which is that of the record less the
/// filler.
final class RecordSeal: Sendable {
  private let codec: any PageCodec

  /// By how much a sealed page is longer, in bytes.
  static let pageByteCount = Extent.unitByteCount

  /// What `codec` does to records; nil when it leaves them alone.
  init?(_ codec: any PageCodec) {
    if codec.recordOverhead == 0 { return nil }
    precondition(
      codec.recordOverhead <= Self.pageByteCount, "A codec adds at most 64 bytes to a record.")
    self.codec = codec
  }

  // MARK: Pages

  private var fillerByteCount: Int { Self.pageByteCount - codec.recordOverhead }

  /// A page of the store's own in the form in which it is stored at `extent`.
  func sealedPage(
    _ page: [UInt8], rawKind: UInt8, extent: Extent, version: Version
  ) -> [UInt8] {
    codec.sealRecord(
      page + [UInt8](repeating: 0, count: fillerByteCount),
      context: RecordContext(role: rawKind, place: extent.address, version: version))
  }

  /// Reverses ``sealedPage(_:rawKind:extent:version:)``.
  func openedPage(
    _ stored: PageBuffer, _ reference: PageReference
  ) throws(StoreError) -> PageBuffer {
    let opened = try codec.openRecord(
      StoredBytes(stored).bytes,
      context: RecordContext(role: reference.rawKind, place: reference.address))
    let count = opened.count - fillerByteCount
    guard count > 0 else {
      throw .damaged(Damage(.bounds, at: reference, "a sealed page without content"))
    }
    let page = PageBuffer(byteCount: count)
    unsafe opened.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { unsafe page.bytes.copyMemory(from: base, byteCount: count) }
    }
    return page
  }

  // MARK: Small commits

  /// By how much the sealed content of a small commit's record is longer, in bytes.
  var contentByteCount: Int { codec.recordOverhead }

  /// What the small commit of `version` has left, in the form in which it lies in a log: it is bound to that version,
  /// and to what it changes by the `link` (``FileState/Logged/link``).
  func sealedContent(_ content: [UInt8], of version: Version, behind link: UInt64) -> [UInt8] {
    codec.sealRecord(
      content,
      context: RecordContext(
        role: FileLayout.Kind.smallCommit, place: link &+ version, version: version))
  }

  /// Reverses ``sealedContent(_:of:behind:)``; nil for anything else.
  func openedContent(_ sealed: [UInt8], of version: Version, behind link: UInt64) -> [UInt8]? {
    try? codec.openRecord(
      sealed, context: RecordContext(role: FileLayout.Kind.smallCommit, place: link &+ version))
  }

  // MARK: Heads

  private typealias Field = FileLayout.Head
  private static let sealed = Field.sequence..<Field.checksum

  /// A head's sector in the form in which it is stored at `place`.
  func sealedHead(_ plain: [UInt8], place: UInt64, version: Version) -> [UInt8] {
    precondition(Field.byteCount + codec.recordOverhead <= Field.checksum)
    let fields = Array(plain[Self.sealed.dropLast(codec.recordOverhead)])
    let sealed = codec.sealRecord(
      fields, context: RecordContext(role: FileLayout.Kind.head, place: place, version: version))
    return StoredBytes(byteCount: plain.count) { bytes in
      bytes.store(plain, at: 0)
      bytes.store(sealed, at: Self.sealed.lowerBound)
      bytes.store(bytes.checksum(before: Field.checksum), at: Field.checksum)
    }.bytes
  }

  /// Reverses ``sealedHead(_:place:version:)`` but for the checksum; nil for anything else.
  func openedHead(_ stored: [UInt8], place: UInt64) -> [UInt8]? {
    let context = RecordContext(role: FileLayout.Kind.head, place: place)
    guard let fields = try? codec.openRecord(Array(stored[Self.sealed]), context: context),
      fields.count <= Self.sealed.count
    else { return nil }
    return StoredBytes(byteCount: stored.count) { bytes in
      bytes.store(Array(stored[..<Self.sealed.lowerBound]), at: 0)
      bytes.store(fields, at: Self.sealed.lowerBound)
    }.bytes
  }
}

/// How a seal works is no part of what a file says of itself.
extension RecordSeal: Hashable {
  static func == (left: RecordSeal, right: RecordSeal) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
