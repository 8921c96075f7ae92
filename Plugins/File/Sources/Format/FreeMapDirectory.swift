import CambiumCore
import CambiumStoreKit

/// Where the free map is stored, and up to which version it speaks.
///
/// The map is a tree of small pages (``BlockMap``), of which this page holds the top. The records of later
/// commits bring it up to date.
struct FreeMapDirectory: Sendable {
  /// The top of the tree; nil while the records tell everything.
  var map: BlockMap.Stored?
  /// What records told that were given up since: extents that a pinned version still saw then.
  var waiting: [WaitingPage] = []
  /// The directory's own page.
  var page = PageReference.none
  /// Records up to this version were freed; those after it are all there.
  var retired: Version = 0

  /// The version whose counts the map holds.
  var version: Version { map?.version ?? 0 }

  /// The directory's page.
  func packed(_ map: BlockMap.Stored) -> [UInt8] {
    typealias Field = FileLayout.Directory
    let used = Field.byteCount + waiting.count * Field.waitingByteCount
    let unitCount = Int(Extent.unitCount(forByteCount: used))
    return StoredBytes(byteCount: unitCount * Extent.unitByteCount) { fields in
      fields.store(FileLayout.Kind.directory, at: Field.kind)
      fields.store(UInt32(waiting.count), at: Field.waitingCount)
      fields.store(UInt64(map.level), at: Field.level)
      fields.store(map.version, at: Field.version)
      fields.store(retired, at: Field.retired)
      fields.store(UInt64(map.blockCount), at: Field.blockCount)
      fields.store(UInt64(map.freeBlockCount), at: Field.freeBlockCount)
      fields.store(FreeMapPages.packed(map.parts), at: Field.parts)
      for (index, page) in waiting.enumerated() {
        let offset = Field.byteCount + index * Field.waitingByteCount
        fields.store(page.reference, at: offset)
        fields.store(page.versions.lowerBound, at: offset + PageReference.byteCount)
        fields.store(page.versions.upperBound, at: offset + PageReference.byteCount + 8)
      }
    }.bytes
  }

  init() {}

  /// Reads the directory at `reference`; an empty one if there is none.
  init(_ reference: PageReference, _ pages: FreeMapPages) throws(StoreError) {
    typealias Field = FileLayout.Directory
    page = reference
    if reference.isNone { return }
    let bytes = StoredBytes(try pages.checked(reference, rawKind: FileLayout.Kind.directory))
    guard bytes.bytes.count >= Field.byteCount,
      bytes.load(Field.kind, as: UInt8.self) == FileLayout.Kind.directory
    else { throw Self.damaged(reference) }
    func number(_ offset: Int) -> Int { Int(bytes.load(offset, as: UInt64.self) & (1 << 48 - 1)) }
    let map = BlockMap.Stored(
      version: bytes.load(Field.version, as: UInt64.self), level: number(Field.level),
      parts: try FreeMapPages.parts(bytes, at: Field.parts, of: reference),
      blockCount: number(Field.blockCount), freeBlockCount: number(Field.freeBlockCount))
    retired = bytes.load(Field.retired, as: UInt64.self)
    guard map.isPlausible(firstBlock: pages.identity.firstBlock), retired <= map.version,
      map.version < reference.born
    else { throw Self.damaged(reference) }
    self.map = map
    let waitingCount = Int(bytes.load(Field.waitingCount, as: UInt32.self))
    guard waitingCount <= (bytes.bytes.count - Field.byteCount) / Field.waitingByteCount else {
      throw Self.damaged(reference)
    }
    for index in 0..<waitingCount {
      let offset = Field.byteCount + index * Field.waitingByteCount
      let low = bytes.load(offset + PageReference.byteCount, as: UInt64.self)
      let high = bytes.load(offset + PageReference.byteCount + 8, as: UInt64.self)
      waiting.append(
        WaitingPage(reference: bytes.reference(offset), versions: low...max(low, high)))
    }
  }

  /// What is wrong when there are other free blocks than the map says.
  var wrongCount: StoreError {
    .damaged(Damage(.bounds, at: page, "the free map has other free blocks than it says"))
  }

  private static func damaged(_ reference: PageReference) -> StoreError {
    .damaged(Damage(.bounds, at: reference, "the free map's directory"))
  }
}
