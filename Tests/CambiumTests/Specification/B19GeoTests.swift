import Foundation
import TestSupport
import Testing

@testable import Cambium

final class SpecPlace: EmbeddedObject {
  @Persisted var type = "Point"
  @Persisted var coordinates: List<Double>

  convenience init(_ latitude: Double, _ longitude: Double) {
    self.init()
    coordinates.append(objectsIn: [longitude, latitude])
  }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecMisshapen: EmbeddedObject {
  @Persisted var type = "Point"
  @Persisted var coordinates: List<Int>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecShop: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var place: SpecPlace?
  @Persisted var branches: List<SpecPlace>
  @Persisted var named: Map<String, SpecPlace?>
  @Persisted var neighbor: SpecShop?
  @Persisted var misshapen: SpecMisshapen?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Section B19: places on the Earth.
@Suite struct B19GeoTests {
  static let types: [ObjectBase.Type] = [SpecShop.self, SpecPlace.self, SpecMisshapen.self]

  // MARK: Regions

  @Test func `numbers that are no place, distance or region make none`() throws {
    for (latitude, longitude) in [
      (90.1, 0.0), (-90.1, 0), (0, 180.1), (0, -180.1), (.nan, 0), (0, .nan), (.infinity, 0),
    ] {
      #expect(GeoPoint(latitude: latitude, longitude: longitude) == nil)
      #expect(GeoCircle(center: (latitude, longitude), radiusInRadians: 1) == nil)
      #expect(GeoBox(bottomLeft: (latitude, longitude), topRight: (1, 1)) == nil)
      #expect(GeoPolygon(outerRing: [(0, 0), (latitude, longitude), (1, 1), (0, 0)]) == nil)
    }
    #expect(GeoPoint(latitude: 90, longitude: -180, altitude: 8848)?.altitude == 8848)
    #expect(GeoPoint(latitude: 0, longitude: 0, altitude: -1) == nil)
    for number in [-1, .nan, Double.infinity] {
      #expect(Distance.kilometers(number) == nil && Distance.miles(number) == nil)
      #expect(Distance.degrees(number) == nil && Distance.radians(number) == nil)
      #expect(GeoCircle(center: (0, 0), radiusInRadians: number) == nil)
    }
    #expect(GeoPolygon(outerRing: [(0, 0), (0, 1), (0, 0)]) == nil)
    #expect(GeoPolygon(outerRing: [(0, 0), (0, 1), (1, 1), (1, 0)]) == nil)
    #expect(
      GeoPolygon(outerRing: [(0, 0), (0, 9), (9, 9), (0, 0)], holes: [(1, 2), (1, 3), (1, 2)])
        == nil)
    let polygon = try #require(
      GeoPolygon(
        outerRing: [(0, 0), (0, 9), (9, 9), (0, 0)], holes: [[(1, 4), (2, 5), (1, 5), (1, 4)]]))
    #expect(polygon.outerRing.count == 4 && polygon.holes.map(\.count) == [4])
  }

