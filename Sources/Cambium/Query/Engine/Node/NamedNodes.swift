import CambiumCore

/// A condition in which an object is named around a subquery.
class ScopedNode: QueryNode {
  fileprivate let level: Int
  fileprivate let inner: QueryNode

  init(_ context: QueryContext, _ reader: TableReader, level: Int, _ inner: QueryNode) {
    self.level = level
    self.inner = inner
    super.init(context, reader)
  }

  override var cost: Int { max(200, inner.cost) }
}

/// A condition whose subqueries name the object: it is evaluated object by object.
final class NamedNode: ScopedNode {
  // The condition inside is asked for single objects only: what holds for one of them must not be
  // kept for the next.
  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    context.named.set(key, at: level)
    return try inner.matches(key)
  }
}

/// A condition on an object around the subquery.
final class OuterNode: ScopedNode {
  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    try inner.matches(context.named[level])
  }
}
