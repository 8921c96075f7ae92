/// A place on the Earth.
public final class GeoPoint: Sendable {
  /// Degrees north of the equator, −90 to 90.
  public let latitude: Double
  /// Degrees east of Greenwich, −180 to 180.
  public let longitude: Double
  /// Meters above the ground, which queries ignore.
  public let altitude: Double

  /// Nil when a number is out of its range or none.
  public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
    guard GeoPoint.isValid(latitude: latitude, longitude: longitude),
      altitude >= 0, altitude.isFinite
    else { return nil }
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }

  convenience init?(_ place: (latitude: Double, longitude: Double)) {
    self.init(latitude: place.latitude, longitude: place.longitude)
  }

  /// Whether numbers are a place on the Earth.
  static func isValid(latitude: Double, longitude: Double) -> Bool {
    (-90...90).contains(latitude) && (-180...180).contains(longitude)
  }
}

extension GeoPoint: Hashable, CustomStringConvertible {
  /// Equal are points with equal numbers.
  public static func == (lhs: GeoPoint, rhs: GeoPoint) -> Bool {
    lhs.latitude == rhs.latitude && lhs.longitude == rhs.longitude && lhs.altitude == rhs.altitude
  }

  /// Hashes the numbers.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(latitude)
    hasher.combine(longitude)
    hasher.combine(altitude)
  }

  /// The longitude, the latitude, and the altitude where there is one.
  public var description: String {
    "[\(longitude), \(latitude)" + (altitude == 0 ? "]" : ", \(altitude)]")
  }
}
