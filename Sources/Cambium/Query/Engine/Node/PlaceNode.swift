import CambiumCore

/// The object is a place in a region.
///
/// Pointers: the reader lends the cell's bytes, which are copied.
final class PlaceNode: QueryNode {
  private let place: BoundPlace
  private let region: _GeoRegion

  init(
    _ context: QueryContext, _ reader: TableReader, _ place: BoundPlace, _ region: _GeoRegion
  ) {
    self.place = place
    self.region = region
    super.init(context, reader)
  }

  override var cost: Int { 400 }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    var coordinates: [Double] = []
    try context.forEachElement(of: place.coordinates, key, in: reader) { cell in
      if case .double(let value) = cell { coordinates.append(value) }
      return coordinates.count < 2
    }
    if coordinates.count < 2 { return false }
    return try reader.withValue(place.type, key) { cell in
      guard case .bytes(let bytes) = cell else { return false }
      return unsafe place.isWithin(region, String(decoding: bytes, as: UTF8.self), coordinates)
    }
  }
}
