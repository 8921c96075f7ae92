import CambiumCore

/// One run of a query on one version: the tables it reads and what it has found out about them.
///
/// Not safe to use from two threads at once.
///
/// Pointers: keys of maps are lent for the length of a call by the map or by an array.
final class QueryContext {
  private let view: any ReadTransaction
  private let source: PageSource
  private var readers: [String: TableReader] = [:]
  private var keyTrees: [String: KeyTree?] = [:]
  /// The keys of the objects around the subquery that is being evaluated, as far as it names them.
  var named = NamedElements<Int64>()

  /// Is asked at each leaf that is read.
  let interruption: Interruption?

  init(_ view: some ReadTransaction, _ interruption: Interruption? = nil) {
    self.view = view
    self.interruption = interruption
    source = view.source
  }

  /// The table of a class.
  func reader(_ storedClass: StoredClass) throws(StoreError) -> TableReader {
    if let reader = readers[storedClass.name] { return reader }
    let reader = TableReader(
      storedClass, try view.table(storedClass.tableName), interruption)
    readers[storedClass.name] = reader
    return reader
  }

  /// An index or the links that lead to a class; nil while there is none.
  func keyTree(_ name: String) throws(StoreError) -> KeyTree? {
    if let tree = keyTrees[name] { return tree }
    let tree = try view.keyTree(name)
    keyTrees[name] = tree
    return tree
  }

  /// Calls `body` with each element of a list in a row, in order, until it returns false.
  func forEachElement(
    of list: BoundColumn, _ key: Int64, in reader: TableReader,
    _ body: (ColumnValue) throws(StoreError) -> Bool
  ) throws(StoreError) {
    if !list.inside.isEmpty { return try forEachInside(of: list, key, in: reader, body) }
    let (type, part) = (list.type, list.part)
    try reader.withValue(list, key) { value throws(StoreError) in
      let elements = try elements(value, type)
      if case .elements = part {
        return try elements.forEach { element, _ throws(StoreError) in try body(element) }
      }
      try Self.forEach(part, of: elements, body)
    }
  }

  /// The same for what is inside of a value of any type, which is one itself or that of a key.
  private func forEachInside(
    of column: BoundColumn, _ key: Int64, in reader: TableReader,
    _ body: (ColumnValue) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var whole: StoredAny?
    if column.isSingleValue {
      try reader.withValue(column, key) { value throws(StoreError) in whole = StoredAny(value) }
    } else {
      var entry = column
      entry.inside = []
      try forEachElement(of: entry, key, in: reader) { value in
        whole = StoredAny(value)
        return true
      }
    }
    for value in (whole ?? .none).values(at: column.inside[...]) {
      let goesOn = value.withCell { cell in
        catching { () throws(StoreError) in try body(cell) }
      }
      guard try goesOn.get() else { return }
    }
  }

  private static func forEach(
    _ part: BoundColumn.Part, of map: StoredElements,
    _ body: (ColumnValue) throws(StoreError) -> Bool
  ) throws(StoreError) {
    guard case .entry(let key) = part else {
      var result = Result<Bool, StoreError>.success(true)
      try unsafe map.forEachKey { key, _ in
        result = catching { () throws(StoreError) in try unsafe body(.bytes(key)) }
        return (try? result.get()) ?? false
      }
      return _ = try result.get()
    }
    let found = try unsafe Array(key.utf8).withBytes { key throws(StoreError) in
      try unsafe map.search(key: key)
    }
    guard found.isFound else { return _ = try body(.null) }
    _ = try map.withElement(at: found.position) { cell in
      catching { () throws(StoreError) in try body(cell) }
    }.get()
  }

  /// How many elements a list has.
  func elementCount(
    of list: BoundColumn, _ key: Int64, in reader: TableReader
  ) throws(StoreError) -> Int {
    let type = list.type
    return try reader.withValue(list, key) { value throws(StoreError) in
      try elements(value, type).count
    }
  }

  @inline(__always) private func elements(
    _ value: ColumnValue, _ type: ColumnType
  ) throws(StoreError) -> StoredElements {
    guard let elements = StoredElements(value, type, source) else {
      throw .damaged(Damage(.encoding, "a list's cell breaks the format"))
    }
    return elements
  }

  /// Calls `body` with the key of each object whose property leads to `target`, until it returns
  /// false.
  ///
  /// An object that links several times comes several times.
  func forEachBacklink(
    to target: Int64, of targetClass: StoredClass, from origin: StoredClass, _ column: UInt16,
    _ body: (Int64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try interruption?.check()
    guard let tree = try keyTree(StoredName.backlinks(targetClass.name)) else { return }
    let group = BacklinkGroup(target: target, table: origin.tableID, column: column)
    try Backlinks.forEach(in: tree, group.key) { _, run throws(StoreError) in
      for _ in 0..<run.count {
        if try !body(run.source) { return false }
      }
      return true
    }
  }
}
