import Cambium
import Foundation
import TestSupport
import Testing

/// Texts that `String` takes for equal, and other values of which two kinds of equality tell different things.
@Suite struct ExactTextTests {
  class Shelf: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var prices: Map<String, Int>
    @Persisted var names: MutableSet<String>
    @Persisted var numbers: MutableSet<Double>
    @Persisted var anything: MutableSet<AnyRealmValue>
  }

  /// Two spellings of one letter.
  private static let spellings = ["\u{E9}", "e\u{301}"]

  private static func realm() throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Shelf.self]))
  }

  private static func fill(_ shelf: Shelf) {
    for (place, text) in spellings.enumerated() {
      shelf.prices[text] = place
      shelf.names.insert(text)
    }
    for _ in 0..<2 { shelf.numbers.insert(objectsIn: [.nan, 1, 0, -0.0]) }
    shelf.anything.insert(objectsIn: [.int(1), .double(1), .string("1"), .bool(true), .none, .none])
    for text in spellings { shelf.anything.insert(.string(text)) }
  }

  private static func expectAll(_ shelf: Shelf) {
    #expect(shelf.prices.count == 2 && shelf.names.count == 2)
    for (place, text) in spellings.enumerated() {
      #expect(shelf.prices[text] == place && shelf.names.contains(text))
    }
    #expect(
      shelf.prices.keys.map { Array($0.utf8) } == [Array("e\u{301}".utf8), Array("\u{E9}".utf8)])
    #expect(shelf.numbers.count == 3 && shelf.numbers.contains(.nan))
    #expect(shelf.anything.count == 6 && shelf.anything.contains(.double(1)))
  }

  @Test func `unmanaged maps and sets tell texts and numbers apart as managed ones do`() throws {
    let shelf = Shelf()
    Self.fill(shelf)
    Self.expectAll(shelf)
    let realm = try Self.realm()
    try realm.write { realm.add(shelf) }
    Self.expectAll(shelf)
    Self.expectAll(Shelf(value: shelf))
    let other = try Self.realm()
    Self.expectAll(try other.write { other.create(Shelf.self, value: shelf) })
    let (one, same) = (Shelf(value: shelf), Shelf(value: shelf))
    #expect(one.names == same.names && one.prices == same.prices && one.numbers == same.numbers)
    one.names.remove("\u{E9}")
    #expect(Array(one.names) == ["e\u{301}"] && one.names != same.names)
    one.prices.removeObject(for: "e\u{301}")
    #expect(one.prices.keys == ["\u{E9}"] && one.prices != same.prices)
    one.numbers.remove(.nan)
    #expect(Set(one.numbers) == [0, 1])
  }

  @Test func `lists and dictionaries are elements of an unmanaged set, each for itself`() {
    let shelf = Shelf()
    shelf.anything.insert(objectsIn: [.none, .fromArray([.int(1)]), .fromDictionary([:])])
    #expect(shelf.anything.count == 3)
  }

  @Test func `an unmanaged set of many gives its elements one by one`() {
    let shelf = Shelf()
    shelf.numbers.insert(objectsIn: (0..<20_000).map { Double($0) })
    for number in 0..<19_990 where number != 5 { shelf.numbers.remove(Double(number)) }
    #expect(Set(shelf.numbers) == Set([5] + (19_990..<20_000).map { Double($0) }))
    shelf.numbers.insert(7)
    #expect(shelf.numbers.count == 12 && shelf.numbers.contains(7) && !shelf.numbers.contains(8))
  }

  @Test func `observers of a map tell keys apart by their bytes`() async throws {
    let desk = try Desk(
      Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Shelf.self]))
    try desk.run { realm in
      let shelf = Shelf(value: ["id": 1, "prices": ["\u{E9}": 1]])
      try realm.write { realm.add(shelf) }
      desk.tokens = [
        shelf.prices.observe { change in
          func lengths(_ keys: [String]) -> [Int] { keys.map(\.utf8.count) }
          switch change {
          case .initial: desk.note("initial")
          case .update(_, let gone, let came, let changed):
            desk.note("-\(lengths(gone)) +\(lengths(came)) ~\(lengths(changed))")
          case .error: desk.note("error")
          }
        }
      ]
    }
    #expect(await desk.next() == "initial")
    func told(_ change: (Shelf) -> Void) async throws -> String {
      try desk.run { realm in
        let shelf = try #require(realm.object(ofType: Shelf.self, forPrimaryKey: 1))
        try realm.write { change(shelf) }
      }
      return await desk.next()
    }
    #expect(try await told { $0.prices["e\u{301}"] = 5 } == "-[] +[3] ~[]")
    #expect(try await told { $0.prices.removeObject(for: "\u{E9}") } == "-[2] +[] ~[]")
  }
}
