import CambiumCore

/// Two values are compared: of the same object, or of one around the subquery.
final class PairNode: QueryNode {
  private let left: SourceReader
  private let right: SourceReader
  private let comparison: ValueComparison

  init(
    _ context: QueryContext, _ reader: TableReader, _ left: SourceReader, _ right: SourceReader,
    _ comparison: ValueComparison
  ) {
    self.left = left
    self.right = right
    self.comparison = comparison
    super.init(context, reader)
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    var isFound = false
    try left.forEachValue(of: key) { first throws(StoreError) in
      try right.forEachValue(of: key) { second in
        isFound = comparison.holds(first, second)
        return !isFound
      }
      return !isFound
    }
    return isFound
  }
}

/// Reads the values of one side of a comparison.
final class SourceReader {
  private enum Kind {
    case column(BoundColumn)
    case key
    case number(NumberReader)
    case link(BoundColumn, SourceReader, target: TableReader)
    case list(BoundColumn, SourceReader)
    case backlinks(BoundColumn, SourceReader, origin: StoredClass)
    case elements(BoundColumn)
    case outer(SourceReader, level: Int)
  }

  private let context: QueryContext
  private let reader: TableReader
  private let kind: Kind
  private let missing: ColumnValue

  init(
    _ context: QueryContext, _ reader: TableReader, _ source: BoundSource
  ) throws(StoreError) {
    self.context = context
    self.reader = reader
    missing = source.valueOfMissing
    switch source {
    case .column(let column): kind = .column(column)
    case .key: kind = .key
    case .number(let number): kind = .number(try NumberReader(context, reader, number))
    case .link(let link, let inner):
      let target = try context.reader(link.target)
      kind = .link(link.column, try SourceReader(context, target, inner), target: target)
    case .any(.list(let column, _, let target), let inner):
      kind = .list(column, try SourceReader(context, try context.reader(target), inner))
    case .any(.backlinks(let origin, let column, _, _), let inner):
      kind = .backlinks(
        column, try SourceReader(context, try context.reader(origin), inner), origin: origin)
    case .anyElement(let column): kind = .elements(column)
    case .outer(let origin, let inner):
      let reader = try context.reader(origin.storedClass)
      kind = .outer(try SourceReader(context, reader, inner), level: origin.level)
    }
  }

  /// Whether it has any number of values, also none.
  private var isMultiple: Bool {
    switch kind {
    case .list, .backlinks, .elements: true
    case .link(_, let inner, _), .outer(let inner, _): inner.isMultiple
    case .column, .key, .number: false
    }
  }

  /// Calls `body` with each value of the object, until it returns false.
  func forEachValue(
    of key: Int64, _ body: (ColumnValue) throws(StoreError) -> Bool
  ) throws(StoreError) {
    _ = try visit(key, body)
  }

  private func visit(
    _ key: Int64, _ body: (ColumnValue) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    switch kind {
    case .column(let column): return try reader.withValue(column, key, body)
    case .key: return try body(.int(key))
    case .outer(let inner, let level): return try inner.visit(context.named[level], body)
    case .number(let number):
      let goesOn = try number.fold(of: key).withOperand { value in
        catching { () throws(StoreError) in try body(value) }
      }
      return try goesOn.get()
    case .link(let column, let inner, let target):
      return try reader.withValue(column, key) { value throws(StoreError) in
        if case .int(let next) = value, try target.contains(next) {
          return try inner.visit(next, body)
        }
        return inner.isMultiple ? true : try body(missing)
      }
    case .list(let column, let inner):
      var goesOn = true
      try context.forEachElement(of: column, key, in: reader) { value throws(StoreError) in
        if case .int(let element) = value { goesOn = try inner.visit(element, body) }
        return goesOn
      }
      return goesOn
    case .backlinks(let column, let inner, let origin):
      var goesOn = true
      try context.forEachBacklink(to: key, of: reader.storedClass, from: origin, column.id) {
        element throws(StoreError) in
        goesOn = try inner.visit(element, body)
        return goesOn
      }
      return goesOn
    case .elements(let column):
      var goesOn = true
      try context.forEachElement(of: column, key, in: reader) { value throws(StoreError) in
        goesOn = try body(value)
        return goesOn
      }
      return goesOn
    }
  }
}
