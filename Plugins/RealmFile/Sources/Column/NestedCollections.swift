/// The lists and dictionaries inside of values of any type.
///
/// They are read level by level, and put into each other from the innermost to the outermost: no
/// function calls itself, so that the depth takes no stack.
struct NestedCollections {
  /// A collection on its way.
  private struct Part {
    /// The part that it is an element of; nil for the values that are filled.
    var parent: Int?
    /// Which element of the parent.
    var index: Int
    var depth: Int
    var position: Int?
    var isDictionary: Bool
    var values: [RealmFileValue] = []
    /// The keys of a dictionary, as many as there are values.
    var keys: [RealmFileValue] = []

    var value: RealmFileValue {
      guard isDictionary else { return .list(values) }
      return .dictionary(
        zip(keys, values).map { RealmFileValue.Entry(key: $0, value: $1) })
    }
  }

  /// Realm nests no deeper.
  static let largestDepth = 100

  private let reader: ValueReader
  private let walk: Walk

  init(_ reader: ValueReader, _ walk: Walk) {
    self.reader = reader
    self.walk = walk
  }

  /// Puts the collections that `nested` names into `values`.
  func fill(_ values: inout [RealmFileValue], _ nested: [MixedLeaf.Nested]) throws(ReadFault) {
    if nested.isEmpty { return }
    var parts = nested.map { Self.part($0, parent: nil, depth: 1) }
    var next = 0
    while next < parts.count {
      var inner: [MixedLeaf.Nested] = []
      try read(&parts[next], nested: &inner)
      let depth = parts[next].depth + 1
      guard inner.isEmpty || depth <= Self.largestDepth else {
        throw .damage(
          "collections are nested deeper than \(Self.largestDepth)",
          position: parts[next].position)
      }
      for child in inner { parts.append(Self.part(child, parent: next, depth: depth)) }
      next += 1
    }
    // A part comes after the one that it belongs to.
    while let part = parts.popLast() {
      if let parent = part.parent {
        parts[parent].values[part.index] = part.value
      } else {
        values[part.index] = part.value
      }
    }
  }

  private static func part(_ nested: MixedLeaf.Nested, parent: Int?, depth: Int) -> Part {
    Part(
      parent: parent, index: nested.index, depth: depth, position: nested.position,
      isDictionary: nested.isDictionary)
  }

  private func read(_ part: inout Part, nested: inout [MixedLeaf.Nested]) throws(ReadFault) {
    guard let position = part.position else { return }
    guard part.isDictionary else {
      part.values = try reader.mixedElements(root: position, nested: &nested, walk)
      return
    }
    (part.keys, part.values) = try reader.dictionaryParts(
      root: position, integerKeys: false, nested: &nested, walk)
  }
}
