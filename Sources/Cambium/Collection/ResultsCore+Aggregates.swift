import CambiumCore

extension ResultsCore {
  /// Computes a number from a property of the objects, or from the values; nil for none.
  func aggregated(_ operation: QueryPath.Aggregate, _ name: String) -> Any? {
    verify()
    guard let access, let plan else { return aggregatedValues(operation, name) }
    guard let index = access.stored.propertyIndex(name) else {
      fatalError("Invalid property name '\(name)' for class '\(access.stored.name)'.")
    }
    let property = access.description.properties[index].property
    Self.check(operation, property, "property '\(access.stored.name).\(property.name)'")
    unsafe realm.session?.settle()
    if property.type == .any { return aggregatedAny(operation, index, access) }
    return realm.evaluating(or: PlainAggregate.zero(property.type)) {
      interruption throws(StoreError) in
      let cell: ColumnValue
      if case .all = source {
        cell = try plan.aggregate(operation, of: index, in: realm.view, interruption)
      } else {
        cell = try QueryPlan(access.stored).aggregate(
          operation, of: index, among: currentKeys(), in: realm.view, interruption)
      }
      return PlainAggregate.value(cell, property.type)
    }
  }

  private func aggregatedAny(
    _ operation: QueryPath.Aggregate, _ index: Int, _ access: ClassAccess
  ) -> Any? {
    var fold = NumberFold(operation, .any)
    for key in currentKeys() { realm.withCell(access, key, index) { fold.add($0) } }
    return fold.withResult { PlainAggregate.value($0, .any) }
  }

  private func aggregatedValues(_ operation: QueryPath.Aggregate, _ name: String) -> Any? {
    let property = elementProperty
    guard name == "self" else {
      fatalError("Arrays of '\(property.typeText)' can only be aggregated on \"self\"")
    }
    Self.check(operation, property, "array of '\(property.typeText)'")
    let values = currentValues()
    var fold = NumberFold(operation, property.type)
    for index in 0..<values.count { fold.add(values[index]) }
    return fold.withResult { PlainAggregate.value($0, property.type) }
  }

  /// Stops at operations that a property's type does not have.
  static func check(_ operation: QueryPath.Aggregate, _ property: Property, _ label: String) {
    let isNumber: Bool
    switch property.type {
    case .int, .float, .double, .decimal128, .any: isNumber = true
    case .date: isNumber = operation == .minimum || operation == .maximum
    default: isNumber = false
    }
    guard isNumber, !property.isCollection else {
      let name = operation == .average ? "average" : String(operation.rawValue.dropFirst())
      fatalError("Operation '\(name)' not supported for \(property.typeText) \(label)")
    }
  }
}
