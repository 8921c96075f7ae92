/// Leaves of texts and of bytes.
extension ValueReader {
  /// A null in a column that has no nulls is an empty text, as Realm reads it.
  func appendStrings(
    _ node: Node, _ column: Column, _ place: Place, _ values: inout [RealmFileValue], _ walk: Walk
  ) throws(ReadFault) {
    let null: RealmFileValue = column.isNullable ? .null : .string("")
    if case .column = place, node.scheme == .bits, !node.hasRefs {
      return try appendEnumerated(node, column, place, null, &values, walk)
    }
    let leaf = try BlobLeaf(node, .text, walk)
    try check(leaf, place, node)
    try place.forEach(of: leaf.count) { index throws(ReadFault) in
      values.append(try leaf.value(index, walk).map { .string(text($0)) } ?? null)
    }
  }

  /// Indexes into the distinct texts of the column.
  private func appendEnumerated(
    _ node: Node, _ column: Column, _ place: Place, _ null: RealmFileValue,
    _ values: inout [RealmFileValue], _ walk: Walk
  ) throws(ReadFault) {
    guard let position = column.enumeration else {
      throw node.damage("a leaf refers to distinct texts, and the column has none")
    }
    let texts = try enumeration(at: position)
    let indexes = try node.integers("enumerated texts", expected: place.expected)
    try place.forEach(of: indexes.count) { position throws(ReadFault) in
      let index = indexes[position]
      guard index >= 0, index < Int64(texts.count) else {
        throw node.damage("an enumerated text has the index \(index) of \(texts.count)")
      }
      let text = texts[Int(index)]
      if case .string(let text) = text { walk.noteShared(byteCount: text.utf8.count) }
      values.append(text == .null ? null : text)
    }
  }

  /// A null in a column that has no nulls is empty data.
  func appendData(
    _ node: Node, _ column: Column, _ place: Place, _ values: inout [RealmFileValue], _ walk: Walk
  ) throws(ReadFault) {
    let null: RealmFileValue = column.isNullable ? .null : .data([])
    let leaf = try BlobLeaf(node, .bytes, walk)
    try check(leaf, place, node)
    try place.forEach(of: leaf.count) { index throws(ReadFault) in
      values.append(try leaf.value(index, walk).map { .data(Array($0)) } ?? null)
    }
  }

  /// Throws before any value is read when there are not as many as there must be.
  private func check(_ leaf: BlobLeaf, _ place: Place, _ node: Node) throws(ReadFault) {
    guard let expected = place.expected, expected != leaf.count else { return }
    throw node.damage("a column's leaf has \(leaf.count) values instead of \(expected)")
  }
}
