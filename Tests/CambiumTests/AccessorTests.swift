import Cambium
import Foundation
import Testing

/// Has an initialiser that can be seen; for one test alone.
final class CountedModel: Object {
  @Persisted(primaryKey: true) var id = 7
  @Persisted var text = "a default that is longer than fifteen bytes"

  static let instances = Counter()

  // Others would make one when they open all classes.
  override static func shouldIncludeInDefaultSchema() -> Bool { false }

  required init() {
    super.init()
    Self.instances.increment()
  }
}

/// Has nothing but stored properties.
final class PlainModel: Object {
  @Persisted(primaryKey: true) var id = 7
  @Persisted var text = "a default that is longer than fifteen bytes"
  @Persisted var note: String? = "another default that is longer than fifteen bytes"
  @Persisted var values: List<Int>
  @Persisted var next: PlainModel?
  @Persisted(originProperty: "next") var previous: LinkingObjects<PlainModel>
}

/// Has values that are not stored.
class TransientModel: Object {
  @Persisted(primaryKey: true) var id = 0
  var cache: [Int] = [1, 2, 3]
  lazy var label = "object \(id)"
}

final class TransientChild: TransientModel {
  @Persisted var name = ""
}

final class Counter: @unchecked Sendable {
  // Behind the lock.
  private var count = 0
  private let lock = NSLock()
  func increment() { lock.withLock { count += 1 } }
  var value: Int { lock.withLock { count } }
}

@Suite struct AccessorTests {
  private func realm() throws -> Realm {
    try Realm(
      configuration: SampledStore.configuration(
        [PlainModel.self, CountedModel.self, TransientModel.self, TransientChild.self]))
  }

  @Test func `accessors of plain classes are made without their initialiser`() throws {
    let realm = try realm()
    try realm.write {
      for id in 0..<50 { realm.create(CountedModel.self, value: ["id": id]) }
    }
    let before = CountedModel.instances.value
    var ids: [Int] = []
    for object in realm.objects(CountedModel.self) { ids.append(object.id) }
    #expect(ids == Array(0..<50))
    #expect(realm.objects(CountedModel.self)[7].text.count == 43)
    #expect(CountedModel.instances.value == before)
  }

  @Test func `such accessors read, keep lists, follow links and are freed`() throws {
    let realm = try realm()
    try realm.write {
      let first = realm.create(PlainModel.self, value: ["id": 1, "text": "x", "values": [1, 2]])
      realm.create(PlainModel.self, value: ["id": 2, "note": NSNull(), "next": first])
    }
    weak var freed: PlainModel?
    try autoreleasepool {
      let second = try #require(realm.object(ofType: PlainModel.self, forPrimaryKey: 2))
      freed = second
      #expect(second.note == nil && second.values.isEmpty)
      #expect(second.next?.text == "x" && second.values === second.values)
      #expect(second.next.map { Array($0.values) } == [1, 2])
      #expect(second.next?.previous.first == second)
      #expect(second.objectSchema.className == "PlainModel")
      try realm.write {
        second.text = "changed"
        second.values.append(5)
      }
      #expect(second.text == "changed" && Array(second.values) == [5])
      #expect(second.freeze().text == "changed")
    }
    #expect(freed == nil)
  }

  @Test func `values that are not stored begin with their defaults in every accessor`() throws {
    let realm = try realm()
    try realm.write {
      realm.create(TransientModel.self, value: ["id": 4])
      realm.create(TransientChild.self, value: ["id": 5, "name": "five"])
    }
    let model = try #require(realm.objects(TransientModel.self).first)
    #expect(model.cache == [1, 2, 3] && model.label == "object 4")
    model.cache = []
    #expect(realm.objects(TransientModel.self).first?.cache == [1, 2, 3])
    let child = try #require(realm.objects(TransientChild.self).first)
    #expect(child.cache == [1, 2, 3] && child.label == "object 5" && child.name == "five")
  }

  @Test func `a walk goes on over what it began with while objects come, change and go`() throws {
    let realm = try realm()
    try realm.write { for id in 0..<3000 { realm.create(PlainModel.self, value: ["id": id]) } }
    var seen = 0
    var gone = 0
    try realm.write {
      for object in realm.objects(PlainModel.self) {
        if object.isInvalidated {
          gone += 1
          continue
        }
        seen += 1
        object.text = "seen"
        if object.id % 3 == 0,
          let next = realm.object(ofType: PlainModel.self, forPrimaryKey: object.id + 1)
        {
          realm.delete(next)
        }
        realm.create(PlainModel.self, value: ["id": 10_000 + object.id])
      }
    }
    #expect(seen == 2000 && gone == 1000)
    #expect(realm.objects(PlainModel.self).where { $0.text == "seen" }.count == 2000)
    #expect(realm.objects(PlainModel.self).count == 4000)
  }

  @Test func `texts of every length come back, whatever they share with their neighbours`() throws {
    let realm = try realm()
    let bodies = (0...40).flatMap { count in
      [String(repeating: "b", count: count), String(repeating: "ä", count: count)]
    }
    for (head, tail) in [("", ""), ("p", "s"), ("prefix", "äöü"), ("0123456789ab", "suffix€")] {
      try realm.write {
        realm.deleteAll()
        for (id, body) in bodies.enumerated() {
          realm.create(PlainModel.self, value: ["id": id, "text": head + body + tail])
        }
      }
      let texts = realm.objects(PlainModel.self).map { $0.text } as [String]
      #expect(texts == bodies.map { head + $0 + tail })
    }
  }

  @Test func `a Realm ends with its last accessor and is the same one while any is left`() throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "accessor-\(UUID())", objectTypes: [PlainModel.self])
    var kept: PlainModel?
    do {
      let realm = try Realm(configuration: configuration)
      kept = try realm.write { realm.create(PlainModel.self, value: ["id": 1]) }
    }
    #expect(try Realm(configuration: configuration).objects(PlainModel.self).count == 1)
    #expect(try Realm(configuration: configuration) == kept?.realm)
    kept = nil
    #expect(try Realm(configuration: configuration).objects(PlainModel.self).isEmpty)
  }
}
