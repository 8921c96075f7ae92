import Cambium
import Foundation
import TestSupport
import Testing

/// Values that are bounded from both sides.
@Suite struct JoinedBoundsTests {
  class Bounded: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var int: Int
    @Persisted(indexed: true) var indexedInt: Int
    @Persisted var optionalInt: Int?
    @Persisted var double: Double
    @Persisted var float: Float?
    @Persisted var date: Date
    @Persisted(indexed: true) var indexedDate: Date?
    @Persisted var text: String
    @Persisted(indexed: true) var indexedText: String?
    @Persisted var other: Bounded?
  }

  /// A bound on a property of the kind that all properties have, as text and as Swift.
  private struct Bound {
    var name: String
    var sign: String
    var rank: Int

    static let names = [
      "int", "indexedInt", "optionalInt", "double", "float", "date", "indexedDate", "text",
      "indexedText",
    ]

    static func random(of name: String, _ random: inout SeededGenerator) -> Bound {
      Bound(
        name: name, sign: [">", ">=", "<", "<=", "=="].randomElement(using: &random) ?? "",
        rank: Int.random(in: -1...20, using: &random))
    }

    var constant: any Sendable {
      switch name {
      case "double": Double(rank)
      case "float": Float(rank)
      case "date", "indexedDate": Date(timeIntervalSince1970: Double(rank))
      case "text", "indexedText": JoinedBoundsTests.text(rank)
      default: rank
      }
    }

    func holds(_ object: Int) -> Bool {
      guard let value = JoinedBoundsTests.rank(of: object, name) else { return false }
      switch sign {
      case ">": return value > rank
      case ">=": return value >= rank
      case "<": return value < rank
      case "<=": return value <= rank
      default: return value == rank
      }
    }
  }

  private static func text(_ rank: Int) -> String { String(UnicodeScalar(UInt8(rank + 97))) + "x" }

  /// What an object has, as a number; nil for null.
  private static func rank(of object: Int, _ name: String) -> Int? {
    let rank = object &* 7 % 19
    let isNullable = ["optionalInt", "float", "indexedDate", "indexedText"].contains(name)
    return isNullable && object % 5 == 0 ? nil : rank
  }

  private static func filled(_ count: Int) throws -> Realm {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Bounded.self]))
    try realm.write {
      for id in 0..<count {
        let object = Bounded()
        object.id = id
        let rank = rank(of: id, "int") ?? 0
        let optional = Self.rank(of: id, "float")
        (object.int, object.indexedInt, object.optionalInt) = (rank, rank, optional)
        (object.double, object.float) = (Double(rank), optional.map(Float.init))
        object.date = Date(timeIntervalSince1970: Double(rank))
        object.indexedDate = optional.map { Date(timeIntervalSince1970: Double($0)) }
        (object.text, object.indexedText) = (text(rank), optional.map(text))
        object.other = object
        realm.add(object)
      }
    }
    return realm
  }

  private static func select(
    _ realm: Realm, _ text: String, _ bounds: [Bound]
  ) -> Results<Bounded> {
    let objects = realm.objects(Bounded.self)
    let constants = bounds.map(\.constant)
    return switch constants.count {
    case 1: objects.filter(text, constants[0])
    case 2: objects.filter(text, constants[0], constants[1])
    case 3: objects.filter(text, constants[0], constants[1], constants[2])
    default: objects.filter(text, constants[0], constants[1], constants[2], constants[3])
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `bounds on a value select what each of them lets through`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let count = 3_000
    let realm = try Self.filled(count)
    for round in 0..<400 {
      let name = Bound.names.randomElement(using: &random) ?? ""
      var bounds = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        Bound.random(of: name, &random)
      }
      if round % 3 == 0, let other = Bound.names.randomElement(using: &random) {
        bounds.append(.random(of: other, &random))
        bounds.shuffle(using: &random)
      }
      let prefix = round % 7 == 0 ? "other." : ""
      let all = Array(0..<count)
      let text = bounds.map { "\(prefix)\($0.name) \($0.sign) %@" }.joined(separator: " AND ")
      let context = Comment(rawValue: "seed \(seed), round \(round): \(bounds)")
      let expected = all.filter { id in bounds.allSatisfy { $0.holds(id) } }
      let found = Self.select(realm, text, bounds)
      #expect(found.count == expected.count, context)
      #expect(found.map(\.id) == expected, context)
      #expect(found.first?.id == expected.first, context)
      // The same, as conditions that are added one after another.
      var chained = realm.objects(Bounded.self)
      for bound in bounds {
        chained = chained.filter("\(prefix)\(bound.name) \(bound.sign) %@", bound.constant)
      }
      #expect(chained.count == expected.count, context)
      let negated = Self.select(realm, "NOT (\(text))", bounds)
      #expect(negated.count == count - expected.count, context)
    }
  }

  @Test func `sums and counts of all objects are right after any change in a transaction`() throws {
    let realm = try Self.filled(5_000)
    let all = realm.objects(Bounded.self)
    func expectRight() {
      #expect(all.sum(of: \.double) as Double == all.reduce(0) { $0 + $1.double })
      #expect(all.sum(of: \.float) as Float? == all.reduce(0) { $0 + ($1.float ?? 0) })
      for rank in [0, 7, 18] {
        #expect(
          all.where { $0.int >= 2 && $0.int < rank }.count
            == all.count { $0.int >= 2 && $0.int < rank })
        let text = Self.text(rank)
        #expect(all.where { $0.text == text }.count == all.count { $0.text == text })
      }
    }
    expectRight()
    try realm.write {
      for object in all.prefix(300) {
        (object.int, object.double, object.text) = (7, 0.5, Self.text(7))
      }
      expectRight()
      realm.delete(all.where { $0.id > 4_000 })
      expectRight()
    }
    expectRight()
  }
}
