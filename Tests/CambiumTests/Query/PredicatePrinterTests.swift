import Foundation
import TestSupport
import Testing

@testable import Cambium

struct PredicatePrinterTests {
  @Test(arguments: Exhaustive.seeds(200, few: 80))
  func `a printed predicate is read as the same`(seed: UInt64) throws {
    var trees = PredicateTrees(random: SeededGenerator(seed: seed))
    for _ in 0..<20 {
      let predicate = trees.predicate(depth: 4, variables: [])
      let (text, arguments) = PredicatePrinter.text(of: predicate)
      #expect(
        try PredicateParser.parse(text, arguments: arguments) == predicate, "seed \(seed): \(text)")
    }
  }

  @Test(arguments: 0..<20)
  func `conditions on a schema are printed, too`(seed: UInt64) throws {
    let world = QueryWorld()
    var generator = SeededGenerator(seed: seed)
    world.fill(count: 20, using: &generator)
    var predicates = PredicateGenerator(world: world, random: generator)
    let naive = NaiveEvaluator(world: world)
    for _ in 0..<50 {
      let predicate = predicates.predicate("Person")
      let (text, arguments) = PredicatePrinter.text(of: predicate)
      let read = try PredicateParser.parse(text, arguments: arguments)
      #expect(
        naive.keys(read, of: "Person") == naive.keys(predicate, of: "Person"),
        "seed \(seed): \(text)")
      let again = PredicatePrinter.text(of: read)
      #expect(again.0 == PredicatePrinter.text(of: try .init(again)).0, "seed \(seed): \(text)")
    }
  }
}

extension QueryPredicate {
  fileprivate init(_ printed: (String, [Any])) throws {
    self = try PredicateParser.parse(printed.0, arguments: printed.1)
  }
}

/// Makes random predicates of every form that the grammar knows, whether they mean anything or not.
private struct PredicateTrees {
  var random: SeededGenerator

  private static let names = [
    "a", "any", "none", "all", "in", "like", "contains", "not", "self", "true", "no", "null",
    "subquery", "and", "or", "matches", "größe", "x1", "_y", "truepredicate",
  ]
  private static let operations: [QueryOperator] = [
    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in, .beginsWith,
    .endsWith, .contains, .like,
  ]

  private mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  private mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[number(choices.count)]
  }

  mutating func predicate(depth: Int, variables: [String]) -> QueryPredicate {
    let parts = { (trees: inout Self) in
      (0..<2 + trees.number(2)).map { _ in trees.predicate(depth: depth - 1, variables: variables) }
    }
    switch depth == 0 ? 4 : number(8) {
    case 0: return .and(parts(&self))
    case 1: return .or(parts(&self))
    case 2: return .not(predicate(depth: depth - 1, variables: variables))
    case 3: return .always(number(2) == 0)
    default: return .comparison(comparison(depth: depth, variables: variables))
    }
  }

  private mutating func comparison(depth: Int, variables: [String]) -> QueryComparison {
    if number(6) == 0 {
      var comparison = QueryComparison(
        .path(path(variables)), .equal, .constant(.bool(number(2) == 0)))
      comparison.isTruthValue = true
      comparison.isAny = number(2) == 0
      return comparison
    }
    let left = operand(depth: depth, variables: variables)
    var comparison = QueryComparison(
      left, pick(Self.operations), operand(depth: depth, variables: variables),
      options: StringOptions(rawValue: UInt(number(4))))
    // A quantifier stands before a path.
    if case .path = left { comparison.isAny = number(2) == 0 }
    return comparison
  }

  private mutating func operand(depth: Int, variables: [String]) -> QueryOperand {
    switch number(depth == 0 ? 4 : 5) {
    case 0, 1: return .path(path(variables))
    case 4:
      let variable = pick(["x", "y", "count"])
      return .subqueryCount(
        collection: path(variables), variable: variable,
        predicate(depth: depth - 1, variables: variables + [variable]))
    default: return .constant(constant(depth: 2))
    }
  }

  private mutating func path(_ variables: [String]) -> QueryPath {
    var path = QueryPath()
    if !variables.isEmpty, number(2) == 0 { path.variable = pick(variables) }
    for _ in 0..<number(4) {
      switch number(10) {
      case 0: path.steps.append(.key(pick(["k", "any", "#any", "a b"])))
      case 1: path.steps.append(.index(number(3)))
      case 2: path.steps.append(.anyElement)
      case 3: path.steps.append(.aggregate(pick([.count, .minimum, .maximum, .sum, .average])))
      case 4: path.steps.append(pick([.allKeys, .allValues]))
      default: path.steps.append(.property(pick(Self.names)))
      }
    }
    return path
  }

  private mutating func constant(depth: Int) -> QueryConstant {
    switch number(depth == 0 ? 11 : 12) {
    case 0: .null
    case 1: .bool(number(2) == 0)
    case 2: .int(pick([.min, -1, 0, 5, .max]))
    case 3: .float(pick([1.5, .nan, -.infinity]))
    case 4: .double(pick([1.5, .nan, -0.0, .infinity]))
    case 5: .string(pick(["", "%@", "'", "ä\n", "NULL"]))
    case 6: .data(Data([1, 2]))
    case 7: .date(Date(timeIntervalSince1970: 2.5))
    case 8: .objectId(ObjectId(head: 5, tail: 6))
    case 9: .decimal(pick([1, 2.5]))
    case 10: .unsupported("x", type: "y")
    default: .array((0..<number(4)).map { _ in constant(depth: depth - 1) })
    }
  }
}
