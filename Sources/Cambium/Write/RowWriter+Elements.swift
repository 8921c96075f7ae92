import CambiumCore

extension _RowWriter {
  /// Sets the cell at the current position to a map of `values` under as many keys, which are in order and
  /// all different.
  func append<Value: RealmCollectionValue>(_ values: [Value], keys: [String]) {
    let keys = keys.map { key in key._rlmWithScalarCell { lasting($0) } }
    append(elements: values, keys: keys)
  }

  /// Sets the cell at the current position to a collection of `elements`, of a map with as many keys.
  func append<Element: RealmCollectionValue>(
    elements: [Element], keys: [ColumnValue]? = nil, isSet: Bool = false
  ) {
    if elements.isEmpty {
      append([])
      return
    }
    var cells: [ColumnValue] = []
    var description = Property(name: "", type: .int)
    Element._rlmDescribeElement(&description)
    description.isMap = keys != nil
    description.isSet = isSet
    let isLink = description.type == .object
    if isLink {
      unsafe realm.session?.check(elements, areOf: target, in: description.collectionName)
    }
    cells.reserveCapacity(elements.count)
    for element in elements {
      unsafe element._rlmWithElementCell(in: Realm(realm)) { cell in
        cells.append(lasting(cell))
      }
    }
    if isSet { cells = CellOrder(description.type).members(of: cells) }
    if description.type == .any {
      if isSet, cells.contains(where: { StoredAny.isCollection($0) }) {
        fatalError("A set cannot contain a list or a dictionary.")
      }
      noteAnyLinks(in: cells)
    }
    if isLink { noteTargets(cells.compactMap(\.link)) }
    guard let session = unsafe realm.session else { return }
    session.attempt { () throws(StoreError) in
      try StoredList.withCell(
        of: cells, keys: keys, Element._rlmElementColumnType, in: session.transaction.context
      ) { append($0) }
    }
  }
}
