import CambiumCore

// What only maps do: their elements are values, in the order of their keys, which are texts.
extension ManagedCollection {
  /// The keys in their order.
  func keys() -> [String] {
    withElements { elements throws(StoreError) in
      var keys: [String] = []
      keys.reserveCapacity(min(elements.count, 1 << 16))
      try unsafe elements.forEachKey { key, _ in
        unsafe keys.append(String(decoding: key, as: UTF8.self))
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
      return withElements { elements throws(StoreError) in try unsafe elements.search(key: bytes) }
    }
  }

  /// Puts values in, in the places of those that have their keys; of a key that is there, or comes again,
  /// `combine` makes one value of both.
  ///
  /// Where it gives the last one, `readsOld` spares the reading of others.
  func update<Value: RealmCollectionValue>(
    _ texts: [String], _ values: [Value], readsOld: Bool,
    combine: (Value, Value) throws -> Value
  ) rethrows {
    let session = writing()
    if texts.isEmpty { return }
    if unsafe !session.isDraining { unsafe session.policy = .error }
    let keys = CellStore(realm)
    keys.reserveCapacity(texts.count)
    for text in texts { text._rlmWithScalarCell { keys.append($0) } }
    let order = EntryOrder(keys.cells)
    let firsts = order.groups.map { order.first(of: $0) }
    let places = isWorthMerging(firsts.count) ? walked(keys, firsts) : searched(keys, firsts)
    var new: [Value] = []
    new.reserveCapacity(places.count)
    for (group, place) in zip(order.groups, places) {
      guard readsOld else {
        new.append(values[order.last(of: group)])
        continue
      }
      var value: Value? = place.isFound ? .some(element(place.position)) : .none
      for index in order.indices(of: group) {
        value = try value.map { try combine($0, values[index]) } ?? values[index]
      }
      if let value { new.append(value) }
    }
    session.check(new, areOf: place.target, in: place.property.collectionName)
    var placed = Placement(cells: CellStore(realm), keys: [], places: [])
    placed.cells.reserveCapacity(new.count)
    for (index, place) in places.enumerated() {
      if place.isFound, mergesEmbedded(new[index], at: place.position, session) { continue }
      placed.places.append(place)
      placed.keys.append(keys.cells[firsts[index]])
      new[index]._rlmWithElementCell(in: Realm(realm)) { placed.cells.append($0) }
    }
    let gone =
      place.shape.holdsLinks ? cells(at: placed.places.filter(\.isFound).map(\.position)) : nil
    change(session, .entries(firsts.lazy.map { texts[$0] })) { collection throws(StoreError) in
      try put(placed, into: collection)
      if let gone { try session.removeLinks(gone.cells, of: place) }
      if place.shape.holdsLinks { try session.addLinks(placed.cells.cells, of: place) }
    }
    withExtendedLifetime(keys) {}
  }

  /// Puts a value in, in the place of one that has the key.
  func update<Value: RealmCollectionValue>(_ key: String, _ value: Value) {
    let session = writing()
    if unsafe !session.isDraining { unsafe session.policy = .error }
    session.check(value, isOf: place.target, in: place.property.collectionName)
    key._rlmWithScalarCell { keyCell in
      guard case .bytes(let bytes) = keyCell else { return }
      let (position, isFound) = withElements { elements throws(StoreError) in
        try unsafe elements.search(key: bytes)
      }
      if isFound, mergesEmbedded(value, at: position, session) { return }
      value._rlmWithElementCell(in: Realm(realm)) { cell in
        let gone = isFound && place.shape.holdsLinks ? cells(at: [position]) : nil
        change(session, .entry(key)) { collection throws(StoreError) in
          if isFound {
            try collection.assign(cell, at: position)
          } else {
            try collection.insert(cell, key: keyCell, at: position)
          }
          if let gone { try session.removeLinks(gone.cells, of: place) }
          try session.addLinks(cell, of: place)
        }
      }
    }
  }

  /// Takes the entry with that key out.
  func removeEntry(_ key: String) {
    let session = writing()
    let (position, isFound) = search(key)
    guard isFound else { return }
    let gone = cells(at: [position])
    change(session, .entry(key)) { collection throws(StoreError) in
      try collection.replace(position..<position + 1, with: [], keys: [])
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
    guard isFound else { return false }
    let old = cells(at: [position])
    defer { withExtendedLifetime(old) {} }
    return value._rlmWithElementCell(in: Realm(realm)) {
      StoredAny.isSame($0, old.cells[0], place.shape.type)
    }
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
        unsafe places.append(try elements.search(key: key))
      }
      return places
    }
  }

  /// Walks all entries and the keys, which are in order, side by side.
  private func walked(_ keys: CellStore, _ order: [Int]) -> [EntryPlace] {
    withElements { elements throws(StoreError) in
      var places: [EntryPlace] = []
      places.reserveCapacity(order.count)
      try unsafe elements.forEachKey { old, position in
        while places.count < order.count,
          case .bytes(let key) = keys.cells[order[places.count]]
        {
          let comparison = unsafe BytesCondition.compare(key, old)
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
          try collection.assign(cells[index], at: position)
        } else {
          try collection.insert(cells[index], key: keys[index], at: position)
        }
      }
      return
    }
    if count == 0 { return try collection.replace(0..<0, with: cells, keys: keys) }
    let (old, oldKeys) = (allCells(), CellStore(realm))
    withElements { elements throws(StoreError) in
      try unsafe elements.forEachKey { key, _ in
        unsafe oldKeys.append(.bytes(key))
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

/// The order of keys of a map, among them equal ones.
///
/// Pointers: the keys' bytes belong to the caller, who keeps them while they are put in order. Eight
/// bytes are loaded at once only where a key has them.
private struct EntryOrder {
  /// The indices of the keys in their order, equal ones as they came.
  private let sorted: [(head: UInt64, index: Int)]
  /// For each different key, where its indices are.
  let groups: [Range<Int>]

  init(_ keys: [ColumnValue]) {
    // Most keys differ in their first bytes, which compare as one number.
    var sorted = keys.enumerated().map { (head: Self.head($1), index: $0) }
    func order(_ left: Int, _ right: Int) -> Int {
      guard case .bytes(let first) = keys[left], case .bytes(let second) = keys[right] else {
        return 0
      }
      return unsafe BytesCondition.compare(first, second)
    }
    sorted.sort { left, right in
      if left.head != right.head { return left.head < right.head }
      let comparison = order(left.index, right.index)
      return comparison == 0 ? left.index < right.index : comparison < 0
    }
    var groups: [Range<Int>] = []
    groups.reserveCapacity(sorted.count)
    var start = 0
    for end in sorted.indices.dropFirst()
    where
      sorted[end].head != sorted[start].head || order(sorted[end].index, sorted[start].index) != 0
    {
      groups.append(start..<end)
      start = end
    }
    if !sorted.isEmpty { groups.append(start..<sorted.count) }
    (self.sorted, self.groups) = (sorted, groups)
  }

  func first(of group: Range<Int>) -> Int { sorted[group.lowerBound].index }
  func last(of group: Range<Int>) -> Int { sorted[group.upperBound - 1].index }

  func indices(of group: Range<Int>) -> some Sequence<Int> { sorted[group].lazy.map(\.index) }

  /// The first eight bytes, most significant first, with zeros behind a shorter key.
  private static func head(_ key: ColumnValue) -> UInt64 {
    guard case .bytes(let bytes) = key else { return 0 }
    if bytes.count >= 8 { return unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
    return unsafe bytes.reduce(0) { $0 << 8 | UInt64($1) } << UInt64((8 - bytes.count) * 8 & 63)
  }
}
