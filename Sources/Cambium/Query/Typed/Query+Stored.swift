extension Query {
  /// The comparison with a value of the program's own that is stored as an embedded object: of each of its
  /// properties; nil for other values.
  func memberwise(_ operation: QueryOperator, _ value: Any) -> Query<Bool>? {
    guard let custom = flattened(value) as? any _CustomPersistable,
      let object = storedObject(of: custom)
    else { return nil }
    guard operation == .equal || operation == .notEqual else {
      fatalError("Operator '\(operation.rawValue)' not supported for type 'object'")
    }
    let equalities = object.classDescription.properties.enumerated().map { index, property in
      let property = property.property
      guard !property.isCollection, !property.isComputed, property.type != .object,
        property.type != .any
      else {
        fatalError(
          "Unsupported property '\(object.classDescription.name).\(property.name)' for memberwise "
            + "equality query: only numbers, texts and the like can be compared.")
      }
      let member: Query<Bool> = appending(property.name)
      return member.comparing(.equal, object.value(at: index)).predicate
    }
    let all = QueryPredicate.and(equalities)
    return Query<Bool>(.condition(operation == .equal ? all : .not(all)))
  }
}
