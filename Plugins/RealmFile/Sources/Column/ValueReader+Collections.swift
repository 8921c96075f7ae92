/// Columns of collections: a ref for each object, or 0 for an empty one.
extension ValueReader {
  /// The collections of the objects of a leaf, each of which `read` reads from its ref.
  private func collections(
    _ node: Node, count: Int, _ part: LeafPart, empty: RealmFileValue,
    _ read: (_ root: Int) throws(ReadFault) -> RealmFileValue
  ) throws(ReadFault) -> [RealmFileValue] {
    let elements = try node.references("collections of a column", expected: count)
    var collections: [RealmFileValue] = []
    try part.forEach(of: count) { index throws(ReadFault) in
      switch Node.Slot(elements[index]) {
      case .none: collections.append(empty)
      case .ref(let root): collections.append(try read(root))
      case .tagged: throw node.damage("an integer stands in the place of a collection")
      }
    }
    return collections
  }

  /// The lists or sets of the objects of a leaf.
  func lists(
    of column: Column, _ node: Node, count: Int, _ part: LeafPart, _ walk: Walk
  ) throws(ReadFault) -> [RealmFileValue] {
    try collections(node, count: count, part, empty: .list([])) { root throws(ReadFault) in
      .list(try elements(of: column, root: root, walk))
    }
  }

  private func elements(
    of column: Column, root: Int, _ walk: Walk
  ) throws(ReadFault) -> [RealmFileValue] {
    if column.storage == .mixed { return try mixedElements(root: root, walk) }
    var values: [RealmFileValue] = []
    var leaves = ElementLeaves(root: root, walk)
    while let leaf = try leaves.next() {
      leaves.elementCount += try append(leaf, of: column, .element, to: &values, walk)
    }
    return values
  }

  /// The dictionaries of the objects of a leaf.
  func dictionaries(
    of column: Column, _ node: Node, count: Int, _ part: LeafPart, _ walk: Walk
  ) throws(ReadFault) -> [RealmFileValue] {
    try collections(node, count: count, part, empty: .dictionary([])) { root throws(ReadFault) in
      var entries = try entries(root: root, integerKeys: column.hasIntegerKeys, walk)
      if column.storage != .mixed {
        for index in entries.indices { try fit(&entries[index].value, to: column, node) }
      }
      return .dictionary(entries)
    }
  }

  /// Checks that a value, which is stored as one of any type, has the type of its column.
  private func fit(
    _ value: inout RealmFileValue, to column: Column, _ node: Node
  ) throws(ReadFault) {
    let fits =
      switch (value, column.storage) {
      case (.int, .int), (.bool, .bool), (.string, .string), (.data, .data), (.date, .date),
        (.float, .float), (.double, .double), (.decimal, .decimal128), (.objectId, .objectId),
        (.uuid, .uuid):
        true
      case (.link(let target, _), .link): target == column.target
      case (.null, _): column.isNullable || column.storage == .link
      default: false
      }
    if fits { return }
    switch (value, column.storage) {
    case (.null, .string): value = .string("")
    case (.null, .data): value = .data([])
    default: throw node.damage("a dictionary has a value that is not of the property's type")
    }
  }
}
