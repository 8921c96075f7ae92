/// What lies inside of a ring of places, without what lies inside of others.
///
/// The edges are great circles. Of the two parts into which a ring cuts the Earth the smaller one is
/// meant, whichever way around the places are given.
public final class GeoPolygon: RLMGeospatial {
  /// The places around the polygon; the last one is the first.
  public let outerRing: [GeoPoint]
  /// The places around what the polygon does not have; each ring lies inside of the polygon.
  public let holes: [[GeoPoint]]

  /// Nil when a ring has fewer than four places, or does not end where it begins.
  public init?(outerRing: [GeoPoint], holes: [[GeoPoint]]? = nil) {
    let holes = holes ?? []
    guard ([outerRing] + holes).allSatisfy({ $0.count >= 4 && $0.first == $0.last }) else {
      return nil
    }
    self.outerRing = outerRing
    self.holes = holes
  }

  /// The same with places that are each a latitude and a longitude; nil also when one is no place.
  public convenience init?(outerRing: [(Double, Double)], holes: [[(Double, Double)]] = []) {
    func points(_ places: [(Double, Double)]) -> [GeoPoint]? {
      let points = places.compactMap { GeoPoint($0) }
      return points.count == places.count ? points : nil
    }
    let rings = holes.compactMap(points)
    guard let outer = points(outerRing), rings.count == holes.count else { return nil }
    self.init(outerRing: outer, holes: rings)
  }

  /// The same with each hole as an argument of its own.
  public convenience init?(outerRing: [(Double, Double)], holes: [(Double, Double)]...) {
    self.init(outerRing: outerRing, holes: holes)
  }

  /// The region that queries test; throws when a ring crosses itself or another one, has a place twice,
  /// or when a hole is not inside.
  public func _rlmRegion() throws -> _GeoRegion {
    func ring(_ points: [GeoPoint]) -> SphereRing {
      SphereRing(points.dropLast().map { SphereVector($0) })
    }
    let (outer, holes) = (ring(outerRing), holes.map(ring))
    try outer.check()
    for (index, hole) in holes.enumerated() {
      try hole.check()
      guard !hole.crosses(outer), hole.vertices.allSatisfy(outer.contains) else {
        throw GeoRegionError("hole \(index) is not inside of the outer ring")
      }
      for (other, earlier) in holes[..<index].enumerated() where hole.overlaps(earlier) {
        throw GeoRegionError("holes \(other) and \(index) have common points")
      }
    }
    return _GeoRegion(.polygon(outer: outer, holes: holes))
  }

  /// The rings.
  public var description: String {
    "GeoPolygon(\(outerRing)" + holes.map { ", \($0)" }.joined() + ")"
  }
}
