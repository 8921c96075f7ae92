import Foundation

/// A point of the unit sphere.
struct SphereVector: Hashable {
  var x, y, z: Double

  init(x: Double, y: Double, z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// The place with these degrees.
  init(latitude: Double, longitude: Double) {
    let (north, east) = (latitude * .pi / 180, longitude * .pi / 180)
    // At the poles every longitude is the same place.
    let width = abs(latitude) == 90 ? 0 : cos(north)
    self.init(x: width * cos(east), y: width * sin(east), z: sin(north))
  }

  init(_ point: GeoPoint) { self.init(latitude: point.latitude, longitude: point.longitude) }

  /// Below this distance, some 60 nm on the Earth, points are the same, and lie on an edge.
  static let tolerance = 1e-14

  static func + (left: SphereVector, right: SphereVector) -> SphereVector {
    SphereVector(x: left.x + right.x, y: left.y + right.y, z: left.z + right.z)
  }

  static func - (left: SphereVector, right: SphereVector) -> SphereVector {
    SphereVector(x: left.x - right.x, y: left.y - right.y, z: left.z - right.z)
  }

  static func * (left: Double, right: SphereVector) -> SphereVector {
    SphereVector(x: left * right.x, y: left * right.y, z: left * right.z)
  }

  func dot(_ other: SphereVector) -> Double { x * other.x + y * other.y + z * other.z }

  func cross(_ other: SphereVector) -> SphereVector {
    SphereVector(
      x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
  }

  /// Twice the cross product, exact to the last digits also for points next to each other.
  func stableCross(_ other: SphereVector) -> SphereVector { (self - other).cross(self + other) }

  var length: Double { dot(self).squareRoot() }

  /// The point in the same direction; nil for one too close to the center to have any.
  var normalized: SphereVector? {
    let length = length
    return length < 1e-300 ? nil : (1 / length) * self
  }

  func isSame(as other: SphereVector) -> Bool { (self - other).length < Self.tolerance }

  /// Whether the angle between both is at most `radius`.
  func isWithin(_ radius: Double, of other: SphereVector) -> Bool {
    // By the chord, which is exact for small angles.
    radius >= .pi || (self - other).length <= 2 * sin(radius / 2) + Self.tolerance
  }

  /// How far the point is from the shorter arc between two others.
  func distance(toArc start: SphereVector, _ end: SphereVector) -> Double {
    let nearest = min((self - start).length, (self - end).length)
    guard let normal = start.stableCross(end).normalized else { return nearest }
    // The foot of the perpendicular lies on the arc where the point is ahead of one end and before the
    // other.
    guard normal.cross(start).dot(self) > 0, end.cross(normal).dot(self) > 0 else { return nearest }
    return abs(normal.dot(self))
  }
}