  @Test func `distances convert`() throws {
    let distance = try #require(Distance.kilometers(6378.1))
    #expect(distance.radians == 1 && abs(distance.asDegrees() - 57.29577951308232) < 1e-12)
    #expect(abs(distance.asMiles() - 3963.1676) < 1e-3 && distance.asKilometers() == 6378.1)
    let (mile, half) = (try #require(Distance.miles(1)), try #require(Distance.degrees(180)))
    #expect(abs(mile.asKilometers() - 1.609344) < 1e-12 && abs(half.radians - .pi) < 1e-15)
    #expect(Distance.radians(0.5)?.radians == 0.5)
  }

  private func contains(_ shape: any RLMGeospatial, _ latitude: Double, _ longitude: Double) throws
    -> Bool
  {
    try shape._rlmRegion().contains(longitude: longitude, latitude: latitude)
  }

  @Test func `a circle has what is as near as its radius`() throws {
    let london = (51.5074, -0.1278)
    func circle(_ radius: Distance?) throws -> GeoCircle {
      try #require(radius.flatMap { GeoCircle(center: london, radius: $0) })
    }
    let (near, far) = (try circle(.kilometers(344.2)), try circle(.kilometers(343.5)))
    // Paris is 343.9 km away on this sphere.
    #expect(try contains(near, 48.8566, 2.3522) && !contains(far, 48.8566, 2.3522))
    let point = try #require(GeoCircle(center: london, radiusInRadians: 0))
    #expect(try contains(point, london.0, london.1) && !contains(point, 51.5074001, london.1))
    let all = try #require(GeoCircle(center: london, radiusInRadians: 4))
    #expect(try contains(all, -51.5074, 179.8722))
    var random = SeededGenerator(seed: 19)
    func place() -> (Double, Double) {
      (Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random))
    }
    for _ in 0..<2000 {
      let (center, other) = (place(), place())
      let radius = Double.random(in: 0...3.2, using: &random)
      let (north, otherNorth) = (center.0 * .pi / 180, other.0 * .pi / 180)
      let angle = acos(
        sin(north) * sin(otherNorth)
          + cos(north) * cos(otherNorth) * cos((center.1 - other.1) * .pi / 180))
      if abs(angle - radius) < 1e-7 { continue }
      let circle = try #require(GeoCircle(center: center, radiusInRadians: radius))
      #expect(try contains(circle, other.0, other.1) == (angle < radius))
    }
  }

