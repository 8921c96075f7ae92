import CambiumCore

// What only sets do: their elements are in the order of their values, each of them once.
extension ManagedCollection {
  /// Where the element with the value of `cell` is, or where it belongs.
  func search(_ cell: ColumnValue) -> (position: Int, isFound: Bool) {
    let order = CellOrder(place.shape.type)
    return withElements { elements throws(StoreError) in
      try elements.search(byKey: false) { order.compare($0, cell) }
    }
  }

  /// Puts an element in unless it is there; an unmanaged object is added to the Realm.
  func insertMember<Element: RealmCollectionValue>(_ element: Element) {
    let session = writing()
    if unsafe !session.isDraining { unsafe session.policy = .error }
    session.check(element, isOf: place.target, in: place.property.collectionName)
    element._rlmWithElementCell(in: Realm(realm)) { cell in
      checkMember(cell)
      let (position, isFound) = search(cell)
      // An object may wait for its row.
      if isFound { return session.drain() }
      change(session, .whole) { collection throws(StoreError) in
        try collection.insert(cell, key: nil, at: position)
        try session.addLinks(cell, of: place)
      }
    }
  }

  private func checkMember(_ cell: ColumnValue) {
    if place.shape.type == .any, StoredAny.isCollection(cell) {
      fatalError("A set cannot contain a list or a dictionary.")
    }
  }

  /// Puts in those of `elements` that are not there; unmanaged objects are added to the Realm.
  func insertMembers<Element: RealmCollectionValue>(_ elements: [Element]) {
    let session = writing()
    if elements.isEmpty { return }
    if unsafe !session.isDraining { unsafe session.policy = .error }
    session.check(elements, areOf: place.target, in: place.property.collectionName)
    // Bytes must outlive the closure in which an element lends its cell.
    let cells = CellStore(realm)
    for element in elements {
      element._rlmWithElementCell(in: Realm(realm)) { cells.append($0) }
    }
    for cell in cells.cells { checkMember(cell) }
    let order = CellOrder(place.shape.type)
    let members = order.members(of: cells.cells)
    let insertion = isWorthMerging(members.count) ? merging(members, order) : placing(members)
    if insertion.new.isEmpty {
      // An object that came with the elements may wait for its row.
      session.drain()
      return
    }
    change(session, .whole) { collection throws(StoreError) in
      for (range, cells) in insertion.replacements { try collection.replace(range, with: cells) }
      try session.addLinks(insertion.new, of: place)
    }
    withExtendedLifetime((insertion.kept, cells)) {}
  }

  /// Takes out the elements at `positions`, which ascend.
  func removeMembers(at positions: [Int]) {
    let session = writing()
    if positions.isEmpty { return }
    let gone = cells(at: positions)
    let rest = isWorthMerging(positions.count) ? cells(without: positions) : nil
    let count = count
    change(session, .whole) { collection throws(StoreError) in
      if let rest {
        try collection.replace(0..<count, with: rest.cells)
      } else {
        for position in positions.reversed() {
          try collection.replace(position..<position + 1, with: [])
        }
      }
      try session.removeLinks(gone.cells, of: place)
    }
  }

  // MARK: Parts

  /// What is put in: which elements are new, and what the elements of ranges, from the last one to the
  /// first, are replaced by.
  private struct Insertion {
    var new: [ColumnValue] = []
    var replacements: [(Range<Int>, [ColumnValue])] = []
    /// Keeps the bytes of elements that stay.
    var kept: CellStore?
  }

  /// Whether it costs less to write all elements anew than to change so many.
  func isWorthMerging(_ changeCount: Int) -> Bool {
    changeCount >= 4 && changeCount * 8 >= count
  }

  /// Looks for each of the members, which are in order.
  private func placing(_ members: [ColumnValue]) -> Insertion {
    var insertion = Insertion()
    for member in members.reversed() {
      let (position, isFound) = search(member)
      if isFound { continue }
      insertion.new.append(member)
      insertion.replacements.append((position..<position, [member]))
    }
    return insertion
  }

  /// Walks all elements and the members, which are in order, side by side.
  private func merging(_ members: [ColumnValue], _ order: CellOrder) -> Insertion {
    var insertion = Insertion()
    let kept = allCells()
    var merged: [ColumnValue] = []
    merged.reserveCapacity(kept.cells.count + members.count)
    var rest = members[...]
    for element in kept.cells {
      while let next = rest.first {
        let comparison = order.compare(next, element)
        if comparison > 0 { break }
        rest.removeFirst()
        if comparison == 0 { break }
        merged.append(next)
        insertion.new.append(next)
      }
      merged.append(element)
    }
    merged += rest
    insertion.new += rest
    insertion.replacements = [(0..<kept.cells.count, merged)]
    insertion.kept = kept
    return insertion
  }

  /// Copies of all elements but those at `positions`, which ascend.
  private func cells(without positions: [Int]) -> CellStore {
    let cells = CellStore(realm)
    var rest = positions[...]
    withElements { elements throws(StoreError) in
      try elements.forEach { element, position in
        if rest.first == position { rest.removeFirst() } else { cells.append(element) }
        return true
      }
    }
    return cells
  }
}

extension CellOrder {
  /// The cells in their order, each value once.
  func members(of cells: [ColumnValue]) -> [ColumnValue] {
    var members: [ColumnValue] = []
    members.reserveCapacity(cells.count)
    for cell in cells.sorted(by: { compare($0, $1) < 0 }) {
      if let last = members.last, compare(last, cell) == 0 { continue }
      members.append(cell)
    }
    return members
  }
}
