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
