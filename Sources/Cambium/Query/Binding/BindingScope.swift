/// What a predicate's paths start from: the object, and in a subquery an element.
final class BindingScope {
  let start: StoredClass
  /// The name after `$` by which the predicate calls it; nil for the object that all is about.
  let variable: String?
  /// Whether it is a value: `SELF` is the only property of the class.
  let isValue: Bool
  /// How many scopes are around it.
  let level: Int
  /// Whether a subquery inside names it.
  private(set) var isNamedInside = false
  private let outer: BindingScope?

  /// The scope of a whole predicate.
  init(_ start: StoredClass, isValue: Bool = false) {
    self.start = start
    self.isValue = isValue
    (variable, level, outer) = (nil, 0, nil)
  }

  /// The scope of a subquery's condition.
  init(_ start: StoredClass, named variable: String, in outer: BindingScope) {
    self.start = start
    self.variable = variable
    self.outer = outer
    isValue = false
    level = outer.level + 1
  }

  /// Where a path starts: the innermost scope of that name; nil when there is none.
  func origin(of path: QueryPath) -> BindingScope? {
    if path.variable == variable { return self }
    guard let origin = outer?.origin(of: path) else { return nil }
    origin.isNamedInside = true
    return origin
  }
}
