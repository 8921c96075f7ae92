/// The objects around a subquery that is being evaluated, by their scopes' levels.
struct NamedElements<Element> {
  private var elements: [Element] = []

  /// The object of a level, which was set before the subquery was begun.
  subscript(level: Int) -> Element { elements[level] }

  /// Names the object of a level.
  mutating func set(_ element: Element, at level: Int) {
    // A level in between that no subquery names is never read.
    while elements.count <= level { elements.append(element) }
    elements[level] = element
  }
}
