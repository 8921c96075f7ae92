import CambiumCore

/// A condition on the object that a to-one link leads to.
///
/// Over many rows the condition is evaluated once on the linked class, and the rows ask only whether
/// their link is among what it found. For few rows each link is followed.
final class LinkNode: QueryNode {
  private let link: BoundLink
  private let inner: QueryNode
  private let matchesMissing: Bool
  private var found: ValueNode?

  init(
    _ context: QueryContext, _ reader: TableReader, _ link: BoundLink, _ inner: QueryNode,
    matchesMissing: Bool
  ) {
    self.link = link
    self.inner = inner
    self.matchesMissing = matchesMissing
    super.init(context, reader)
  }

  override var cost: Int {
    let rows = max(reader.count, 1)
    return 4 + inner.cost * min(inner.reader.count, rows * 8) / rows
  }

  override func select(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    if found == nil {
      let rowCount = candidates?.count ?? window.count
      // Following a link costs as much as testing several rows of the linked class in passing.
      guard inner.reader.count / 16 <= rowCount else { return try selectByRow(window, candidates) }
      let keys = IntegerSet(try inner.selectKeys())
      found = ValueNode(
        context, reader, link.column,
        ValueCondition(.integer(.set(keys)), matchesNull: matchesMissing))
    }
    guard let found else { return RowBitmap(window) }
    return try found.select(window, candidates)
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    if let found { return try found.matches(key) }
    return try reader.withValue(link.column, key) { value throws(StoreError) in
      guard case .int(let target) = value, try inner.reader.contains(target) else {
        return matchesMissing
      }
      return try inner.matches(target)
    }
  }
}
