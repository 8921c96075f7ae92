import Foundation

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

/// A distance on the Earth's surface, whose radius is taken to be 6,378.1 km.
public final class Distance: Sendable {
  /// The angle that it has at the Earth's center.
  public let radians: Double

  private static let earthRadius = 6_378_100.0
  private static let metersPerMile = 1_609.344

  private init?(checking radians: Double) {
    guard radians >= 0, radians.isFinite else { return nil }
    self.radians = radians
  }

  /// Nil when the number is negative or none.
  public static func kilometers(_ kilometers: Double) -> Distance? {
    Distance(checking: kilometers * 1000 / earthRadius)
  }

  /// Nil when the number is negative or none.
  public static func miles(_ miles: Double) -> Distance? {
    Distance(checking: miles * metersPerMile / earthRadius)
  }

  /// Nil when the number is negative or none.
  public static func degrees(_ degrees: Double) -> Distance? {
    Distance(checking: degrees * .pi / 180)
  }

  /// Nil when the number is negative or none.
  public static func radians(_ radians: Double) -> Distance? { Distance(checking: radians) }

  /// The distance in kilometers.
  public func asKilometers() -> Double { radians * Self.earthRadius / 1000 }
  /// The distance in miles of 1,609.344 m.
  public func asMiles() -> Double { radians * Self.earthRadius / Self.metersPerMile }
  /// The angle at the Earth's center in degrees.
  public func asDegrees() -> Double { radians * 180 / .pi }
}
