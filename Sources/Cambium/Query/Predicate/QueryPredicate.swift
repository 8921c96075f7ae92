/// A condition on objects, as either front end writes it: names are not yet looked up in a schema.
package indirect enum QueryPredicate: Hashable {
  /// True or false for every object.
  case always(Bool)
  /// All hold; true when there are none.
  case and([QueryPredicate])
  /// At least one holds; false when there are none.
  case or([QueryPredicate])
  /// Does not hold.
  case not(QueryPredicate)
  /// Two operands and what connects them.
  case comparison(QueryComparison)
}

// Conditions that grow in a loop, which would nest without end.
extension QueryPredicate {
  /// So many are put into one another, two at a time, before others stand beside them.
  private static let pairDepth = 64

  /// Both hold.
  func and(_ other: QueryPredicate) -> QueryPredicate {
    .and(Self.paired(self, other) { if case .and(let parts) = $0 { parts } else { [] } })
  }

  /// At least one holds.
  func or(_ other: QueryPredicate) -> QueryPredicate {
    .or(Self.paired(self, other) { if case .or(let parts) = $0 { parts } else { [] } })
  }

  private static func paired(
    _ left: QueryPredicate, _ right: QueryPredicate, _ parts: (QueryPredicate) -> [QueryPredicate]
  ) -> [QueryPredicate] {
    if isDeep(left, { parts($0).first }) { return parts(left) + [right] }
    if isDeep(right, { parts($0).last }) { return [left] + parts(right) }
    return [left, right]
  }

  private static func isDeep(
    _ predicate: QueryPredicate, _ inner: (QueryPredicate) -> QueryPredicate?
  ) -> Bool {
    var predicate = predicate
    for _ in 0..<pairDepth {
      guard let next = inner(predicate) else { return false }
      predicate = next
    }
    return true
  }
}

/// Two operands and the operator between them.
package struct QueryComparison {
  package var left: QueryOperand
  package var operation: QueryOperator
  package var right: QueryOperand
  /// Whether the condition asks for at least one element of the collection on the path.
  package var isAny = false
  package var options: StringOptions = []
  /// Whether the condition was written as a truth value alone: so it is printed, and it means the same
  /// as the comparison.
  var isTruthValue = false

  package init(
    _ left: QueryOperand, _ operation: QueryOperator, _ right: QueryOperand, isAny: Bool = false,
    options: StringOptions = []
  ) {
    self.left = left
    self.operation = operation
    self.right = right
    self.isAny = isAny
    self.options = options
  }
}

extension QueryComparison: Hashable {
  package static func == (left: QueryComparison, right: QueryComparison) -> Bool {
    left.left == right.left && left.operation == right.operation && left.right == right.right
      && left.isAny == right.isAny && left.options == right.options
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(left)
    hasher.combine(operation)
    hasher.combine(right)
  }
}

/// What can stand between two operands.
package enum QueryOperator: String, Hashable, Sendable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case between = "BETWEEN"
  case `in` = "IN"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case contains = "CONTAINS"
  case like = "LIKE"

  /// The operator that gives the same result with the operands exchanged, if there is one.
  package var exchanged: QueryOperator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: nil
    }
  }

  /// Whether it looks for a piece or a pattern in a string.
  package var isStringOperator: Bool {
    switch self {
    case .beginsWith, .endsWith, .contains, .like: true
    default: false
    }
  }

  /// Whether it asks for an order, not just for equality.
  package var isOrdering: Bool {
    switch self {
    case .less, .lessOrEqual, .greater, .greaterOrEqual, .between: true
    default: false
    }
  }
}

/// One side of a comparison.
package indirect enum QueryOperand: Hashable {
  case constant(QueryConstant)
  case path(QueryPath)
  /// The number of elements of a collection that satisfy a condition on `variable`.
  case subqueryCount(collection: QueryPath, variable: String, QueryPredicate)
}
