/// A region on the Earth, for ``Query/geoWithin(_:)``: ``GeoBox``, ``GeoPolygon`` or ``GeoCircle``.
public protocol RLMGeospatial: Sendable, CustomStringConvertible {
  /// The region as queries test it; throws a description of what is wrong with it.
  func _rlmRegion() throws -> _GeoRegion
}

/// What is wrong with a region.
struct GeoRegionError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A region as queries test it.
public struct _GeoRegion: Hashable, Sendable {
  enum Shape: Hashable {
    case cap(SphereVector, radius: Double)
    case polygon(outer: SphereRing, holes: [SphereRing])
  }

  private let shape: Shape

  init(_ shape: Shape) { self.shape = shape }

  /// Whether a place, longitude first as points store it, lies in the region or on its edge.
  ///
  /// Numbers that are no place lie nowhere.
  func contains(longitude: Double, latitude: Double) -> Bool {
    guard GeoPoint.isValid(latitude: latitude, longitude: longitude) else { return false }
    let point = SphereVector(latitude: latitude, longitude: longitude)
    switch shape {
    case .cap(let center, let radius): return center.isWithin(radius, of: point)
    case .polygon(let outer, let holes):
      return outer.contains(point)
        && holes.allSatisfy { !$0.contains(point) || $0.isOnEdge(point) }
    }
  }
}
