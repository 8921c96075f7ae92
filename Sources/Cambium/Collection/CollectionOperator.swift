/// An operator at the beginning of a key path, as key-value coding has them: what follows is read from
/// every element, and put together.
enum CollectionOperator: String {
  case count
  case sum
  case average = "avg"
  case minimum = "min"
  case maximum = "max"
  case union = "unionOfObjects"
  case distinctUnion = "distinctUnionOfObjects"

  /// The operator with which `keyPath` begins, and what follows; nil when it begins with none.
  ///
  /// Stops at an operator that there is not.
  static func parse(_ keyPath: String) -> (CollectionOperator, rest: String)? {
    guard keyPath.hasPrefix("@") else { return nil }
    let parts = keyPath.dropFirst().split(separator: ".", maxSplits: 1)
    guard let name = parts.first, let found = CollectionOperator(rawValue: String(name)) else {
      fatalError("Unsupported KVC collection operator found in key path '\(keyPath)'")
    }
    let rest = parts.count > 1 ? String(parts[1]) : ""
    if found != .count, rest.isEmpty {
      fatalError("Missing key path for KVC collection operator '\(name)' in key path '\(keyPath)'")
    }
    return (found, rest)
  }
}

extension RealmCollection {
  /// The value of an operator on what `keyPath` leads to from every element.
  func value(of operation: CollectionOperator, _ keyPath: String) -> Any? {
    switch operation {
    case .count: return count
    case .sum: return number(.sum, keyPath) ?? 0
    case .average: return number(.average, keyPath)
    case .minimum: return number(.minimum, keyPath)
    case .maximum: return number(.maximum, keyPath)
    case .union: return present(keyPath)
    case .distinctUnion:
      var seen: Set<AnyHashable> = []
      return present(keyPath).filter { value in
        (value as? AnyHashable).map { seen.insert($0).inserted } ?? true
      }
    }
  }

  /// What is not null.
  private func present(_ keyPath: String) -> [Any] {
    (value(forKeyPath: keyPath) as? [Any?] ?? []).compactMap { $0 }
  }

  private func number(_ operation: QueryPath.Aggregate, _ keyPath: String) -> Any? {
    let name =
      keyPath == "self" || !keyPath.hasPrefix("self.") ? keyPath : String(keyPath.dropFirst(5))
    if let elements = plainElements { return PlainAggregate.run(operation, name, elements) }
    return queryCore().aggregated(operation, name)
  }
}
