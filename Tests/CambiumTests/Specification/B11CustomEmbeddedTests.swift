import Cambium
import Foundation
import TestSupport
import Testing

final class SpecSpot: EmbeddedObject {
  @Persisted var x = 0.0
  @Persisted var y = 0.0
  @Persisted var label: String?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

struct SpecPosition: CustomPersistable, Codable {
  var x, y: Double
  init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
  init(persistedValue: SpecSpot) { (x, y) = (persistedValue.x, persistedValue.y) }
  var persistableValue: SpecSpot { SpecSpot(value: [x, y]) }
}

/// A position that is not left of zero.
struct SpecRightPosition: FailableCustomPersistable {
  var x: Double
  init(_ x: Double) { self.x = x }
  init?(persistedValue: SpecSpot) {
    if persistedValue.x < 0 { return nil }
    x = persistedValue.x
  }
  var persistableValue: SpecSpot { SpecSpot(value: ["x": x]) }
}

final class SpecTrack: Object, Codable {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var start: SpecPosition
  @Persisted var end = SpecPosition(7, 8)
  @Persisted var middle: SpecPosition?
  @Persisted var points: List<SpecPosition>
  @Persisted var named: Map<String, SpecPosition>
  @Persisted var maybe: Map<String, SpecPosition?>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecRight: Object {
  @Persisted var required: SpecRightPosition
  @Persisted var optional: SpecRightPosition?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Section B11.2: types of the program's own that are stored as embedded objects.
@Suite struct B11CustomEmbeddedTests {
  static let types: [ObjectBase.Type] = [SpecTrack.self, SpecSpot.self, SpecRight.self]
  private let file: SpecFile

  init() throws { file = try SpecFile(Self.types) }

  /// Runs `body` in a transaction over a managed object; then the file must be sound.
  private func withTrack(_ body: (Realm, SpecTrack) throws -> Void) throws {
    try autoreleasepool {
      let realm = try Realm(configuration: file.configuration)
      let track = SpecTrack()
      try realm.write {
        realm.add(track)
        try body(realm, track)
      }
    }
    try file.expectSound()
  }

  private func spotCount(_ realm: Realm) -> Int { realm.dynamicObjects("SpecSpot").count }

  @Test func `properties are read and assigned`() throws {
    func check(_ track: SpecTrack) {
      #expect(track.start == SpecPosition(0, 0) && track.end == SpecPosition(7, 8))
      #expect(track.middle == nil)
      track.start = SpecPosition(1, 2)
      track.middle = SpecPosition(3, 4)
      track.end.x = 9
      #expect(track.start == SpecPosition(1, 2) && track.end == SpecPosition(9, 8))
      #expect(track.middle?.y == 4)
      track.middle = nil
      #expect(track.middle == nil)
    }
    check(SpecTrack())
    try withTrack { realm, track in
      #expect(spotCount(realm) == 2)
      check(track)
      #expect(spotCount(realm) == 2, "What is replaced is deleted.")
      realm.delete(track)
      #expect(spotCount(realm) == 0)
    }
  }

  @Test func `collections hold them`() throws {
    func check(_ track: SpecTrack) {
      track.points.append(objectsIn: [SpecPosition(1, 1), SpecPosition(2, 2), SpecPosition(3, 3)])
      track.points[1] = SpecPosition(5, 5)
      track.points.remove(at: 0)
      track.points.move(from: 1, to: 0)
      #expect(Array(track.points) == [SpecPosition(3, 3), SpecPosition(5, 5)])
      #expect(track.points.index(of: SpecPosition(5, 5)) == 1)
      #expect(!track.points.contains(SpecPosition(1, 1)) && track.points.first?.x == 3)
      track.named["a"] = SpecPosition(1, 0)
      track.named["b"] = SpecPosition(2, 0)
      track.named["a"] = SpecPosition(4, 0)
      track.maybe["n"] = .some(nil)
      track.maybe["m"] = SpecPosition(6, 0)
      #expect(track.named.values == [SpecPosition(4, 0), SpecPosition(2, 0)])
      #expect(track.maybe.values == [SpecPosition(6, 0), nil] && track.maybe["x"] == nil)
      track.named.removeObject(for: "b")
      #expect(track.named.keys == ["a"])
    }
    check(SpecTrack())
    try withTrack { realm, track in
      check(track)
      #expect(spotCount(realm) == 6)
      let far = track.points.filter("x > 4")
      #expect(far.count == 1 && far[0] == SpecPosition(5, 5) && far.first?.x == 5)
      #expect(far.index(of: SpecPosition(5, 5)) == 0 && far.map(\.y) == [5])
      #expect(track.points.max(ofProperty: "x") == 5.0)
      #expect(track.maybe.sorted(byKeyPath: "x").map { $0?.x } == [6])
    }
  }

  @Test func `dictionaries, objects and updates make them`() throws {
    try withTrack { realm, _ in
      let made = realm.create(
        SpecTrack.self,
        value: [
          "id": 1, "start": ["x": 1, "y": 2], "middle": SpecPosition(3, 4),
          "points": [[5, 6], ["x": 7], SpecPosition(8, 9)], "named": ["k": [1, 1]],
        ] as [String: Any])
      #expect(made.start == SpecPosition(1, 2) && made.middle == SpecPosition(3, 4))
      #expect(
        Array(made.points) == [SpecPosition(5, 6), SpecPosition(7, 0), SpecPosition(8, 9)])
      #expect(made.named["k"] == SpecPosition(1, 1))
      let before = spotCount(realm)
      realm.create(
        SpecTrack.self,
        value: ["id": 1, "points": [[5, 6], [7, 1]], "start": [1, 3]] as [String: Any],
        update: .modified)
      #expect(made.start == SpecPosition(1, 3) && made.points.map(\.y) == [6, 1])
      #expect(made.end == SpecPosition(7, 8) && spotCount(realm) == before - 1)
      let copy = SpecTrack(value: made)
      #expect(copy.realm == nil && copy.start == SpecPosition(1, 3) && copy.points.count == 2)
      copy.id = 2
      realm.add(copy)
      #expect(Array(copy.points) == Array(made.points) && copy.named["k"] == SpecPosition(1, 1))
    }
  }

  @Test func `by name they are what is stored`() throws {
    try withTrack { realm, track in
      let spot = try #require(track["start"] as? SpecSpot)
      spot.x = 5
      #expect(track.start == SpecPosition(5, 0))
      track["end"] = ["x": 1.0, "y": 1.0]
      #expect(track.end == SpecPosition(1, 1))
      track["middle"] = SpecPosition(2, 2)
      #expect(track.middle == SpecPosition(2, 2))
      let dynamic = try #require(realm.dynamicObjects("SpecTrack").first)
      #expect((dynamic["start"] as? DynamicObject)?["x"] as? Double == 5)
      dynamic["start"] = nil
      #expect(track.start == SpecPosition(0, 0), "Null reads as the default.")
      let copy = SpecTrack(value: track)
      #expect(copy.start == SpecPosition(0, 0) && copy.end == track.end)
      let schema = try #require(realm.schema["SpecTrack"])
      #expect(schema["start"]?.objectClassName == "SpecSpot" && schema["start"]?.isOptional == true)
      #expect(schema["points"]?.isArray == true && schema["points"]?.isOptional == false)
      #expect(schema["named"]?.isMap == true && schema["named"]?.isOptional == true)
      #expect(realm.schema["SpecSpot"]?.isEmbedded == true)
    }
  }

  @Test func `queries compare them member by member, or what is stored`() throws {
    try withTrack { realm, track in
      for id in 1...4 {
        let made = realm.create(SpecTrack.self, value: ["id": id])
        made.start = SpecPosition(Double(id), 0)
        if id > 2 { made.middle = SpecPosition(1, Double(id)) }
        made.points.append(SpecPosition(Double(id * 10), 0))
      }
      let all = realm.objects(SpecTrack.self)
      func ids(_ results: Results<SpecTrack>) -> [Int] { results.map(\.id).sorted() }
      #expect(ids(all.where { $0.start == SpecPosition(2, 0) }) == [2])
      #expect(ids(all.where { $0.start != SpecPosition(2, 0) }) == [0, 1, 3, 4])
      #expect(ids(all.where { $0.middle == SpecPosition(1, 4) }) == [4])
      #expect(ids(all.where { $0.middle == nil }) == [0, 1, 2])
      #expect(ids(all.where { $0.start.persistableValue.x > 2 }) == [3, 4])
      #expect(ids(all.where { $0.middle.persistableValue.y >= 3 }) == [3, 4])
      #expect(ids(all.filter("start.x < 2 AND ANY points.x == 10")) == [1])
      #expect(all.sorted(byKeyPath: "start.x", ascending: false).first?.id == 4)
      let (text, values) = Query<SpecTrack>._constructForTesting().start
        .memberwiseText(SpecPosition(1, 2))
      #expect(
        text == "((start.x == %@) && (start.y == %@) && (start.label == %@))" && values.count == 3)
    }
  }

