import CambiumCore

@testable import CambiumFile

/// Where the pages of a version lie, by what they hold: what tells pages that were moved from pages
/// that were changed.
struct PagePlaces {
  /// The first bytes of the pages that hold the same.
  private var places: [UInt64: Set<Int>] = [:]

  /// Those that `snapshot` of `database` reaches on `device`.
  init(_ snapshot: Snapshot, of database: Database, on device: SimulatedDevice) {
    let bytes = device.bytes
    for extent in database.extents(of: snapshot) {
      let end = extent.byteOffset + extent.byteCount
      guard end <= bytes.count else { continue }
      let hash = bytes[extent.byteOffset..<end].withUnsafeBytes { Checksum.hash($0) }
      places[hash, default: []].insert(extent.byteOffset)
    }
  }

  /// How many pages that lay behind `boundary` bytes in `old` lie before it here, as they were.
  func movedCount(since old: PagePlaces, before boundary: Int) -> Int {
    places.reduce(0) { count, entry in
      let (hash, new) = entry
      guard let before = old.places[hash] else { return count }
      let gone = before.subtracting(new).filter { $0 >= boundary }
      let come = new.subtracting(before).filter { $0 < boundary }
      return count + min(gone.count, come.count)
    }
  }
}
