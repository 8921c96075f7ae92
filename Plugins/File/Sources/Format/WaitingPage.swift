import CambiumCore
import CambiumStoreKit

/// A page that lists extents which wait for pinned versions.
///
/// What a commit freed stands in its record. Records are given up after some dozen commits, but a
/// version may be pinned for hours; what it still sees of them is written down here, so that whoever
/// begins to write meanwhile knows it. A page is of no use any more when none of its versions is
/// pinned, and new extents are written together with the last pages, as long as these are not longer:
/// so each extent is written some few times, and what nobody sees is left out each time.
struct WaitingPage: Hashable, Sendable {
  /// An extent that the versions in [born, freed) see.
  struct Entry: Hashable, Sendable, BitwiseCopyable {
    var dead: VersionLedger.Dead
    var freed: Version
  }

  var reference: PageReference
  /// The first and the last version that see any of its extents.
  var versions: ClosedRange<Version>

  /// No page lists more.
  static let largestEntryCount = (1 << 20) / FileLayout.Waiting.entryByteCount

  /// How many extents it lists; a little more where that does not fill its last unit.
  var entryCount: Int {
    (reference.byteCount - FileLayout.Waiting.byteCount) / FileLayout.Waiting.entryByteCount
  }

  /// The stored form of some extents.
  static func packed(_ entries: some Collection<Entry>) -> [UInt8] {
    typealias Field = FileLayout.Waiting
    let unitCount = Extent.unitCount(
      forByteCount: Field.byteCount + entries.count * Field.entryByteCount)
    return StoredBytes(byteCount: Int(unitCount) * Extent.unitByteCount) { fields in
      fields.store(FileLayout.Kind.waiting, at: Field.kind)
      fields.store(UInt64(entries.count), at: Field.count)
      var offset = Field.byteCount
      for entry in entries {
        fields.store(entry.dead.extent.location, at: offset)
        fields.store(entry.dead.born, at: offset + 8)
        fields.store(entry.freed, at: offset + 16)
        offset += Field.entryByteCount
      }
    }.bytes
  }

  /// Reads what it lists.
  func read(_ pages: FreeMapPages) throws(StoreError) -> [Entry] {
    typealias Field = FileLayout.Waiting
    let bytes = StoredBytes(try pages.checked(reference, rawKind: FileLayout.Kind.waiting))
    let count = bytes.load(Field.count, as: UInt64.self)
    guard bytes.load(Field.kind, as: UInt8.self) == FileLayout.Kind.waiting,
      count <= UInt64((bytes.bytes.count - Field.byteCount) / Field.entryByteCount)
    else { throw .damaged(Damage(.bounds, at: reference, "a list of waiting extents")) }
    return (0..<Int(count)).map { index in
      let offset = Field.byteCount + index * Field.entryByteCount
      return Entry(
        dead: VersionLedger.Dead(
          extent: Extent(location: bytes.load(offset, as: UInt64.self)),
          born: bytes.load(offset + 8, as: UInt64.self)),
        freed: bytes.load(offset + 16, as: UInt64.self))
    }
  }
}
