import Foundation
import TestSupport

@testable import Cambium

/// Makes random predicates that fit the schema of a world.
struct PredicateGenerator {
  let world: QueryWorld
  var random: SeededGenerator
  private var isInSubquery = false

  init(world: QueryWorld, random: SeededGenerator) {
    self.world = world
    self.random = random
  }

  mutating func predicate(_ className: String, depth: Int = 2) -> QueryPredicate {
    guard depth > 0, chance(2) else { return comparison(className) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .not(predicate(className, depth: depth - 1))
    case 1: return .always(chance(2))
    case 2, 3: return .or(parts(className, depth))
    default: return .and(parts(className, depth))
    }
  }

  private mutating func parts(_ className: String, _ depth: Int) -> [QueryPredicate] {
    (0..<Int.random(in: 1...3, using: &random)).map { _ in
      predicate(className, depth: depth - 1)
    }
  }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  private mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[Int.random(in: 0..<choices.count, using: &random)]
  }

  // MARK: Paths

  private struct Walk {
    var steps: [QueryPath.Step] = []
    var last: Property
    var hasCollection = false
  }

  private mutating func walk(_ className: String, allowsCollections: Bool = true) -> Walk {
    var steps: [QueryPath.Step] = []
    var place = className
    var hasCollection = false
    for depth in 0... {
      var choices = world.storedClass(place).objectSchema.allProperties
      if !allowsCollections { choices.removeAll { $0.isArray } }
      let property = pick(choices)
      steps.append(.property(property.name))
      if property.isArray { hasCollection = true }
      guard let target = property.objectClassName, depth < 3, !chance(4) else {
        return Walk(steps: steps, last: property, hasCollection: hasCollection)
      }
      place = target
    }
    fatalError("the loop does not end")
  }

  // MARK: Comparisons

  private mutating func comparison(_ className: String) -> QueryPredicate {
    switch Int.random(in: 0..<13, using: &random) {
    case 0: return aggregate(className)
    case 1: return pair(className)
    case 2:
      let inner = relativeToDog()
      return .compare(
        .subqueryCount(collection: QueryPath([.property("dogs")]), variable: "v", inner),
        pick([.equal, .greater, .lessOrEqual]), .value(Int.random(in: 0...2, using: &random))
      )
      .on(className, "Person") ?? comparison(className)
    case 3:
      let key = world.rows[className]?.randomElement(using: &random)?.key
      return .compare(.at(), pick([.equal, .notEqual]), .value(ModelObject(className, key)))
    case 4 where !isInSubquery: return correlated(className)
    default: break
    }
    return comparison(walk(className))
  }

  /// A comparison of one property of the class.
  mutating func comparison(_ className: String, on name: String) -> QueryPredicate {
    guard let property = world.storedClass(className).objectSchema[name] else {
      fatalError("no property \(name)")
    }
    return comparison(
      Walk(steps: [.property(name)], last: property, hasCollection: property.isArray))
  }

  private mutating func comparison(_ walk: Walk) -> QueryPredicate {
    let path = QueryOperand.path(QueryPath(walk.steps))
    let operation = pick(operations(walk.last))
    var options: StringOptions = []
    if walk.last.type == .string, !operation.isOrdering, chance(2) {
      options.insert(.caseInsensitive)
      if operation != .like, chance(2) { options.insert(.diacriticInsensitive) }
    }
    if walk.hasCollection, operation == .equal, chance(3) {
      return .compare(constant(walk.last), .in, path, options: options)
    }
    if !walk.hasCollection, let exchanged = operation.exchanged, chance(4) {
      return .compare(constant(walk.last), exchanged, path, options: options)
    }
    return .compare(
      path, operation, constants(walk.last, operation), any: walk.hasCollection, options: options)
  }

  private func operations(_ property: Property) -> [QueryOperator] {
    let equality: [QueryOperator] = [.equal, .notEqual, .in]
    let order: [QueryOperator] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
    switch property.type {
    case .int, .float, .double, .decimal128, .date: return equality + order + [.between]
    case .string, .data:
      return equality + order + [.beginsWith, .endsWith, .contains, .like, .contains]
    default: return equality
    }
  }

  private mutating func constants(
    _ property: Property, _ operation: QueryOperator
  ) -> QueryOperand {
    switch operation {
    case .in:
      let count = Int.random(in: 0...4, using: &random)
      return .constant(.array((0..<count).map { _ in value(property) }))
    case .between: return .constant(.array([value(property), value(property)]))
    case .like where property.type == .string && chance(2):
      return .value(pick(["a*", "*b*", "?", "*", "**", "a?c", "?l*n", "*phone", ""]))
    default: return constant(property)
    }
  }

  private mutating func constant(_ property: Property) -> QueryOperand {
    .constant(value(property))
  }

  private mutating func value(_ property: Property) -> QueryConstant {
    if chance(8) { return .null }
    if property.type == .object || property.type == .linkingObjects {
      let target = property.objectClassName ?? ""
      let key = chance(10) ? nil : world.rows[target]?.randomElement(using: &random)?.key
      return .object(ModelObject(target, key))
    }
    switch QueryWorld.random(property.type, using: &random) {
    case .null, .link, .list: return .null
    case .bool(let value): return chance(2) ? .bool(value) : .int(value ? 1 : 0)
    case .int(let value): return .int(value)
    case .float(let value): return chance(2) ? .float(value) : .double(Double(value))
    case .double(let value): return chance(3) ? .int(2) : .double(value)
    case .string(let value): return .string(value)
    case .data(let value): return .data(value)
    case .date(let value): return .date(value)
    case .objectId(let value): return .objectId(value)
    case .uuid(let value): return .uuid(value)
    case .decimal(let value): return chance(3) ? .int(1) : .decimal(value)
    }
  }

  private mutating func aggregate(_ className: String) -> QueryPredicate {
    var steps: [QueryPath.Step]
    var constant = QueryOperand.value(Int.random(in: -2...4, using: &random))
    let isPerson = className == "Person"
    if isPerson, chance(2) {
      // Sums of random integers may overflow: extremes and counts only.
      let aggregate = pick([QueryPath.Aggregate.count, .minimum, .maximum])
      steps = [.property("numbers"), .aggregate(aggregate)]
    } else {
      let aggregate = pick([QueryPath.Aggregate.count, .minimum, .maximum, .sum, .average])
      steps = [.property(isPerson ? "dogs" : "keepers"), .aggregate(aggregate)]
      if aggregate != .count {
        steps.append(.property(isPerson ? "weight" : "ratio"))
        constant = .value(Double.random(in: -2...2, using: &random).rounded())
      }
    }
    if chance(3) {
      steps.insert(.property(isPerson ? "friend" : "home"), at: 0)
      if !isPerson { steps = [.property("home"), .property("numbers"), .aggregate(.count)] }
    }
    if chance(6) { constant = .value(nil) }
    if steps.contains(.aggregate(.count)) {
      constant = .value(Int.random(in: 0...4, using: &random))
    }
    return .compare(
      .path(QueryPath(steps)),
      pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]), constant)
  }

  private mutating func pair(_ className: String) -> QueryPredicate {
    let pairs =
      className == "Person"
      ? [
        ("rank", "other"), ("age", "friend.age"), ("name", "title"), ("friend.name", "nick"),
        ("nick", "tags"), ("rank", "numbers"), ("name", "dogs.name"), ("dog", "friend.dog"),
        ("rank", "dogs.@count"), ("born", "friend.born"), ("maybe", "friend.flag"),
        ("amount", "friend.amount"), ("score", "friend.score"),
      ]
      : [
        ("name", "code"), ("age", "home.rank"), ("name", "keepers.name"), ("age", "keepers.@count"),
      ]
    let (left, right) = pick(pairs)
    guard let first = try? PredicateParser.parsePath(left),
      let second = try? PredicateParser.parsePath(right)
    else { fatalError("a path of this file does not parse") }
    var operations: [QueryOperator] = [.equal, .notEqual]
    if !["dog", "maybe"].contains(left) { operations += [.less, .greaterOrEqual] }
    if ["name", "nick", "friend.name"].contains(left) { operations += [.contains, .like] }
    let isAny = ["tags", "numbers", "dogs.name", "keepers.name"].contains(right)
    return .compare(.path(first), pick(operations), .path(second), any: isAny)
  }

  /// A subquery that names objects around it.
  private mutating func correlated(_ className: String) -> QueryPredicate {
    let isPerson = className == "Person"
    let collection = pick(isPerson ? ["dogs", "dogs", "friend.dogs"] : ["home.dogs"])
    var conditions =
      isPerson
      ? [
        "$v.age > rank", "other <= $v.age", "$v.name CONTAINS title", "$v.name !=[c] nick",
        "$v.home.rank <= other", "score > $v.weight", "ANY tags == $v.name", "$v.name IN tags",
        "$v == dog", "friend == $v.home", "friend.age >= $v.age", "flag == TRUE",
      ]
      : [
        "$v.age > age", "$v.name <= name", "$v.home == home", "$v.weight != weight", "$v != SELF",
        "home.rank < $v.home.rank",
      ]
    // The evaluator of these tests takes its time for others.
    if world.rows["Person"]?.count ?? 0 <= 40 {
      conditions +=
        isPerson
        ? [
          "$v.age < numbers.@count", "dogs.@max.weight == $v.weight", "dogs.@count > 1",
          "ANY dogs.name == $v.code", "ANY $v.keepers.name == name",
          "SUBQUERY(dogs, $w, $w.age > $v.age).@count == 0",
          "SUBQUERY($v.keepers, $w, $w.rank > $v.age AND $w.other != rank).@count > 0",
          "SUBQUERY(friend.dogs, $w, $w.age < $v.age AND $w.name != nick).@count > 1",
          "SUBQUERY($v.home.dogs, $v, $v.age > rank).@count > 0",
        ]
        : [
          "ANY keepers.name == $v.name", "keepers.@count > $v.age",
          "SUBQUERY(home.dogs, $w, $w.age > $v.age AND $w.weight > weight).@count > 0",
        ]
    }
    guard var condition = try? PredicateParser.parse(pick(conditions)) else {
      fatalError("a condition of this file does not parse")
    }
    if chance(3) { condition = .not(condition) }
    if chance(2) { condition = .and([condition, relativeToDog()]) }
    guard let path = try? PredicateParser.parsePath(collection) else {
      fatalError("a path of this file does not parse")
    }
    return .compare(
      .subqueryCount(collection: path, variable: "v", condition),
      pick([.equal, .greater, .lessOrEqual]), .value(Int.random(in: 0...2, using: &random)))
  }

  /// A condition on a subquery's element that is a dog.
  private mutating func relativeToDog() -> QueryPredicate {
    let wasInSubquery = isInSubquery
    isInSubquery = true
    defer { isInSubquery = wasInSubquery }
    return relative(predicate("Dog", depth: 1))
  }

  /// The same condition on a subquery's variable.
  private func relative(_ predicate: QueryPredicate) -> QueryPredicate {
    func relative(_ operand: QueryOperand) -> QueryOperand {
      switch operand {
      case .constant: return operand
      case .path(var path):
        path.variable = "v"
        return .path(path)
      case .subqueryCount(var collection, let variable, let inner):
        collection.variable = "v"
        return .subqueryCount(collection: collection, variable: variable, inner)
      }
    }
    switch predicate {
    case .always: return predicate
    case .and(let parts): return .and(parts.map(self.relative))
    case .or(let parts): return .or(parts.map(self.relative))
    case .not(let part): return .not(self.relative(part))
    case .comparison(var comparison):
      comparison.left = relative(comparison.left)
      comparison.right = relative(comparison.right)
      return .comparison(comparison)
    }
  }
}

extension QueryPredicate {
  /// The predicate, if it is about the right class.
  fileprivate func on(_ className: String, _ wanted: String) -> QueryPredicate? {
    className == wanted ? self : nil
  }
}
