import Foundation

/// A closed line of great circles on the sphere, and the smaller of the two parts that it cuts off.
struct SphereRing: Hashable {
  /// The corners; the last one is followed by the first.
  let vertices: [SphereVector]
  private let edges: [(SphereVector, SphereVector)]
  /// Whether the inside is to the left of the edges.
  private let isLeftInside: Bool
  /// Points that certainly lie to the left of an edge.
  private let references: [SphereVector]
  /// A circle that has everything inside, unless that is too large for one to be of use.
  private let bound: (center: SphereVector, radius: Double)?

  init(_ vertices: [SphereVector]) {
    self.vertices = vertices
    edges = Array(zip(vertices, vertices.dropFirst() + vertices.prefix(1)))
    isLeftInside = Self.leftArea(vertices) <= 2 * .pi
    references = Self.references(vertices)
    let center = vertices.reduce(SphereVector(x: 0, y: 0, z: 0), +).normalized
    bound = center.flatMap { center in
      let chord = vertices.map { ($0 - center).length }.max() ?? 0
      // A circle smaller than a hemisphere has the edges between its points inside.
      return chord < 1.4 ? (center, 2 * asin(chord / 2) + 1e-9) : nil
    }
  }

  static func == (left: SphereRing, right: SphereRing) -> Bool { left.vertices == right.vertices }

  func hash(into hasher: inout Hasher) { hasher.combine(vertices) }

  // MARK: Containing

  /// Whether a point lies inside or on an edge.
  func contains(_ point: SphereVector) -> Bool {
    if let bound, !bound.center.isWithin(bound.radius, of: point) { return false }
    if isOnEdge(point) { return true }
    // On the way to a point left of an edge each crossing changes the side.
    for reference in references {
      if let crossings = crossings(point, reference) {
        return crossings.isMultiple(of: 2) == isLeftInside
      }
    }
    return false
  }

  /// Whether a point lies on an edge.
  func isOnEdge(_ point: SphereVector) -> Bool {
    edges.contains { point.distance(toArc: $0, $1) < SphereVector.tolerance }
  }

  /// How many edges the arc between two points that are on no edge crosses; nil when it leads halfway
  /// around the sphere.
  private func crossings(_ start: SphereVector, _ end: SphereVector) -> Int? {
    if (start + end).length < 1e-7 { return nil }
    let normal = start.stableCross(end)
    // Which side of the arc a corner is on is decided once: an arc that passes a corner crosses both of
    // its edges, or none.
    let isLeft = vertices.map { normal.dot($0) > 0 }
    var count = 0
    for (index, (from, to)) in edges.enumerated() {
      guard isLeft[index] != isLeft[(index + 1) % isLeft.count] else { continue }
      let across = from.stableCross(to)
      let isEndLeft = across.dot(end) > 0
      // The planes cut each other in two opposite points; both arcs have the same one when the turns
      // agree.
      if (across.dot(start) > 0) != isEndLeft, isLeft[index] == isEndLeft { count += 1 }
    }
    return count
  }

  // MARK: Making

  /// The area to the left of the edges, 0 to 4 π.
  private static func leftArea(_ vertices: [SphereVector]) -> Double {
    guard vertices.count > 2 else { return 0 }
    var area = 0.0
    for index in 1..<vertices.count - 1 {
      let (a, b, c) = (vertices[0], vertices[index], vertices[index + 1])
      // Van Oosterom and Strackee, "The solid angle of a plane triangle", 1983.
      let volume = a.dot(b.stableCross(c)) / 2
      area += 2 * atan2(volume, 1 + a.dot(b) + b.dot(c) + c.dot(a))
    }
    let turns = (area / (4 * .pi)).rounded(.down)
    return area - turns * 4 * .pi
  }

  /// For a few of the longest edges a point to the left, nearer to it than any other edge.
  private static func references(_ vertices: [SphereVector]) -> [SphereVector] {
    guard vertices.count > 2 else { return [] }
    let edges = Array(zip(vertices, vertices.dropFirst() + vertices.prefix(1)))
    let order = edges.indices.sorted {
      (edges[$0].0 - edges[$0].1).length > (edges[$1].0 - edges[$1].1).length
    }
    return order.prefix(8).compactMap { index in
      let (start, end) = edges[index]
      guard let middle = (start + end).normalized, let left = start.stableCross(end).normalized
      else { return nil }
      let room =
        edges.indices.filter { $0 != index }
        .map { middle.distance(toArc: edges[$0].0, edges[$0].1) }.min() ?? 0
      return (middle + (room / 2) * left).normalized
    }
  }

  // MARK: Checking

  /// Throws what is wrong with the ring.
  func check() throws {
    try checkEdges()
    let edges = edges
    guard edges.count >= 3 else { throw GeoRegionError("a ring has fewer than three corners") }
    for (index, edge) in edges.enumerated() {
      for other in edges.indices.dropFirst(index + 1) {
        if edges[other].0.isSame(as: edge.0) {
          throw GeoRegionError("corners \(index) and \(other) are the same")
        }
        if Self.cross(edge, edges[other]) {
          throw GeoRegionError("edges \(index) and \(other) cross")
        }
      }
    }
  }

  /// Throws which edge has no direction.
  func checkEdges() throws {
    for (index, edge) in edges.enumerated() where (edge.0 + edge.1).length < SphereVector.tolerance
    {
      throw GeoRegionError("edge \(index) leads halfway around the Earth")
    }
  }

  /// Whether edges of both rings cross.
  func crosses(_ other: SphereRing) -> Bool {
    edges.contains { edge in other.edges.contains { Self.cross(edge, $0) } }
  }

  /// Whether the insides of both rings have common points.
  func overlaps(_ other: SphereRing) -> Bool {
    func reaches(_ inner: SphereRing, _ outer: SphereRing) -> Bool {
      inner.vertices.contains { outer.contains($0) && !outer.isOnEdge($0) }
    }
    return crosses(other) || reaches(self, other) || reaches(other, self)
      || vertices == other.vertices
  }

  /// Whether two edges cross in a point that is a corner of neither.
  private static func cross(
    _ first: (SphereVector, SphereVector), _ second: (SphereVector, SphereVector)
  ) -> Bool {
    let (a, b) = (first.0.stableCross(first.1), second.0.stableCross(second.1))
    let (c, d) = (a.dot(second.0), a.dot(second.1))
    let (e, f) = (b.dot(first.0), b.dot(first.1))
    let (small, tiny) = (1e-15 * a.length, 1e-15 * b.length)
    guard min(abs(c), abs(d)) > small, min(abs(e), abs(f)) > tiny else { return false }
    return (c > 0) != (d > 0) && (e > 0) != (f > 0) && (c > 0) == (f > 0)
  }
}
