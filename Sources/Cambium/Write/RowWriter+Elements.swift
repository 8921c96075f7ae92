import CambiumCore

extension _RowWriter {
  /// Sets the cell at the current position to a collection of `elements`.
  func append<Element: RealmCollectionValue>(elements: [Element], isSet: Bool = false) {
    if elements.isEmpty {
      append([])
      return
    }
    var cells: [ColumnValue] = []
    var description = Property(name: "", type: .int)
    Element._rlmDescribeElement(&description)
    let isLink = description.type == .object
    if isLink { realm.session?.check(elements, areOf: target, in: description) }
    cells.reserveCapacity(elements.count)
    for element in elements {
      element._rlmWithElementCell(in: Realm(realm)) { cell in
        cells.append(lasting(cell))
      }
    }
    if isSet { cells = CellOrder(description.type).members(of: cells) }
    if isLink { noteTargets(cells.compactMap(\.link)) }
    guard let session = realm.session else { return }
    session.attempt { () throws(StoreError) in
      try StoredList.withCell(
        of: cells, Element._rlmElementColumnType, in: session.transaction.context
      ) { append($0) }
    }
  }
}
