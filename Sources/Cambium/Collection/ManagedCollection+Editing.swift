import CambiumCore

extension ManagedCollection {
  /// Puts an element in; an unmanaged object is added to the Realm.
  func insert<Element: RealmCollectionValue>(_ element: Element, at position: Int) {
    let session = writing()
    if unsafe !session.isDraining { unsafe session.policy = .error }
    session.check(element, isOf: place.target, in: place.property.collectionName)
    element._rlmWithElementCell(in: Realm(realm)) { cell in
      change(session, .positions { $0.insert(1, at: position) }) { collection throws(StoreError) in
        try collection.insert(cell, key: nil, at: position)
        try session.addLinks(cell, of: place)
      }
    }
  }

  /// Puts elements in the place of those of `range`; unmanaged objects are added to the Realm.
  func replace<Element: RealmCollectionValue>(_ range: Range<Int>, with elements: [Element]) {
    let session = writing()
    if range.isEmpty, elements.isEmpty { return }
    if unsafe !session.isDraining { unsafe session.policy = .error }
    session.check(elements, areOf: place.target, in: place.property.collectionName)
    let gone = cells(in: range)
    // Bytes must outlive the closure in which an element lends its cell.
    let cells = CellStore(realm)
    for element in elements {
      element._rlmWithElementCell(in: Realm(realm)) { cells.append($0) }
    }
    let isAssignment = range.count == 1 && elements.count == 1
    let note = ChangeNote.positions { edits in
      if isAssignment {
        edits.assign(range.lowerBound)
      } else {
        edits.remove(range)
        edits.insert(elements.count, at: range.lowerBound)
      }
    }
    change(session, note) { collection throws(StoreError) in
      try collection.replace(range, with: cells.cells)
      try session.removeLinks(gone.cells, of: place)
      try session.addLinks(cells.cells, of: place)
    }
  }

  /// Takes all elements of a set, or all entries of a map, out.
  func removeAll() {
    let session = writing()
    let count = count
    if count == 0 { return }
    let gone = place.shape.holdsLinks ? allCells() : nil
    // Elements that are put in again count as new ones.
    let note = place.shape.isSet ? ChangeNote.positions { $0.rewrite() } : .whole
    change(session, note) { collection throws(StoreError) in
      try collection.replace(0..<count, with: [], keys: place.shape.isMap ? [] : nil)
      if let gone { try session.removeLinks(gone.cells, of: place) }
    }
  }

  /// Makes the elements those given, position by position, and leaves alone what is equal.
  ///
  /// Embedded objects that are there get the values of those that take their places.
  func merge<Element: RealmCollectionValue>(_ elements: [Element]) {
    let old = allCells()
    let common = min(old.cells.count, elements.count)
    var rest = elements[...]
    for position in 0..<common {
      let element = rest.removeFirst()
      if let target = place.target, let object = storedObject(of: element),
        writing().isMerging(object, into: target), let key = old.cells[position].link
      {
        writing().adopt(object, inPlaceOf: key, target)
        continue
      }
      let isEqual = element._rlmWithElementCell(in: Realm(realm)) {
        StoredAny.isSame($0, old.cells[position], place.shape.type)
      }
      if !isEqual { replace(position..<position + 1, with: [element]) }
    }
    if common < old.cells.count || !rest.isEmpty {
      replace(common..<old.cells.count, with: Array(rest))
    }
  }

  /// Copies of all elements.
  func allCells() -> CellStore {
    let cells = CellStore(realm)
    withElements { elements throws(StoreError) in try elements.forEach { cells.append($0) } }
    return cells
  }

  /// What a change is told as to those who are told of it.
  enum ChangeNote {
    /// By the positions of a list.
    case positions((inout PositionalEdits) -> Void)
    /// By the keys of a map.
    case entries(any Collection<String>)
    /// By a key of a map.
    case entry(String)
    /// Anything may have changed.
    case whole
  }

  /// Changes the elements, and adds the objects that came with them; `note` says the same.
  func change(
    _ session: WriteSession, _ note: ChangeNote,
    _ body: (any ElementEditor) throws(StoreError) -> Void
  ) {
    // Of values of any type those who have found lists inside must look again.
    let tree = place.shape.type == .any ? nil : session.tree(ifOpen: place)
    session.attempt { () throws(StoreError) in try body(try session.elements(at: place)) }
    if let tree, tree === session.tree(ifOpen: place) {
      // The row names the tree as before.
      place.access.noteAssignment(place.column)
    } else {
      place.access.noteChange(.column(place.column))
    }
    session.touch(place.access.stored.tableID) {
      let collection = TouchedRows.CollectionKey(column: place.column, owner: place.key)
      switch place.inside == nil ? note : place.outermostNote {
      case .positions(let edit): $0.edit(collection, edit)
      case .entries(let keys): $0.assign(keys, of: collection)
      case .entry(let key): $0.assign(key, of: collection)
      case .whole: $0.assign(place.column, place.key)
      }
    }
    session.drain()
    session.deleteOrphans()
    session.spillIfNeeded()
  }

  /// Copies of the elements of `range`, where they may be objects.
  private func cells(in range: Range<Int>) -> CellStore {
    if range.isEmpty || !place.shape.holdsLinks { return CellStore(realm) }
    if range.count == 1 { return cells(at: [range.lowerBound]) }
    let cells = CellStore(realm)
    withElements { elements throws(StoreError) in
      try elements.forEach { cell, position in
        if position >= range.lowerBound { cells.append(cell) }
        return position + 1 < range.upperBound
      }
    }
    return cells
  }

  /// Copies of elements.
  func cells(at positions: [Int]) -> CellStore {
    let cells = CellStore(realm)
    withElements { elements throws(StoreError) in
      for position in positions {
        try elements.withElement(at: position) { cells.append($0) }
      }
    }
    return cells
  }
}
