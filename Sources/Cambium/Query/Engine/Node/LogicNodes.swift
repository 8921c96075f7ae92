import CambiumCore

/// A condition that is the same for every object.
final class ConstantNode: QueryNode {
  private let result: Bool

  init(_ context: QueryContext, _ reader: TableReader, _ result: Bool) {
    self.result = result
    super.init(context, reader)
  }

  override var cost: Int { 0 }

  override func select(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    RowBitmap(window, filled: result)
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool { result }
}

/// Several conditions, the cheap ones first.
class JoinedNode: QueryNode {
  fileprivate let parts: [QueryNode]

  init(_ context: QueryContext, _ reader: TableReader, _ parts: [QueryNode]) {
    self.parts = parts.sorted { $0.cost < $1.cost }
    super.init(context, reader)
  }

  override var cost: Int { parts.reduce(0) { $0 + $1.cost } }
}

/// All conditions hold; each one looks at what the cheaper ones left.
final class AndNode: JoinedNode {
  override func select(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    guard let first = parts.first else { return RowBitmap(window, filled: true) }
    let result = try first.select(window, candidates)
    if let candidates { result.formIntersection(candidates) }
    for part in parts.dropFirst() {
      if result.isEmpty { break }
      result.formIntersection(try part.select(window, result))
    }
    return result
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    for part in parts where try !part.matches(key) { return false }
    return true
  }
}

/// At least one condition holds.
final class OrNode: JoinedNode {
  override func select(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    let result = RowBitmap(window)
    for part in parts { result.formUnion(try part.select(window, candidates)) }
    return result
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    for part in parts where try part.matches(key) { return true }
    return false
  }
}

/// The condition does not hold.
final class NotNode: QueryNode {
  private let part: QueryNode

  init(_ context: QueryContext, _ reader: TableReader, _ part: QueryNode) {
    self.part = part
    super.init(context, reader)
  }

  override var cost: Int { part.cost }

  override func select(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    let result = try part.select(window, candidates)
    result.invert()
    return result
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool { try !part.matches(key) }
}
