import CambiumCore

/// A condition on what is computed from a collection.
final class NumberNode: QueryNode {
  private let number: NumberReader
  private let condition: ValueCondition

  init(
    _ context: QueryContext, _ reader: TableReader, _ number: NumberReader,
    _ condition: ValueCondition
  ) {
    self.number = number
    self.condition = condition
    super.init(context, reader)
  }

  override var cost: Int { 200 }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    try number.fold(of: key).withOperand { condition.matches($0) }
  }
}

/// Computes a number from a collection of one object.
final class NumberReader {
  private let context: QueryContext
  private let reader: TableReader
  private let number: BoundNumber
  /// The elements' class, and the condition that counts them.
  private let elements: TableReader?
  private let filter: QueryNode?

  init(
    _ context: QueryContext, _ reader: TableReader, _ number: BoundNumber
  ) throws(StoreError) {
    self.context = context
    self.reader = reader
    self.number = number
    switch number.source {
    case .elements: (elements, filter) = (nil, nil)
    case .objects(let collection, _, let predicate):
      let elements = try context.reader(collection.elementClass)
      self.elements = elements
      if let predicate {
        filter = try QueryCompiler(context).compile(predicate, elements)
      } else {
        filter = nil
      }
    }
  }

  /// What the object with that key gives.
  func fold(of key: Int64) throws(StoreError) -> NumberFold {
    switch number.source {
    case .elements(let list):
      if number.aggregate == .count {
        return NumberFold(count: try context.elementCount(of: list, key, in: reader))
      }
      var fold = NumberFold(number.aggregate, list.property)
      try context.forEachElement(of: list, key, in: reader) { value in
        fold.add(value)
        return true
      }
      return fold
    case .objects(let collection, let column, _):
      if number.aggregate == .count, filter == nil {
        return NumberFold(count: try count(collection, key))
      }
      return try folded(collection, column, key)
    }
  }

  private func folded(
    _ collection: BoundCollection, _ column: BoundColumn?, _ key: Int64
  ) throws(StoreError) -> NumberFold {
    var fold = NumberFold(number.aggregate, column?.property ?? .int)
    try forEach(collection, key) { element throws(StoreError) in
      guard let elements else { return }
      if let filter, try !filter.matches(element) { return }
      guard let column else { return fold.add(.int(0)) }
      try elements.withValue(column, element) { value in fold.add(value) }
    }
    return fold
  }

  private func forEach(
    _ collection: BoundCollection, _ key: Int64, _ body: (Int64) throws(StoreError) -> Void
  ) throws(StoreError) {
    switch collection {
    case .list(let column, _, _):
      try context.forEachElement(of: column, key, in: reader) { value throws(StoreError) in
        if case .int(let element) = value { try body(element) }
        return true
      }
    case .backlinks(let origin, let column, _, let target):
      try context.forEachBacklink(to: key, of: target, from: origin, column.id) {
        element throws(StoreError) in
        try body(element)
        return true
      }
    }
  }

  private func count(_ collection: BoundCollection, _ key: Int64) throws(StoreError) -> Int {
    switch collection {
    case .list(let column, _, _):
      return try context.elementCount(of: column, key, in: reader)
    case .backlinks(let origin, let column, _, let target):
      guard let tree = try context.keyTree(StoredName.backlinks(target.name)) else { return 0 }
      return try Backlinks.count(
        in: tree, BacklinkGroup(target: key, table: origin.tableID, column: column.id))
    }
  }
}
