/// One key of a sort: a property path and a direction.
@frozen public struct SortDescriptor: Equatable, Sendable {
  /// The property, or a dotted path over to-one links.
  public let keyPath: String
  /// Whether small values come first.
  public let ascending: Bool

  /// Sorts by a property or a dotted path.
  public init(keyPath: String, ascending: Bool = true) {
    self.keyPath = keyPath
    self.ascending = ascending
  }

  /// Sorts by a Swift key path.
  public init<Element: ObjectBase>(keyPath: PartialKeyPath<Element>, ascending: Bool = true) {
    self.init(keyPath: _name(for: keyPath), ascending: ascending)
  }

  /// The same in the other direction.
  public func reversed() -> SortDescriptor {
    SortDescriptor(keyPath: keyPath, ascending: !ascending)
  }
}

extension SortDescriptor: CustomStringConvertible {
  /// Path and direction.
  public var description: String {
    "SortDescriptor (keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
  }
}

extension SortDescriptor: ExpressibleByStringLiteral {
  /// Sorts by the literal's path, ascending.
  public init(stringLiteral value: String) { self.init(keyPath: value) }
}
