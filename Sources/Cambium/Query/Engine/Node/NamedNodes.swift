import CambiumCore

/// A condition whose subqueries name the object: it is evaluated object by object.
final class NamedNode: QueryNode {
  private let level: Int
  private let inner: QueryNode

  init(_ context: QueryContext, _ reader: TableReader, level: Int, _ inner: QueryNode) {
    self.level = level
    self.inner = inner
    super.init(context, reader)
  }

  override var cost: Int { max(200, inner.cost) }

  // The condition inside is asked for single objects only: what holds for one of them must not be
  // kept for the next.
  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    context.named.set(key, at: level)
    return try inner.matches(key)
  }
}

/// A condition on an object around the subquery.
final class OuterNode: QueryNode {
  private let level: Int
  private let inner: QueryNode

  init(_ context: QueryContext, _ reader: TableReader, level: Int, _ inner: QueryNode) {
    self.level = level
    self.inner = inner
    super.init(context, reader)
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    try inner.matches(context.named[level])
  }
}
