import CambiumCore
import CambiumStoreKit

/// The pages of the free map: how they are stored, and how they are read.
///
/// Pointers: a checksum is taken over the bytes of a page's buffer, which the reading function holds and returns.
struct FreeMapPages: FreeMapSource {
  let identity: IdentitySector
  let device: any Device
  let path: String

  // MARK: Writing

  /// The stored form of a page, and what kind it is.
  static func packed(_ page: FreeMapPage) -> (bytes: [UInt8], rawKind: UInt8) {
    switch page {
    case .leaf(let counts): (counts, FileLayout.Kind.mapLeaf)
    case .branch(let parts): (packed(parts), FileLayout.Kind.mapBranch)
    }
  }

  /// The stored form of some parts.
  static func packed(_ parts: [FreeMapPart]) -> [UInt8] {
    typealias Field = FileLayout.MapPart
    return StoredBytes(byteCount: parts.count * Field.byteCount) { fields in
      for (index, part) in parts.enumerated() {
        let offset = index * Field.byteCount
        fields.store(part.checksum, at: offset + Field.checksum)
        fields.store(part.address << 16 | UInt64(part.longest), at: offset + Field.place)
      }
    }.bytes
  }

  /// Where the page of a part lies; level 0 is a leaf.
  func extent(of part: FreeMapPart, level: Int) -> Extent {
    let branchByteCount = FileLayout.MapPart.byteCount * BlockMap.Stored.childCount
    let byteCount = level == 0 ? BlockMap.leafBlockCount : branchByteCount
    let sealByteCount = identity.seal == nil ? 0 : RecordSeal.pageByteCount
    return Extent(
      address: part.address, unitCount: Extent.unitCount(forByteCount: byteCount + sealByteCount))
  }

  /// Names the page of a part.
  func reference(_ part: FreeMapPart, level: Int) -> PageReference {
    PageReference(
      checksum: part.checksum, extent: extent(of: part, level: level),
      rawKind: level == 0 ? FileLayout.Kind.mapLeaf : FileLayout.Kind.mapBranch, born: 0)
  }

  // MARK: Reading

  func counts(of leaf: FreeMapPart) throws(StoreError) -> [UInt8] {
    let reference = reference(leaf, level: 0)
    let counts = StoredBytes(try checked(reference, rawKind: FileLayout.Kind.mapLeaf)).bytes
    let largest = UInt8(BlockMap.unitsPerBlock)
    guard counts.count >= BlockMap.leafBlockCount, counts.allSatisfy({ $0 <= largest }) else {
      throw .damaged(Damage(.count, at: reference, "a page of the free map"))
    }
    return counts
  }

  func children(of branch: FreeMapPart, level: Int) throws(StoreError) -> [FreeMapPart] {
    let reference = reference(branch, level: level)
    let bytes = StoredBytes(try checked(reference, rawKind: FileLayout.Kind.mapBranch))
    return try Self.parts(bytes, at: 0, of: reference)
  }

  /// The parts that are stored at `offset` of a page.
  static func parts(
    _ bytes: StoredBytes, at offset: Int, of reference: PageReference
  ) throws(StoreError) -> [FreeMapPart] {
    typealias Field = FileLayout.MapPart
    let count = BlockMap.Stored.childCount
    guard bytes.bytes.count >= offset + count * Field.byteCount else {
      throw .damaged(Damage(.bounds, at: reference, "a page of the free map"))
    }
    var parts: [FreeMapPart] = []
    parts.reserveCapacity(count)
    for index in 0..<count {
      let start = offset + index * Field.byteCount
      let place = bytes.load(start + Field.place, as: UInt64.self)
      let longest = Int(place & 0xffff)
      guard longest <= FreeMapPart.anyLength else {
        throw .damaged(Damage(.bounds, at: reference, "a page of the free map"))
      }
      parts.append(
        FreeMapPart(
          checksum: bytes.load(start + Field.checksum, as: UInt64.self), address: place >> 16,
          longest: longest))
    }
    return parts
  }

  /// The page at `reference`, whose bytes match its checksum, without its seal.
  func checked(_ reference: PageReference, rawKind: UInt8) throws(StoreError) -> PageBuffer {
    guard reference.rawKind == rawKind, reference.unitCount > 0, !reference.isDirty else {
      throw .damaged(Damage(.kind, at: reference, "a reference to a page of the free map"))
    }
    let buffer = try device.readPage(
      at: reference.byteOffset, byteCount: reference.byteCount, path: path)
    guard unsafe Checksum.hash(buffer.bytes, buffer.byteCount) == reference.checksum else {
      throw .damaged(Damage(.checksum, at: reference, "a page of the free map"))
    }
    guard let seal = identity.seal else { return buffer }
    return try seal.openedPage(buffer, reference)
  }
}
