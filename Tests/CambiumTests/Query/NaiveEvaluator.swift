import Foundation

@testable import Cambium

/// Evaluates predicates on the model, object by object, as the rules say and without any thought of
/// speed.
struct NaiveEvaluator {
  let world: QueryWorld
  private let rowsByKey: [String: [Int64: QueryWorld.Row]]
  private let findings = Findings()
  /// The objects around the subquery, by their variables.
  private var names: [(variable: String?, row: QueryWorld.Row, className: String)] = []

  /// What is found out once: folded texts, because Foundation takes its time, and who links to whom.
  private final class Findings {
    var foldings: [UInt: [String: [Unicode.Scalar]]] = [:]
    var backlinks: [String: [Int64: [ModelValue]]] = [:]
  }

  init(world: QueryWorld) {
    self.world = world
    rowsByKey = world.rows.mapValues { rows in
      Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0) })
    }
  }

  func keys(_ predicate: QueryPredicate, of className: String) -> [Int64] {
    (world.rows[className] ?? []).filter { holds(predicate, $0, className) }.map(\.key)
  }

  func holds(_ predicate: QueryPredicate, _ row: QueryWorld.Row, _ className: String) -> Bool {
    switch predicate {
    case .always(let result): return result
    case .and(let parts): return parts.allSatisfy { holds($0, row, className) }
    case .or(let parts): return parts.contains { holds($0, row, className) }
    case .not(let part): return !holds(part, row, className)
    case .comparison(let comparison): return holds(comparison, row, className)
    }
  }

  private func holds(
    _ comparison: QueryComparison, _ row: QueryWorld.Row, _ className: String
  ) -> Bool {
    if comparison.operation == .in, case .constant(let constant) = comparison.left {
      return values(comparison.right, row, className).contains {
        compare($0, .equal, model(constant), comparison.options)
      }
    }
    let left = values(comparison.left, row, className)
    if case .constant(.array(let elements)) = comparison.right {
      let constants = elements.map(model)
      return left.contains { value in
        if comparison.operation == .between {
          return compare(value, .greaterOrEqual, constants[0], [])
            && compare(value, .lessOrEqual, constants[1], [])
        }
        return constants.contains { compare(value, .equal, $0, comparison.options) }
      }
    }
    let right = values(comparison.right, row, className)
    let operation = comparison.operation == .in ? .equal : comparison.operation
    return left.contains { first in
      right.contains { compare(first, operation, $0, comparison.options) }
    }
  }

  // MARK: Values

  private func values(
    _ operand: QueryOperand, _ row: QueryWorld.Row, _ className: String
  ) -> [ModelValue] {
    switch operand {
    case .constant(let constant): return [model(constant)]
    case .path(let path):
      let start = start(of: path, row, className)
      return values(path.steps[...], start.row, start.className)
    case .subqueryCount(let collection, let variable, let predicate):
      let start = start(of: collection, row, className)
      let elementClass = elementClass(collection.steps, start.className)
      let elements = values(collection.steps[...], start.row, start.className)
      var inner = self
      if names.isEmpty { inner.names = [(nil, row, className)] }
      let matching = elements.filter { element in
        guard case .link(let key) = element, let row = find(elementClass, key) else {
          return false
        }
        var evaluator = inner
        evaluator.names.append((variable, row, elementClass))
        return evaluator.holds(predicate, row, elementClass)
      }
      return [.int(Int64(matching.count))]
    }
  }

  private func start(
    of path: QueryPath, _ row: QueryWorld.Row, _ className: String
  ) -> (row: QueryWorld.Row, className: String) {
    names.last { $0.variable == path.variable }.map { ($0.row, $0.className) } ?? (row, className)
  }

  private func find(_ className: String, _ key: Int64) -> QueryWorld.Row? {
    rowsByKey[className]?[key]
  }

  private func property(_ name: String, _ className: String) -> Property {
    guard let property = world.storedClass(className).objectSchema[name] else {
      fatalError("no property \(name)")
    }
    return property
  }

  private func elementClass(_ steps: [QueryPath.Step], _ className: String) -> String {
    var place = className
    for case .property(let name) in steps {
      place = property(name, place).objectClassName ?? place
    }
    return place
  }

  /// The values at the end of a path from an object; nil stands for the object behind a null link.
  private func values(
    _ steps: ArraySlice<QueryPath.Step>, _ row: QueryWorld.Row?, _ className: String
  ) -> [ModelValue] {
    guard case .property(let name)? = steps.first else {
      return row.map { [.link($0.key)] } ?? []
    }
    let property = property(name, className)
    let rest = steps.dropFirst()
    if property.isComputed || property.isArray {
      let elements = row.map { self.elements(property, $0, className) } ?? []
      if case .aggregate(let aggregate)? = rest.first {
        var numbers = elements
        if case .property(let inner)? = rest.dropFirst().first {
          numbers = elements.flatMap {
            follow($0, [.property(inner)], property.objectClassName ?? "")
          }
        }
        return [Self.aggregate(aggregate, numbers)]
      }
      if rest.isEmpty { return elements }
      return elements.flatMap { follow($0, rest, property.objectClassName ?? "") }
    }
    let value = row?.values[name] ?? .null
    if rest.isEmpty { return [value] }
    return follow(value, rest, property.objectClassName ?? "")
  }

  private func follow(
    _ value: ModelValue, _ rest: ArraySlice<QueryPath.Step>, _ className: String
  ) -> [ModelValue] {
    guard case .link(let key) = value else { return values(rest, nil, className) }
    return values(rest, find(className, key), className)
  }

  private func elements(
    _ property: Property, _ row: QueryWorld.Row, _ className: String
  ) -> [ModelValue] {
    guard property.isComputed else {
      guard case .list(let elements)? = row.values[property.name] else { return [] }
      return elements
    }
    let name = "\(className).\(property.name)"
    let backlinks = findings.backlinks[name] ?? backlinks(property)
    findings.backlinks[name] = backlinks
    return backlinks[row.key] ?? []
  }

  private func backlinks(_ property: Property) -> [Int64: [ModelValue]] {
    var backlinks: [Int64: [ModelValue]] = [:]
    for other in world.rows[property.objectClassName ?? ""] ?? [] {
      let value = other.values[property.originPropertyName ?? ""] ?? .null
      var links = [value]
      if case .list(let list) = value { links = list }
      for case .link(let key) in links { backlinks[key, default: []].append(.link(other.key)) }
    }
    return backlinks
  }

  private static func aggregate(
    _ aggregate: QueryPath.Aggregate, _ values: [ModelValue]
  ) -> ModelValue {
    if aggregate == .count { return .int(Int64(values.count)) }
    let numbers = values.filter { $0 != .null && number($0)?.isNaN != true }
    switch aggregate {
    case .minimum, .maximum:
      let sorted = numbers.sorted { sortsBefore($0, $1) }
      return (aggregate == .minimum ? sorted.first : sorted.last) ?? .null
    case .sum:
      let integers = numbers.compactMap { if case .int(let value) = $0 { value } else { nil } }
      if integers.count == numbers.count, !numbers.isEmpty { return .int(integers.reduce(0, +)) }
      return .double(numbers.compactMap(number).reduce(0, +))
    default:
      if numbers.isEmpty { return .null }
      return .double(numbers.compactMap(number).reduce(0, +) / Double(numbers.count))
    }
  }

  // MARK: Comparing

  static func number(_ value: ModelValue) -> Double? {
    switch value {
    case .bool(let value): value ? 1 : 0
    case .int(let value): Double(value)
    case .float(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  private func model(_ constant: QueryConstant) -> ModelValue {
    switch constant {
    case .null: .null
    case .bool(let value): .bool(value)
    case .int(let value): .int(value)
    case .float(let value): .float(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .data(let value): .data(value)
    case .date(let value): .date(value)
    case .objectId(let value): .objectId(value)
    case .uuid(let value): .uuid(value)
    case .decimal(let value): .decimal(value)
    case .object(let object):
      (object as? ModelObject)?.row.key.map { .link($0) } ?? .list([])
    case .array, .unsupported: .list([])
    }
  }

  /// The order of sorting: null, then values, NaN below all numbers.
  static func sortsBefore(_ left: ModelValue, _ right: ModelValue) -> Bool {
    switch (left, right) {
    case (_, .null): false
    case (.null, _): true
    case (.bool(let left), .bool(let right)): !left && right
    case (.int(let left), .int(let right)): left < right
    case (.string(let left), .string(let right)):
      left.utf8.lexicographicallyPrecedes(right.utf8)
    case (.data(let left), .data(let right)): left.lexicographicallyPrecedes(right)
    case (.date(let left), .date(let right)): left < right
    case (.objectId(let left), .objectId(let right)): left < right
    case (.uuid(let left), .uuid(let right)):
      left.uuidString.utf8.lexicographicallyPrecedes(right.uuidString.utf8)
    case (.decimal(let left), .decimal(let right)): left < right
    case (.link(let left), .link(let right)): left < right
    default:
      switch (number(left) ?? 0, number(right) ?? 0) {
      case (let left, let right) where left.isNaN: !right.isNaN
      case (let left, let right): left < right
      }
    }
  }

  private func compare(
    _ left: ModelValue, _ operation: QueryOperator, _ right: ModelValue, _ options: StringOptions
  ) -> Bool {
    if left == .null || right == .null {
      switch operation {
      case .equal, .lessOrEqual, .greaterOrEqual, .like: return left == right
      case .notEqual: return left != right
      default: return false
      }
    }
    switch (left, right) {
    case (.string(let left), .string(let right)):
      return text(folded(left, options), operation, folded(right, options))
    case (.data(let left), .data(let right)):
      // Bytes as the characters of Latin-1.
      func characters(_ data: Data) -> [Unicode.Scalar] { data.map { Unicode.Scalar($0) } }
      return text(characters(left), operation, characters(right))
    default: break
    }
    if let first = Self.number(left), var second = Self.number(right) {
      if case .float = left { second = Double(Float(second)) }
      if first.isNaN || second.isNaN { return operation == .notEqual }
      if case .int(let first) = left, case .int(let second) = right {
        return ordered(first < second ? -1 : first > second ? 1 : 0, operation)
      }
      return ordered(first < second ? -1 : first > second ? 1 : 0, operation)
    }
    let right = decimalIfNeeded(right, left)
    if left == right { return ordered(0, operation) }
    return ordered(Self.sortsBefore(left, right) ? -1 : 1, operation)
  }

  private func decimalIfNeeded(_ value: ModelValue, _ other: ModelValue) -> ModelValue {
    guard case .decimal = other else { return value }
    switch value {
    case .int(let value): return .decimal(Decimal128(value: value))
    case .double(let value): return .decimal(Decimal128(value: value))
    case .string(let value): return .decimal((try? Decimal128(string: value)) ?? 0)
    default: return value
    }
  }

  private func folded(_ text: String, _ options: StringOptions) -> [Unicode.Scalar] {
    if let known = findings.foldings[options.rawValue]?[text] { return known }
    var folding: String.CompareOptions = []
    if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
    let folded = Array(text.folding(options: folding, locale: nil).unicodeScalars)
    findings.foldings[options.rawValue, default: [:]][text] = folded
    return folded
  }

  private func ordered(_ order: Int, _ operation: QueryOperator) -> Bool {
    switch operation {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    default: false
    }
  }

  private func text(
    _ left: [Unicode.Scalar], _ operation: QueryOperator, _ right: [Unicode.Scalar]
  ) -> Bool {
    switch operation {
    case .beginsWith: return !right.isEmpty && left.starts(with: right)
    case .endsWith: return !right.isEmpty && left.reversed().starts(with: right.reversed())
    case .contains:
      return !right.isEmpty && left.indices.contains { left[$0...].starts(with: right) }
    case .like: return like(left[...], right[...])
    default:
      if left == right { return ordered(0, operation) }
      return ordered(left.lexicographicallyPrecedes(right) ? -1 : 1, operation)
    }
  }

  private func like(
    _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
  ) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "*" {
      return (text.startIndex...text.endIndex).contains {
        like(text[$0...], pattern.dropFirst())
      }
    }
    guard let character = text.first, first == "?" || first == character else { return false }
    return like(text.dropFirst(), pattern.dropFirst())
  }
}
