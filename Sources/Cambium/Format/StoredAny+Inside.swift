import CambiumCore

// Lists and dictionaries inside.
extension StoredAny {
  /// Whether a value at that level, or one inside of it, is a collection below the deepest level.
  func isTooDeep(at depth: Int = 0) -> Bool {
    switch self {
    case .list(_, let values):
      depth >= Self.depthLimit || values.contains { $0.isTooDeep(at: depth + 1) }
    case .dictionary(_, let entries):
      depth >= Self.depthLimit || entries.contains { $0.value.isTooDeep(at: depth + 1) }
    default: false
    }
  }

  /// Which list or dictionary it is; nil for other values.
  var identifier: UInt64? {
    switch self {
    case .list(let identifier, _), .dictionary(let identifier, _): identifier
    default: nil
    }
  }

  /// The values of a list or dictionary; none of other values.
  var elements: [StoredAny] {
    switch self {
    case .list(_, let values): values
    case .dictionary(_, let entries): entries.map(\.value)
    default: []
    }
  }

  /// The list or dictionary with that identifier, this one or one inside of it.
  func collection(_ identifier: UInt64) -> StoredAny? {
    if self.identifier == identifier { return self }
    for element in elements {
      if let found = element.collection(identifier) { return found }
    }
    return nil
  }

  /// Puts `collection` in the place of the one with its identifier; whether there was one.
  mutating func replace(_ collection: StoredAny) -> Bool {
    guard let wanted = collection.identifier else { return false }
    if identifier == wanted {
      self = collection
      return true
    }
    return changeElements { $0.replace(collection) }
  }

  /// Takes links to one of `targets` out: out of lists, and with null in their places in dictionaries and
  /// where the value is one; whether there was any.
  mutating func removeLinks(to targets: Set<StoredAnyLink>) -> Bool {
    switch self {
    case .link(let link) where targets.contains(link):
      self = .none
      return true
    case .list(let identifier, let values):
      let kept = values.filter { value in
        if case .link(let link) = value { !targets.contains(link) } else { true }
      }
      self = .list(identifier: identifier, kept)
      let hasChanged = changeElements { $0.removeLinks(to: targets) }
      return hasChanged || kept.count < values.count
    default: return changeElements { $0.removeLinks(to: targets) }
    }
  }

  /// Calls `body` with each element; whether it returned true for any.
  private mutating func changeElements(_ body: (inout StoredAny) -> Bool) -> Bool {
    var hasChanged = false
    switch self {
    case .list(let identifier, var values):
      for index in values.indices where body(&values[index]) { hasChanged = true }
      if hasChanged { self = .list(identifier: identifier, values) }
    case .dictionary(let identifier, var entries):
      for index in entries.indices where body(&entries[index].value) { hasChanged = true }
      if hasChanged { self = .dictionary(identifier: identifier, entries) }
    default: break
    }
    return hasChanged
  }

  /// The objects that it is or holds, as often as it does.
  package var links: [StoredAnyLink] {
    if case .link(let link) = self { return [link] }
    return elements.flatMap(\.links)
  }

  /// The objects that the value of a cell is or holds.
  package static func links(in cell: ColumnValue) -> [StoredAnyLink] {
    guard case .bytes(let bytes) = cell, let tag = unsafe bytes.first.flatMap(Tag.init) else {
      return []
    }
    switch tag {
    case .link, .list, .dictionary: return StoredAny(cell)?.links ?? []
    default: return []
    }
  }

  /// Whether a cell with a value of any type holds a list or a dictionary.
  static func isCollection(_ cell: ColumnValue) -> Bool {
    guard case .bytes(let bytes) = cell, let first = unsafe bytes.first else { return false }
    return first == Tag.list.rawValue || first == Tag.dictionary.rawValue
  }
}

extension StoredAny {
  /// What lies behind keys and indices: one value, nothing where one of them leads nowhere, or any number
  /// behind a step to every element.
  func values(at steps: ArraySlice<QueryPath.Step>) -> [StoredAny] {
    guard let step = steps.first else { return [self] }
    let rest = steps.dropFirst()
    switch (step, self) {
    case (.key(let key), .dictionary(_, let entries)):
      let wanted = Array(key.utf8)
      return (entries.first { $0.key == wanted }?.value ?? .none).values(at: rest)
    case (.index(let index), .list(_, let values)):
      return (values.indices.contains(index) ? values[index] : .none).values(at: rest)
    case (.anyElement, _): return elements.flatMap { $0.values(at: rest) }
    default: return StoredAny.none.values(at: rest)
    }
  }
}
