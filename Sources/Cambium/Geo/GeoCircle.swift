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
