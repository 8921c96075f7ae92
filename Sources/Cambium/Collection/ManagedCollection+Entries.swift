import CambiumCore

// What only maps do: their elements are values, in the order of their keys, which are texts.
extension ManagedCollection {
  /// The keys in their order.
  func keys() -> [String] {
    withElements { elements throws(StoreError) in
      var keys: [String] = []
      keys.reserveCapacity(min(elements.count, 1 << 16))
      try elements.forEachKey { key, _ in
        keys.append(String(decoding: key, as: UTF8.self))
        return true
      }
      return keys
    }
  }

  /// The value of a key; nil when there is none.
  func value<Value: RealmCollectionValue>(forKey key: String) -> Value? {
    let (position, isFound) = search(key)
    return isFound ? element(position) : nil
  }

  /// Where the entry with that key is, or belongs.
  func search(_ key: String) -> (position: Int, isFound: Bool) {
    key._rlmWithScalarCell { cell in
      guard case .bytes(let bytes) = cell else { return (0, false) }
      return withElements { elements throws(StoreError) in try elements.search(key: bytes) }
    }
  }

  /// Puts values in, in the places of those that have their keys; of entries with the same key the last
  /// one counts.
  func update<Value: RealmCollectionValue>(_ entries: [(key: String, value: Value)]) {
    let session = writing()
    if entries.isEmpty { return }
    if !session.isDraining { session.policy = .error }
    session.check(entries.map(\.value), areOf: place.target, in: place.property)
    var latest: [String: Value] = [:]
    for (key, value) in entries { latest[key] = value }
    // By their bytes, as they are stored.
    let keys = latest.keys.sorted { $0.precedesInBytes($1) }
    var placed = Placement(cells: CellStore(realm), keys: CellStore(realm))
    for key in keys {
      guard let value = latest[key] else { continue }
      let (position, isFound) = search(key)
      if isFound, mergesEmbedded(value, at: position, session) { continue }
      placed.places.append((position, isFound))
      key._rlmWithScalarCell { placed.keys.append($0) }
      value._rlmWithElementCell(in: Realm(realm)) { placed.cells.append($0) }
    }
    let assigned = placed.places.filter(\.isFound).map(\.position)
    let gone = place.holdsLinks ? cells(at: assigned) : CellStore(realm)
    change(session, .entries(keys)) { collection throws(StoreError) in
      try put(placed, into: collection)
      try session.removeLinks(gone.cells, of: place)
      try session.addLinks(placed.cells.cells, of: place)
    }
  }

  /// Takes the entry with that key out.
  func removeEntry(_ key: String) {
    let session = writing()
    let (position, isFound) = search(key)
    guard isFound else { return }
    let gone = cells(at: [position])
    change(session, .entries([key])) { collection throws(StoreError) in
      try collection.replace(position..<position + 1, with: [], keys: [])
      try session.removeLinks(gone.cells, of: place)
    }
  }

  /// Takes all entries out.
  func removeAllEntries() {
    let session = writing()
    let count = count
    if count == 0 { return }
    let gone = place.holdsLinks ? allCells() : CellStore(realm)
    change(session, .whole) { collection throws(StoreError) in
      try collection.replace(0..<count, with: [], keys: [])
      try session.removeLinks(gone.cells, of: place)
    }
  }

  /// Whether the value of a key equals `value`, so that an update may leave it alone.
  ///
  /// An unmanaged object is added to the Realm, unless it is to be merged into an embedded one.
  func holds<Value: RealmCollectionValue>(
    _ value: Value, forKey key: String, _ session: WriteSession
  ) -> Bool {
    let (position, isFound) = search(key)
    if let target = place.target, let object = value as? ObjectBase,
      session.isMerging(object, into: target)
    {
      return false
    }
    guard isFound, let old = cells(at: [position]).cells.first else { return false }
    return value._rlmWithElementCell(in: Realm(realm)) { $0.isEqual(to: old) }
  }

  // MARK: Parts

  /// Where entries go, in the order of their keys.
  private struct Placement {
    var places: [(position: Int, isFound: Bool)] = []
    var cells: CellStore
    var keys: CellStore
  }

  /// Whether an embedded object was merged into the one at `position`, which stays.
  private func mergesEmbedded<Value>(
    _ value: Value, at position: Int, _ session: WriteSession
  ) -> Bool {
    guard let target = place.target, let object = value as? ObjectBase,
      session.isMerging(object, into: target), let key = cells(at: [position]).cells[0].link
    else { return false }
    session.adopt(object, inPlaceOf: key, target)
    return true
  }

  /// Writes entries to the collection: one by one, or all anew where that costs less.
  private func put(_ placed: Placement, into collection: any ElementEditor) throws(StoreError) {
    let (cells, keys) = (placed.cells.cells, placed.keys.cells)
    guard isWorthMerging(cells.count) else {
      for (index, (position, isFound)) in placed.places.enumerated().reversed() {
        if isFound {
          try collection.assign([(position, cells[index])])
        } else {
          try collection.replace(position..<position, with: [cells[index]], keys: [keys[index]])
        }
      }
      return
    }
    let (old, oldKeys) = (allCells(), CellStore(realm))
    withElements { elements throws(StoreError) in
      try elements.forEachKey { key, _ in
        oldKeys.append(.bytes(key))
        return true
      }
    }
    var (newCells, newKeys, next): ([ColumnValue], [ColumnValue], Int) = ([], [], 0)
    for (index, (position, isFound)) in placed.places.enumerated() {
      newCells += old.cells[next..<position]
      newKeys += oldKeys.cells[next..<position]
      newCells.append(cells[index])
      newKeys.append(keys[index])
      next = isFound ? position + 1 : position
    }
    newCells += old.cells[next...]
    newKeys += oldKeys.cells[next...]
    try collection.replace(0..<old.cells.count, with: newCells, keys: newKeys)
    withExtendedLifetime((old, oldKeys)) {}
  }
}
