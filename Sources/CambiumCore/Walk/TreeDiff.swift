/// Walks a tree so that whole subtrees can be stepped over: it stands before a subtree that is still
/// closed, or at an element.
protocol DiffCursor<Element> {
  associatedtype Element
  /// Whether nothing is left.
  var isAtEnd: Bool { get }
  /// The closed subtree it stands before.
  var subtree: PageReference? { get }
  /// How many levels the closed subtree has.
  var height: Int { get }
  /// The element it is at.
  var element: Element { get }

  /// Below, at or above zero as where it stands comes before, with or after where `other` stands; of a
  /// closed subtree the least key that it may hold counts.
  func order(_ other: Self) -> Int
  /// Whether the closed subtrees before both, which have the same reference, surely hold the same.
  func hasSameSubtree(as other: Self) -> Bool
  /// Whether both elements, of the same key, have the same value.
  func hasSameValue(as other: Self) -> Bool
  /// Goes into the closed subtree, before its first child or at its first element.
  mutating func enter() throws(StoreError)
  /// Steps over the closed subtree or the element.
  mutating func moveOn()
}

extension DiffCursor {
  /// Calls `visit` with each element in which what lies behind both cursors differs, ascending.
  static func diff(
    _ left: Self, _ right: Self,
    _ visit: (TreeDifference<Element>) throws(StoreError) -> Void
  ) throws(StoreError) {
    var (left, right) = (left, right)
    while !left.isAtEnd || !right.isAtEnd {
      if let old = left.subtree, let new = right.subtree, old == new,
        left.hasSameSubtree(as: right)
      {
        left.moveOn()
        right.moveOn()
        continue
      }
      // What begins lower comes first. Of two that begin alike, the higher is opened, and a subtree
      // before an element: what it holds may be the other's equal.
      let order = left.isAtEnd ? 1 : right.isAtEnd ? -1 : left.order(right)
      switch (left.subtree != nil, right.subtree != nil) {
      case (true, true) where order == 0:
        if left.height >= right.height { try left.enter() } else { try right.enter() }
      case (true, _) where order <= 0: try left.enter()
      case (_, true) where order >= 0: try right.enter()
      default:
        if order == 0, !left.hasSameValue(as: right) {
          try visit(.modified(old: left.element, new: right.element))
        } else if order < 0 {
          try visit(.removed(left.element))
        } else if order > 0 {
          try visit(.inserted(right.element))
        }
        if order <= 0 { left.moveOn() }
        if order >= 0 { right.moveOn() }
      }
    }
  }
}
