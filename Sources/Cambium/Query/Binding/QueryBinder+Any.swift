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
      return ValueCondition(.any(try AnyCondition(from: bounds[0], through: bounds[1])))
    case (.between, _):
      throw QueryError("NSArray object must contain exactly two objects for BETWEEN operations")
    case (.in, .array(let elements)):
      var links: Set<StoredAnyLink> = []
      var matchesNull = false
      for element in elements {
        if case .null = element { matchesNull = true }
        if let link = try link(element) { links.insert(link) }
      }
      let condition = try AnyCondition(oneOf: elements, comparison.options, links: links)
      return ValueCondition(.any(condition), matchesNull: matchesNull)
    case (.in, _): throw QueryError("IN clause requires an array of items")
    case (_, .null): return ValueCondition.comparisonWithNull(operation)
    default:
      return ValueCondition(
        .any(
          try AnyCondition(operation, constant, comparison.options, link: try link(constant))),
        matchesNull: operation == .notEqual)
    }
  }

  /// How a value of any type names an object; nil for other constants, and for one that was deleted.
  private func link(_ constant: QueryConstant) throws(QueryError) -> StoredAnyLink? {
    guard case .object(let instance) = constant else { return nil }
    guard let row = try object(instance) else {
      throw QueryError("Object must be from the Realm being queried")
    }
    return row.key.map { StoredAnyLink(table: row.table, key: $0) }
  }
}
