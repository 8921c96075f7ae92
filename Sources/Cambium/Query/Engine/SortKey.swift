import CambiumCore

/// A value by which objects are sorted or told apart: to-one links, then a column.
package struct SortKey: Sendable, Hashable {
  var links: [BoundLink]
  var column: BoundColumn
  var isAscending: Bool
}

extension QueryBinder {
  /// Looks up the key paths of a sort.
  ///
  /// - Throws: `QueryError` with the documented message.
  package func bindSort(
    _ keys: [(path: String, isAscending: Bool)], to start: StoredClass
  ) throws(QueryError) -> QueryPlan.Step {
    var bound: [SortKey] = []
    for (path, isAscending) in keys {
      bound.append(try bindKey(path, isAscending, start, "sort on key path"))
    }
    return .sort(bound)
  }

  /// Looks up the key paths of a distinct.
  ///
  /// - Throws: `QueryError` with the documented message.
  package func bindDistinct(
    _ paths: [String], to start: StoredClass
  ) throws(QueryError) -> QueryPlan.Step {
    var bound: [SortKey] = []
    for path in paths { bound.append(try bindKey(path, true, start, "distinct on keypath")) }
    return .distinct(bound)
  }

  private func bindKey(
    _ path: String, _ isAscending: Bool, _ start: StoredClass, _ action: String
  ) throws(QueryError) -> SortKey {
    func failure(_ reason: String) -> QueryError {
      QueryError("Cannot \(action) '\(path)': \(reason)")
    }
    var links: [BoundLink] = []
    var place = start
    let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    // In a key of a dictionary it is a character like others.
    if names.contains(where: { Self.entry($0).name.contains("@") }) {
      throw failure("KVC collection operators are not supported.")
    }
    for (depth, text) in names.enumerated() {
      let isLast = depth == names.count - 1
      let (name, key) = Self.entry(text)
      if name.isEmpty { throw failure("missing property name.") }
      guard let index = place.propertyIndex(name) else {
        throw failure("property '\(place.name).\(name)' does not exist.")
      }
      let property = place.objectSchema.allProperties[index]
      let label = "property '\(place.name).\(property.name)'"
      if let key, property.isMap, property.type != .object {
        guard isLast else {
          throw failure("a value of \(label) may only be the final property in the key path.")
        }
        var column = place.boundColumn(index)
        column.part = .entry(key)
        return SortKey(links: links, column: column, isAscending: isAscending)
      }
      if property.isCollection || property.isComputed || key != nil {
        throw failure("\(label) is of unsupported type '\(property.typeText)'.")
      }
      if isLast {
        guard !property.isLink else {
          throw failure(
            "\(label) of type 'object' cannot be the final property in the key path.")
        }
        return SortKey(
          links: links, column: place.boundColumn(index), isAscending: isAscending)
      }
      guard property.isLink else {
        throw failure(
          "\(label) of type '\(property.type)' may only be the final property in the key path.")
      }
      let target = try linkedClass(property)
      links.append(
        BoundLink(column: place.boundColumn(index), source: place, target: target))
      place = target
    }
    throw failure("missing property name.")
  }

  /// The name of a map, and the key in brackets behind it; nil when there are none.
  private static func entry(_ text: String) -> (name: String, key: String?) {
    guard let bracket = text.firstIndex(of: "["), text.hasSuffix("]") else { return (text, nil) }
    return (String(text[..<bracket]), String(text[bracket...].dropFirst().dropLast()))
  }
}