  @Test func `frozen objects, coding and failing values`() throws {
    try withTrack { realm, track in
      track.points.append(SpecPosition(1, 2))
      let text = try JSONEncoder().encode(SpecTrack(value: track))
      let decoded = try JSONDecoder().decode(SpecTrack.self, from: text)
      #expect(decoded.points.first == SpecPosition(1, 2) && decoded.end == SpecPosition(7, 8))
      let right = realm.create(SpecRight.self, value: ["required": ["x": 3], "optional": ["x": 4]])
      #expect(right.required == SpecRightPosition(3) && right.optional == SpecRightPosition(4))
      (right["optional"] as? SpecSpot)?.x = -1
      #expect(right.optional == nil)
    }
    let realm = try Realm(configuration: file.configuration)
    let track = try #require(realm.objects(SpecTrack.self).first)
    let frozen = track.freeze()
    try realm.write { track.points[0] = SpecPosition(9, 9) }
    #expect(frozen.points[0] == SpecPosition(1, 2) && track.points[0] == SpecPosition(9, 9))
    #expect(frozen.points.map(\.x) == [1])
  }

  @Test func `observers are told of them`() async throws {
    let desk = try Desk(specConfiguration(Self.types))
    desk.run { realm in
      realm.beginWrite()
      let track = realm.create(SpecTrack.self, value: ["points": [[1, 1], [2, 2]]])
      #expect(throws: Never.self) { try realm.commitWrite() }
      desk.tokens = [
        track.points.observe { [unowned desk] change in desk.note(change) }
      ]
    }
    #expect(await desk.next() == "initial 2")
    desk.run { realm in
      realm.beginWrite()
      realm.objects(SpecTrack.self).first?.points.append(SpecPosition(3, 3))
      #expect(throws: Never.self) { try realm.commitWrite() }
    }
    #expect(await desk.next() == "-[] +[2] ~[]")
  }
}

extension Query {
  /// The text of the comparison with a value.
  fileprivate func memberwiseText(_ value: T) -> (String, [Any]) {
    (self == value)._constructPredicate()
  }
}