  @Test func `a box has great circles for edges`() throws {
    let box = try #require(GeoBox(bottomLeft: (0, 0), topRight: (10, 10)))
    for (latitude, longitude, expected) in [
      (5.0, 5.0, true), (0, 0, true), (10, 10, true), (0, 5, true), (5, 0, true), (5, 10, true),
      (-0.001, 5, false), (5, -0.001, false), (5, 10.001, false), (10.03, 5, true),
      (10.05, 5, false), (10.001, 0, false), (-5, -175, false), (-5, 5, false),
    ] {
      #expect(
        try contains(box, latitude, longitude) == expected, "\(latitude), \(longitude)")
    }
    let date = try #require(GeoBox(bottomLeft: (-10, 170), topRight: (10, -170)))
    #expect(try contains(date, 0, 180) && contains(date, 0, -175) && !contains(date, 0, 0))
    let polar = try #require(GeoBox(bottomLeft: (80, 0), topRight: (90, 90)))
    #expect(try contains(polar, 85, 45) && contains(polar, 90, 123) && !contains(polar, 85, -45))
    let line = try #require(GeoBox(bottomLeft: (0, 0), topRight: (10, 0)))
    #expect(try contains(line, 5, 0) && !contains(line, 5, 0.001))
    let half = try #require(GeoBox(bottomLeft: (0, -90), topRight: (10, 90)))
    #expect(throws: GeoRegionError.self) { try contains(half, 5, 5) }
  }

  @Test func `of the two sides of a ring the smaller one is inside`() throws {
    let ring = [(-10.0, 0.0), (-10, 90), (-10, 180), (-10, -90), (-10, 0)]
    for ring in [ring, ring.reversed()] {
      let polygon = try #require(GeoPolygon(outerRing: ring))
      #expect(try contains(polygon, -90, 0) && contains(polygon, -20, 45))
      #expect(try !contains(polygon, 90, 0) && !contains(polygon, 0, 45))
    }
  }

  /// Points and polygons on a plane that touches the sphere: the projection from the center of the sphere
  /// makes great circles straight.
  private struct Plane {
    let center, east, north: SphereVector

    init(_ random: inout SeededGenerator) {
      func direction() -> SphereVector {
        SphereVector(
          x: .random(in: -1...1, using: &random), y: .random(in: -1...1, using: &random),
          z: .random(in: -1...1, using: &random))
      }
      center = direction().normalized ?? SphereVector(x: 1, y: 0, z: 0)
      let east = center.cross(direction()).normalized ?? SphereVector(x: 0, y: 1, z: 0)
      self.east = east
      north = center.cross(east)
    }

    func point(_ place: (x: Double, y: Double)) -> SphereVector {
      let far = center + place.x * east + place.y * north
      return (1 / far.length) * far
    }

    /// Degrees, as far as they can hold the point.
    func geoPoint(_ place: (x: Double, y: Double)) throws -> GeoPoint {
      let point = point(place)
      return try #require(
        GeoPoint(
          latitude: asin(min(max(point.z, -1), 1)) * 180 / .pi,
          longitude: atan2(point.y, point.x) * 180 / .pi))
    }

    static func contains(_ ring: [(x: Double, y: Double)], _ place: (x: Double, y: Double)) -> Bool
    {
      var isInside = false
      for (a, b) in zip(ring, ring.dropFirst() + ring.prefix(1))
      where (a.y > place.y) != (b.y > place.y) {
        if place.x < (b.x - a.x) * (place.y - a.y) / (b.y - a.y) + a.x { isInside.toggle() }
      }
      return isInside
    }
  }

  @Test(arguments: 0..<40) func `a polygon has what a plane one has under projection`(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let plane = Plane(&random)
    // From a few meters to three quarters of a hemisphere.
    let size = pow(10, Double.random(in: -6...0.6, using: &random))
    let count = Int.random(in: 3...30, using: &random)
    let star = (0..<count).map { index -> (x: Double, y: Double) in
      let angle = (Double(index) + .random(in: 0..<0.9, using: &random)) * 2 * .pi / Double(count)
      let radius = size * Double.random(in: 0.3...1, using: &random)
      return (radius * cos(angle), radius * sin(angle))
    }
    let hole = star.map { (x: $0.x * 0.4, y: $0.y * 0.4) }
    func ring(_ places: [(x: Double, y: Double)]) throws -> [GeoPoint] {
      let points = try places.map { try plane.geoPoint($0) }
      return points + points.prefix(1)
    }
    let outer = try ring(seed % 2 == 0 ? star : star.reversed())
    let polygon = try #require(
      GeoPolygon(outerRing: outer, holes: seed % 3 == 0 ? nil : [ring(hole)]))
    let region = try polygon._rlmRegion()
    func has(_ point: GeoPoint) -> Bool {
      region.contains(longitude: point.longitude, latitude: point.latitude)
    }
    var insideCount = 0
    for _ in 0..<2000 {
      let place = (
        x: Double.random(in: -1.2...1.2, using: &random) * size,
        y: Double.random(in: -1.2...1.2, using: &random) * size
      )
      let isInside =
        Plane.contains(star, place) && (seed % 3 == 0 || !Plane.contains(hole, place))
      let point = try plane.geoPoint(place)
      #expect(has(point) == isInside, "seed \(seed), \(place)")
      insideCount += isInside ? 1 : 0
      let opposite = try #require(
        GeoPoint(
          latitude: -point.latitude,
          longitude: point.longitude + (point.longitude > 0 ? -180 : 180)))
      #expect(!has(opposite), "seed \(seed), opposite of \(place)")
    }
    #expect(insideCount > 100)
    #expect(outer.allSatisfy(has), "Corners belong to the region, seed \(seed)")
    if seed % 3 != 0 { #expect(try ring(hole).allSatisfy(has)) }
  }

  @Test func `what is wrong with a region is told`() throws {
    func complaint(_ outer: [(Double, Double)], _ holes: [[(Double, Double)]] = []) -> String {
      do {
        _ = try GeoPolygon(outerRing: outer, holes: holes)?._rlmRegion()
        return "none"
      } catch { return "\(error)" }
    }
    let square = [(0.0, 0.0), (0, 10), (10, 10), (10, 0), (0, 0)]
    #expect(complaint(square) == "none")
    #expect(complaint([(0, 0), (10, 10), (0, 10), (10, 0), (0, 0)]) == "edges 0 and 2 cross")
    #expect(
      complaint([(0, 0), (0, 10), (0, 10), (10, 0), (0, 0)]) == "corners 1 and 2 are the same")
    #expect(
      complaint([(0, 0), (0, 180), (10, 0), (0, 0)]) == "edge 0 leads halfway around the Earth")
    let around = try #require(GeoBox(bottomLeft: (-10, -180), topRight: (10, 180)))
    #expect(throws: GeoRegionError.self) { try around._rlmRegion() }
    let hole = [(2.0, 2.0), (2, 4), (4, 4), (4, 2), (2, 2)]
    func moved(_ by: Double) -> [(Double, Double)] { hole.map { ($0.0 + by, $0.1 + by) } }
    #expect(complaint(square, [hole, moved(3)]) == "none")
    #expect(complaint(square, [moved(7)]) == "hole 0 is not inside of the outer ring")
    #expect(complaint(square, [hole, moved(20)]) == "hole 1 is not inside of the outer ring")
    #expect(complaint(square, [hole, moved(1)]) == "holes 0 and 1 have common points")
    #expect(complaint(square, [hole, hole]) == "holes 0 and 1 have common points")
  }

  // MARK: Queries

  @Test func `queries find places in properties, lists and maps, behind links and without a Realm`()
    throws
  {
    let file = try SpecFile(Self.types)
    try autoreleasepool {
      let realm = try Realm(configuration: file.configuration)
      let places: [SpecPlace?] = [
        SpecPlace(5, 5), SpecPlace(50, 5), nil, SpecPlace(value: ["POINT", [6, 4, 100]]),
        SpecPlace(value: ["Polygon", [5, 5]]), SpecPlace(value: ["Point", [5]]),
        SpecPlace(value: ["Point", [Double]()]), SpecPlace(value: ["Point", [5, 95]]),
        SpecPlace(value: ["Point", [Double.nan, 5]]),
      ]
      let shops = places.indices.map { SpecShop(value: ["id": $0]) }
      for (shop, place) in zip(shops, places) {
        shop.place = place
        shop.neighbor = shops[0]
      }
      shops[1].branches.append(objectsIn: [SpecPlace(60, 5), SpecPlace(4, 4)])
      shops[2].named["main"] = SpecPlace(1, 1)
      shops[2].named["other"] = SpecPlace(70, 1)
      shops[3].named["main"] = .some(nil)
      let box = try #require(GeoBox(bottomLeft: (0, 0), topRight: (10, 10)))
      let list = List<SpecShop>()
      list.append(objectsIn: shops)
      #expect(list.index { $0.place.geoWithin(box) && $0.id > 0 } == 3)
      #expect(list.index(matching: "ANY branches IN %@", box) == 1)
      try realm.write { realm.add(shops) }
      let all = realm.objects(SpecShop.self)
      func ids(_ results: Results<SpecShop>) -> [Int] { results.map(\.id).sorted() }
      #expect(ids(all.where { $0.place.geoWithin(box) }) == [0, 3])
      #expect(ids(all.filter("place IN %@", box)) == [0, 3])
      #expect(ids(all.filter("NOT place IN %@", box)).count == 7)
      #expect(ids(all.where { !$0.place.geoWithin(box) && $0.id < 3 }) == [1, 2])
      let circle = try #require(
        Distance.kilometers(10).flatMap { GeoCircle(center: (50, 5), radius: $0) })
      #expect(
        ids(all.where { $0.place.geoWithin(circle) || $0.place.geoWithin(box) }) == [0, 1, 3])
      let polygon = try #require(GeoPolygon(outerRing: [(3, 3), (3, 7), (6, 7), (6, 3), (3, 3)]))
      #expect(ids(all.where { $0.place.geoWithin(polygon) }) == [0, 3])
      #expect(ids(all.filter("ANY branches IN %@", box)) == [1])
      #expect(ids(all.where { $0.named["main"].geoWithin(box) }) == [2])
      #expect(ids(all.filter("named['other'] IN %@", box)) == [])
      #expect(ids(all.filter("ANY named IN %@", box)) == [2])
      #expect(ids(all.where { $0.neighbor.place.geoWithin(box) && $0.id < 2 }) == [0, 1])
      let (text, arguments) = Query<SpecShop>._constructForTesting().place.geoWithin(box)
        ._constructPredicate()
      #expect(text == "(place IN %@)" && arguments.count == 1 && arguments[0] as? GeoBox === box)
      let live = all.where { $0.place.geoWithin(box) }
      try realm.write { shops[1].place?.coordinates[1] = 5 }
      #expect(ids(live) == [0, 1, 3])
      try realm.write { shops[0].place?.type = "Line" }
      #expect(ids(live) == [1, 3])
    }
    try file.expectSound()
  }
}
