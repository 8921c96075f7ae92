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
  func update<Value: RealmCollectionValue>(_ texts: [String], _ values: [Value]) {
    let session = writing()
    if texts.isEmpty { return }
    if !session.isDraining { session.policy = .error }
    session.check(values, areOf: place.target, in: place.property)
    let keys = CellStore(realm)
    for text in texts { text._rlmWithScalarCell { keys.append($0) } }
    let order = EntryOrder.latest(of: keys.cells)
    let places = isWorthMerging(order.count) ? walked(keys, order) : searched(keys, order)
    var placed = Placement(cells: CellStore(realm), keys: [], places: [])
    for (index, place) in zip(order, places) {
      let value = values[index]
      if place.isFound, mergesEmbedded(value, at: place.position, session) { continue }
      placed.places.append(place)
      placed.keys.append(keys.cells[index])
      value._rlmWithElementCell(in: Realm(realm)) { placed.cells.append($0) }
    }
    let assigned = placed.places.filter(\.isFound).map(\.position)
    let gone = place.holdsLinks ? cells(at: assigned) : CellStore(realm)
    change(session, .entries(order.lazy.map { texts[$0] })) { collection throws(StoreError) in
      try put(placed, into: collection)
      try session.removeLinks(gone.cells, of: place)
      try session.addLinks(placed.cells.cells, of: place)
    }
    withExtendedLifetime(keys) {}
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
    if let target = place.target, let object = storedObject(of: value),
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
    var cells: CellStore
    var keys: [ColumnValue]
    var places: [EntryPlace]
  }

  /// Where an entry is, or belongs.
  private typealias EntryPlace = (position: Int, isFound: Bool)

  /// Looks for each of the keys.
  private func searched(_ keys: CellStore, _ order: [Int]) -> [EntryPlace] {
    withElements { elements throws(StoreError) in
      var places: [EntryPlace] = []
      for index in order {
        guard case .bytes(let key) = keys.cells[index] else { continue }
        places.append(try elements.search(key: key))
      }
      return places
    }
  }

  /// Walks all entries and the keys, which are in order, side by side.
  private func walked(_ keys: CellStore, _ order: [Int]) -> [EntryPlace] {
    withElements { elements throws(StoreError) in
      var places: [EntryPlace] = []
      places.reserveCapacity(order.count)
      try elements.forEachKey { old, position in
        while places.count < order.count,
          case .bytes(let key) = keys.cells[order[places.count]]
        {
          let comparison = BytesCondition.compare(key, old)
          if comparison > 0 { break }
          places.append((position, comparison == 0))
          if comparison == 0 { break }
        }
        return places.count < order.count
      }
      let count = elements.count
      while places.count < order.count { places.append((count, false)) }
      return places
    }
  }

  /// Whether an embedded object was merged into the one at `position`, which stays.
  private func mergesEmbedded<Value>(
    _ value: Value, at position: Int, _ session: WriteSession
  ) -> Bool {
    guard let target = place.target, let object = storedObject(of: value),
      session.isMerging(object, into: target), let key = cells(at: [position]).cells[0].link
    else { return false }
    session.adopt(object, inPlaceOf: key, target)
    return true
  }

  /// Writes entries to the collection: one by one, or all anew where that costs less.
  private func put(_ placed: Placement, into collection: any ElementEditor) throws(StoreError) {
    let (cells, keys) = (placed.cells.cells, placed.keys)
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

/// The order of a map's keys.
private enum EntryOrder {
  /// The indices of keys in their order, of equal ones the last alone.
  static func latest(of keys: [ColumnValue]) -> [Int] {
    // Most keys differ in their first bytes, which compare as one number.
    var sorted = keys.enumerated().map { (head: head($1), index: $0) }
    func order(_ left: Int, _ right: Int) -> Int {
      guard case .bytes(let first) = keys[left], case .bytes(let second) = keys[right] else {
        return 0
      }
      return BytesCondition.compare(first, second)
    }
    sorted.sort { left, right in
      if left.head != right.head { return left.head < right.head }
      let comparison = order(left.index, right.index)
      return comparison == 0 ? left.index < right.index : comparison < 0
    }
    var latest: [Int] = []
    latest.reserveCapacity(sorted.count)
    for (position, entry) in sorted.enumerated() {
      let next = position + 1
      if next < sorted.count, sorted[next].head == entry.head,
        order(sorted[next].index, entry.index) == 0
      {
        continue
      }
      latest.append(entry.index)
    }
    return latest
  }

  /// The first eight bytes, most significant first, with zeros behind a shorter key.
  private static func head(_ key: ColumnValue) -> UInt64 {
    guard case .bytes(let bytes) = key else { return 0 }
    if bytes.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
    return bytes.reduce(0) { $0 << 8 | UInt64($1) } << UInt64((8 - bytes.count) * 8 & 63)
  }
}
