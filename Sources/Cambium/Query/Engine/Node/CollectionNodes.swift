import CambiumCore

/// At least one object of a list satisfies a condition.
final class AnyOfListNode: QueryNode {
  private let list: BoundColumn
  private let inner: QueryNode
  private var found: IntegerSet?

  init(
    _ context: QueryContext, _ reader: TableReader, _ list: BoundColumn, _ inner: QueryNode
  ) {
    self.list = list
    self.inner = inner
    super.init(context, reader)
  }

  override var cost: Int { 50 + inner.cost }

  override func select(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    if found == nil, inner.reader.count / 16 <= candidates?.count ?? window.count {
      found = IntegerSet(try inner.selectKeys())
    }
    if found?.isEmpty == true { return RowBitmap(window) }
    return try selectByRow(window, candidates)
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    var isFound = false
    try context.forEachElement(of: list, key, in: reader) { value throws(StoreError) in
      guard case .int(let target) = value else { return true }
      if let found {
        isFound = found.contains(target)
      } else if try inner.reader.contains(target) {
        isFound = try inner.matches(target)
      }
      return !isFound
    }
    return isFound
  }
}

/// At least one value of a list satisfies a condition.
final class AnyElementNode: QueryNode {
  private let list: BoundColumn
  private let condition: ValueCondition

  init(
    _ context: QueryContext, _ reader: TableReader, _ list: BoundColumn, _ condition: ValueCondition
  ) {
    self.list = list
    self.condition = condition
    super.init(context, reader)
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    var isFound = false
    try context.forEachElement(of: list, key, in: reader) { value in
      isFound = condition.matches(value)
      return !isFound
    }
    return isFound
  }
}

/// At least one of the objects that link here satisfies a condition.
///
/// Over many rows the condition is evaluated once on the linking class, and what its objects link to
/// is collected.
final class AnyBacklinkNode: QueryNode {
  private let column: BoundColumn
  private let isList: Bool
  private let inner: QueryNode
  private var found: KeysNode?

  init(
    _ context: QueryContext, _ reader: TableReader, _ column: BoundColumn, isList: Bool,
    _ inner: QueryNode
  ) {
    self.column = column
    self.isList = isList
    self.inner = inner
    super.init(context, reader)
  }

  override var cost: Int {
    let rows = max(reader.count, 1)
    return 20 + inner.cost * inner.reader.count / rows
  }

  override func select(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    let rowCount = candidates?.count ?? window.count
    if found == nil, rowCount > reader.count / 64 {
      found = KeysNode(context, reader, IntegerSet(try targets()))
    }
    guard let found else { return try selectByRow(window, candidates) }
    return try found.select(window, candidates)
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    if let found { return try found.matches(key) }
    var isFound = false
    try context.forEachBacklink(
      to: key, of: reader.storedClass, from: inner.reader.storedClass, column.id
    ) { source throws(StoreError) in
      isFound = try inner.matches(source)
      return !isFound
    }
    return isFound
  }

  /// What the objects that satisfy the condition link to.
  private func targets() throws(StoreError) -> [Int64] {
    let origins = inner.reader
    let rows = try inner.select(origins.everything(), nil)
    var targets: [Int64] = []
    try inner.forEachRow(rows.window, rows) { _, key throws(StoreError) in
      if isList {
        try context.forEachElement(of: column, key, in: origins) { value in
          if case .int(let target) = value { targets.append(target) }
          return true
        }
      } else {
        try origins.withValue(column, key) { value in
          if case .int(let target) = value { targets.append(target) }
        }
      }
    }
    return targets
  }
}
