/// Leaves of links.
extension ValueReader {
  /// Links to one class: a key in an element tree, a key and one in a column, where 0 is null.
  ///
  /// Keys below zero are those of objects that are not there; in element trees they are left out.
  func appendLinks(
    _ node: Node, _ column: Column, _ place: Place, _ values: inout [RealmFileValue]
  ) throws(ReadFault) -> Int {
    guard let target = column.target else { throw node.damage("a link leads to no class") }
    let elements = try node.integers("links", expected: place.expected)
    switch place {
    case .column:
      for element in elements {
        values.append(element > 0 ? .link(class: target, key: element - 1) : .null)
      }
    case .element:
      for key in elements where key >= 0 { values.append(.link(class: target, key: key)) }
    }
    return elements.count
  }

  /// Links to any class: two elements for each, table key and object key, both and one.
  func appendTypedLinks(
    _ node: Node, _ place: Place, _ values: inout [RealmFileValue]
  ) throws(ReadFault) {
    let elements = try node.integers(
      "links to any class", expected: place.expected.map { 2 * $0 })
    for index in stride(from: 0, to: elements.count - 1, by: 2) {
      let table = elements[index]
      values.append(table == 0 ? .null : link(table: table &- 1, key: elements[index + 1] &- 1))
    }
  }

  /// A link to any class; null when the class or the object is gone.
  func link(table: Int64, key: Int64) -> RealmFileValue {
    guard key >= 0, let target = classes[table] else { return .null }
    return .link(class: target, key: key)
  }
}
