/// What lies between two places.
///
/// The edges are great circles: the northern one bends to the north of its parallel.
public final class GeoBox: RLMGeospatial {
  /// The southwestern corner.
  public let bottomLeft: GeoPoint
  /// The northeastern corner.
  public let topRight: GeoPoint

  /// The box between two corners.
  public init(bottomLeft: GeoPoint, topRight: GeoPoint) {
    self.bottomLeft = bottomLeft
    self.topRight = topRight
  }

  /// The box between two corners, each a latitude and a longitude; nil when one is no place.
  public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
    guard let low = GeoPoint(bottomLeft), let high = GeoPoint(topRight) else { return nil }
    self.bottomLeft = low
    self.topRight = high
  }

  /// The region that queries test; throws where an edge leads halfway around the Earth, or the box all
  /// around it.
  public func _rlmRegion() throws -> _GeoRegion {
    let (low, high) = (bottomLeft, topRight)
    // Its western side is the eastern one, and the great circle from one to the other has no length.
    guard high.longitude - low.longitude < 360 else {
      throw GeoRegionError(
        "the box leads all around the Earth, so its sides are one line; use narrower ones")
    }
    let corners = [
      SphereVector(low), SphereVector(latitude: low.latitude, longitude: high.longitude),
      SphereVector(high), SphereVector(latitude: high.latitude, longitude: low.longitude),
    ]
    // At a pole two corners are one.
    var ring: [SphereVector] = []
    for corner in corners where ring.last?.isSame(as: corner) != true { ring.append(corner) }
    if ring.count > 1, ring[0].isSame(as: ring[ring.count - 1]) { ring.removeLast() }
    let outer = SphereRing(ring)
    try outer.checkEdges()
    return _GeoRegion(.polygon(outer: outer, holes: []))
  }

  /// The corners.
  public var description: String { "GeoBox(\(bottomLeft), \(topRight))" }
}
