import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import Cambium

struct QueryIndexTests {
  @Test(arguments: 0..<6)
  func `an index finds every object of its condition and few others`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let world = QueryWorld()
    world.fill(count: 120, using: &generator)
    let view = try world.store()
    let naive = NaiveEvaluator(world: world)
    var predicates = PredicateGenerator(world: world, random: generator)
    var planned = 0
    for _ in 0..<150 {
      let className = Bool.random(using: &generator) ? "Person" : "Dog"
      let names =
        className == "Person"
        ? ["id", "rank", "title", "born", "friend", "dogs"] : ["code", "home"]
      let name = names[Int.random(in: 0..<names.count, using: &generator)]
      let predicate = predicates.comparison(className, on: name)
      let start = world.storedClass(className)
      let bound = try world.binder().bind(predicate, to: start)
      let context = QueryContext(view)
      guard let access = try IndexAccess.plan(bound, context) else { continue }
      planned += 1
      let expected = naive.keys(predicate, of: className)
      let keys = try access.keys()
      #expect(access.estimate >= keys.count)
      #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
      let reader = try context.reader(start)
      let node = try QueryCompiler(context).compile(bound, reader)
      let found = try keys.filter { try reader.contains($0) && node.matches($0) }
      #expect(found == expected, "seed \(seed): \(predicate)")
      // Keys that a condition names itself may be those of no object.
      if name != "id" {
        #expect(keys.count <= expected.count + 1, "seed \(seed): \(predicate)")
      }
    }
    #expect(planned > 50)
  }

  @Test func `conditions are looked up where that is possible`() throws {
    var generator = SeededGenerator(seed: 1)
    let world = QueryWorld()
    world.fill(count: 100, using: &generator)
    let view = try world.store()
    let start = world.storedClass("Person")
    func usesIndex(_ text: String, _ arguments: Any?...) throws -> Bool {
      let predicate = try PredicateParser.parse(text, arguments: arguments)
      let bound = try world.binder().bind(predicate, to: start)
      return try IndexAccess.plan(bound, QueryContext(view)) != nil
    }
    let dog = ModelObject("Dog", world.rows["Dog"]?.first?.key)
    #expect(try usesIndex("id == 5") && usesIndex("id IN {1, 2}"))
    #expect(try usesIndex("rank == 5") && usesIndex("rank BETWEEN {1, 2}"))
    #expect(try usesIndex("title == 'a'") && usesIndex("title BEGINSWITH 'a'"))
    #expect(try usesIndex("title > 'a' AND score > 2") && usesIndex("born == nil"))
    #expect(try usesIndex("dog == %@", dog) && usesIndex("ANY dogs == %@", dog))
    #expect(try usesIndex("dog.code == 'code1'") && usesIndex("ANY dogs.code == 'code1'"))
    #expect(try usesIndex("rank == 5 OR title == 'a'") && usesIndex("FALSEPREDICATE"))
    #expect(try !usesIndex("rank == 5 OR score == 1"))
    #expect(try !usesIndex("title ==[c] 'a'") && !usesIndex("title CONTAINS 'a'"))
    #expect(try !usesIndex("rank != 5") && !usesIndex("NOT rank == 5") && !usesIndex("score == 1"))
    #expect(try !usesIndex("dog.code == nil") && !usesIndex("dog == nil"))
  }
}
