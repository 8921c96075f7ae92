import CambiumCore

/// Conditions on values of any type.
extension QueryBinder {
  func anyCondition(
    _ path: QueryPath, _ comparison: QueryComparison, _ constant: QueryConstant
  ) throws(QueryError) -> ValueCondition {
    let operation = comparison.operation
    let subject = ValueCondition.Subject(type: .any, path: path.text)
    try ValueCondition.check(subject, operation, comparison.options)
    switch (operation, constant) {
    case (.between, .array(let bounds)) where bounds.count == 2:
      return ValueCondition(.any([try AnyCondition(from: bounds[0], through: bounds[1])]))
    case (.between, _):
      throw QueryError("NSArray object must contain exactly two objects for BETWEEN operations")
    case (.in, .array(let elements)):
      var conditions: [AnyCondition] = []
      var matchesNull = false
      for element in elements {
        if case .null = element {
          matchesNull = true
        } else {
          conditions.append(try anyCondition(.equal, element, comparison.options))
        }
      }
      return ValueCondition(.any(conditions), matchesNull: matchesNull)
    case (.in, _): throw QueryError("IN clause requires an array of items")
    case (_, .null): return ValueCondition.comparisonWithNull(operation)
    default:
      return ValueCondition(
        .any([try anyCondition(operation, constant, comparison.options)]),
        matchesNull: operation == .notEqual)
    }
  }

  private func anyCondition(
    _ operation: QueryOperator, _ constant: QueryConstant, _ options: StringOptions
  ) throws(QueryError) -> AnyCondition {
    guard case .object(let instance) = constant else {
      return try AnyCondition(operation, constant, options)
    }
    guard let row = try object(instance) else {
      throw QueryError("Object must be from the Realm being queried")
    }
    let link = row.key.map { StoredAnyLink(table: row.table, key: $0) }
    return try AnyCondition(operation, constant, options, link: link)
  }
}
