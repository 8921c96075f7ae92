/// A region on the Earth, for ``Query/geoWithin(_:)``: ``GeoBox``, ``GeoPolygon`` or ``GeoCircle``.
public protocol RLMGeospatial: Sendable, CustomStringConvertible {
  /// The region as queries test it; throws a description of what is wrong with it.
  func _rlmRegion() throws -> _GeoRegion
}

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

  /// The region that queries test; throws where an edge leads halfway around the Earth.
  public func _rlmRegion() throws -> _GeoRegion {
    let (low, high) = (bottomLeft, topRight)
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

/// What is at most so far away from a place.
public final class GeoCircle: RLMGeospatial {
  /// The place in the middle.
  public let center: GeoPoint
  /// The radius, as an angle at the Earth's center.
  public let radians: Double

  /// Nil when the radius is negative or none.
  public init?(center: GeoPoint, radiusInRadians: Double) {
    guard radiusInRadians >= 0, radiusInRadians.isFinite else { return nil }
    self.center = center
    radians = radiusInRadians
  }

  /// A circle with a radius on the Earth's surface.
  public init(center: GeoPoint, radius: Distance) {
    self.center = center
    radians = radius.radians
  }

  /// The same around a latitude and a longitude; nil also when they are no place.
  public convenience init?(center: (Double, Double), radiusInRadians: Double) {
    guard let center = GeoPoint(center) else { return nil }
    self.init(center: center, radiusInRadians: radiusInRadians)
  }

  /// A circle around a latitude and a longitude; nil when they are no place.
  public convenience init?(center: (Double, Double), radius: Distance) {
    guard let center = GeoPoint(center) else { return nil }
    self.init(center: center, radius: radius)
  }

  /// The region that queries test.
  public func _rlmRegion() -> _GeoRegion {
    _GeoRegion(.cap(SphereVector(center), radius: radians))
  }

  /// The center and the radius in radians.
  public var description: String { "GeoCircle(\(center), \(radians))" }
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
