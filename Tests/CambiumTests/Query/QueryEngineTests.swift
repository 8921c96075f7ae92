import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import Cambium

struct QueryEngineTests {
  @Test(arguments: Exhaustive.seeds(12, few: 5))
  func `random predicates find what the rules say`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let world = QueryWorld()
    world.fill(count: [1, 40, 150, 400][Int(seed) % 4], using: &generator)
    let view = try world.store()
    let naive = NaiveEvaluator(world: world)
    var predicates = PredicateGenerator(world: world, random: generator)
    for round in 0..<60 {
      let className = round % 3 == 0 ? "Dog" : "Person"
      let predicate = predicates.predicate(className)
      let expected = naive.keys(predicate, of: className)
      let start = world.storedClass(className)
      let plan = QueryPlan(start).filtered(try world.binder().bind(predicate, to: start))
      let found = try plan.keys(in: view)
      #expect(found == expected, "seed \(seed): \(predicate)")
      #expect(try plan.count(in: view) == expected.count, "seed \(seed): \(predicate)")
      #expect(
        try plan.first(3, in: view) == Array(expected.prefix(3)), "seed \(seed): \(predicate)")
      let all = (world.rows[className] ?? []).map(\.key)
      let sample = Array(all.shuffled(using: &generator).prefix(20))
      #expect(
        try plan.matches(sample, in: view) == sample.map(Set(expected).contains),
        "seed \(seed): \(predicate)")
      #expect(
        try plan.keys(among: sample + sample, in: view)
          == (sample + sample).filter(Set(expected).contains), "seed \(seed): \(predicate)")
    }
  }

  @Test(arguments: Exhaustive.seeds(6, few: 3))
  func `sorting and distinct arrange as the rules say`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let world = QueryWorld()
    world.fill(count: [3, 60, 300][Int(seed) % 3], using: &generator)
    let view = try world.store()
    let start = world.storedClass("Person")
    let paths = [
      "id", "age", "rank", "flag", "maybe", "score", "ratio", "name", "title", "blob", "born",
      "oid", "uuid", "amount", "friend.age", "friend.name", "dog.weight", "friend.friend.born",
      "dog.code",
    ]
    for _ in 0..<25 {
      var plan = QueryPlan(start)
      var expected = world.rows["Person"] ?? []
      var steps = ""
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let chosen = Array(paths.shuffled(using: &generator).prefix(2))
        if Bool.random(using: &generator) {
          let keys = chosen.map { (path: $0, isAscending: Bool.random(using: &generator)) }
          steps += " sort \(keys)"
          plan = plan.arranged(try world.binder().bindSort(keys, to: start))
          expected = sorted(expected, by: keys, in: world)
        } else {
          steps += " distinct \(chosen)"
          plan = plan.arranged(try world.binder().bindDistinct(chosen, to: start))
          expected = distinct(expected, by: chosen, in: world)
        }
      }
      let keys = expected.map(\.key)
      #expect(try plan.keys(in: view) == keys, "seed \(seed):\(steps)")
      #expect(try plan.first(4, in: view) == Array(keys.prefix(4)), "seed \(seed):\(steps)")
      #expect(try plan.count(in: view) == keys.count, "seed \(seed):\(steps)")
    }
  }

  /// The value at the end of a path; nil behind a null link.
  private func value(
    _ row: QueryWorld.Row, _ path: String, in world: QueryWorld
  ) -> ModelValue? {
    var row = row
    var place = "Person"
    let names = path.split(separator: ".").map(String.init)
    for name in names.dropLast() {
      guard case .link(let key)? = row.values[name] else { return nil }
      place = world.storedClass(place).objectSchema[name]?.objectClassName ?? ""
      guard let next = world.rows[place]?.first(where: { $0.key == key }) else { return nil }
      row = next
    }
    return row.values[names[names.count - 1]] ?? .null
  }

  private func sorted(
    _ rows: [QueryWorld.Row], by keys: [(path: String, isAscending: Bool)], in world: QueryWorld
  ) -> [QueryWorld.Row] {
    let decorated = rows.enumerated().map { index, row in
      (index, row, keys.map { value(row, $0.path, in: world) })
    }
    return decorated.sorted { left, right in
      for (index, key) in keys.enumerated() {
        let (first, second) = key.isAscending ? (left, right) : (right, left)
        switch (first.2[index], second.2[index]) {
        case (nil, nil): continue
        case (nil, _): return false
        case (_, nil): return true
        case (let first?, let second?):
          if NaiveEvaluator.sortsBefore(first, second) { return true }
          if NaiveEvaluator.sortsBefore(second, first) { return false }
        }
      }
      return left.0 < right.0
    }.map(\.1)
  }

  private func distinct(
    _ rows: [QueryWorld.Row], by paths: [String], in world: QueryWorld
  ) -> [QueryWorld.Row] {
    var kept: [(QueryWorld.Row, [ModelValue])] = []
    for row in rows {
      let values = paths.map { value(row, $0, in: world) }
      let present = values.compactMap { $0 }
      guard present.count == values.count else { continue }
      let isKnown = kept.contains { _, other in
        zip(present, other).allSatisfy {
          !NaiveEvaluator.sortsBefore($0, $1) && !NaiveEvaluator.sortsBefore($1, $0)
        }
      }
      if !isKnown { kept.append((row, present)) }
    }
    return kept.map(\.0)
  }

  @Test(arguments: 0..<3)
  func `aggregates compute over what a plan finds`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let world = QueryWorld()
    world.fill(count: 200, using: &generator)
    let view = try world.store()
    let start = world.storedClass("Dog")
    let texts = ["TRUEPREDICATE", "age > 1", "code == 'code1'", "weight == nil", "FALSEPREDICATE"]
    for text in texts {
      let predicate = try PredicateParser.parse(text)
      let plan = QueryPlan(start).filtered(try world.binder().bind(predicate, to: start))
      let keys = Set(NaiveEvaluator(world: world).keys(predicate, of: "Dog"))
      let rows = (world.rows["Dog"] ?? []).filter { keys.contains($0.key) }
      let ages = rows.compactMap { if case .int(let age)? = $0.values["age"] { age } else { nil } }
      let small = ages.allSatisfy { abs($0 / 2) < 1 << 50 }
      let index = try #require(start.propertyIndex("age"))
      if small {
        #expect(number(try plan.aggregate(.sum, of: index, in: view)) == Double(ages.reduce(0, +)))
      }
      #expect(
        number(try plan.aggregate(.minimum, of: index, in: view)) == ages.min().map(Double.init))
      #expect(
        number(try plan.aggregate(.maximum, of: index, in: view)) == ages.max().map(Double.init))
      #expect(number(try plan.aggregate(.count, of: index, in: view)) == Double(rows.count))
      let weights = rows.compactMap { row -> Double? in
        if case .double(let weight)? = row.values["weight"], !weight.isNaN { weight } else { nil }
      }
      let weight = try #require(start.propertyIndex("weight"))
      let mean = number(try plan.aggregate(.average, of: weight, in: view))
      #expect((mean == nil) == weights.isEmpty)
      if let mean, !mean.isNaN, mean.isFinite {
        #expect(abs(mean - weights.reduce(0, +) / Double(weights.count)) < 1e-9)
      }
    }
  }

  private func number(_ value: ColumnValue) -> Double? {
    switch value {
    case .int(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }
}
