/// Columns of collections: a ref for each object, or 0 for an empty one.
extension ValueReader {
  private func collectionRefs(
    _ node: Node, count: Int
  ) throws(ReadFault) -> [Node.Slot] {
    try node.references("collections of a column", expected: count).map(Node.Slot.init)
  }

  /// The lists or sets of the objects of a leaf.
  func lists(
    of column: Column, _ node: Node, count: Int, _ part: Part, _ walk: Walk
  ) throws(ReadFault) -> [RealmFileValue] {
    var lists: [RealmFileValue] = []
    let slots = try collectionRefs(node, count: count)
    try part.forEach(of: count) { index throws(ReadFault) in
      switch slots[index] {
      case .none: lists.append(.list([]))
      case .ref(let root): lists.append(.list(try elements(of: column, root: root, walk)))
      case .tagged: throw node.damage("an integer stands in the place of a collection")
      }
    }
    return lists
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
    of column: Column, _ node: Node, count: Int, _ part: Part, _ walk: Walk
  ) throws(ReadFault) -> [RealmFileValue] {
    var dictionaries: [RealmFileValue] = []
    let slots = try collectionRefs(node, count: count)
    try part.forEach(of: count) { index throws(ReadFault) in
      switch slots[index] {
      case .none: dictionaries.append(.dictionary([]))
      case .ref(let root):
        var entries = try entries(root: root, integerKeys: column.hasIntegerKeys, walk)
        if column.storage != .mixed {
          for index in entries.indices { try fit(&entries[index].value, to: column, node) }
        }
        dictionaries.append(.dictionary(entries))
      case .tagged: throw node.damage("an integer stands in the place of a dictionary")
      }
    }
    return dictionaries
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
