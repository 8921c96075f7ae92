import CambiumCore

/// Copies of cells, sorted or freed of duplicates.
final class CellList {
  private var store: CellStore?
  /// The places of the cells in the store, as they are arranged.
  private var places: [Int] = []

  init() {}

  init(_ realm: RealmInstance) { store = CellStore(realm) }

  var count: Int { places.count }

  subscript(index: Int) -> ColumnValue { store?.cells[places[index]] ?? .null }

  func append(_ cell: ColumnValue) {
    places.append(places.count)
    store?.append(cell)
  }

  /// Sorts by value; what is equal keeps its order.
  func sort(_ order: CellOrder, isAscending: Bool) {
    guard let cells = store?.cells else { return }
    places.sort { left, right in
      let comparison = order.compare(cells[left], cells[right])
      return isAscending ? comparison < 0 : comparison > 0
    }
  }

  /// Keeps the first of each value.
  func removeDuplicates(_ order: CellOrder) {
    guard let cells = store?.cells else { return }
    var seen: Set<CellOrder.Identity> = []
    places = places.filter { place in
      seen.insert(CellOrder.Identity(cell: cells[place], order: order)).inserted
    }
  }

  /// The place of the first cell with the same value.
  func firstIndex(of cell: ColumnValue, _ order: CellOrder) -> Int? {
    guard let cells = store?.cells else { return nil }
    return places.firstIndex { order.areEqual(cells[$0], cell) }
  }
}

/// Cells with bytes of their own.
final class CellStore {
  private(set) var cells: [ColumnValue] = []
  private let realm: RealmInstance
  /// Keeps the bytes, if there are any.
  private lazy var writer = _RowWriter(realm: realm)

  init(_ realm: RealmInstance) { self.realm = realm }

  func reserveCapacity(_ count: Int) { cells.reserveCapacity(count) }

  func append(_ cell: ColumnValue) {
    if case .bytes = cell { cells.append(writer.lasting(cell)) } else { cells.append(cell) }
  }
}
