import CambiumCore

/// Finds how a collection, or the entries of a map, changed from one version to a later one.
struct CollectionComparison {
  let identity: ResultsCore.Identity
  let watched: WatchedPaths
  let view: FrozenView
  let comparisons: ComparisonCache

  init(
    _ identity: ResultsCore.Identity, _ watched: WatchedPaths, _ view: FrozenView,
    _ comparisons: ComparisonCache
  ) {
    self.identity = identity
    self.watched = watched
    self.view = view
    self.comparisons = comparisons
  }

  /// What happened to who knows the collection as in `known`.
  func outcome(from known: ChangeTracker.State?) -> ChangeTracker.Outcome {
    let core = ResultsCore.results(of: identity, in: view.realm)
    guard let known else {
      return ChangeTracker.Outcome(from: nil, to: state(core), .initial)
    }
    guard let core else {
      let count = count(of: known)
      return ChangeTracker.Outcome(
        from: known, to: ChangeTracker.State(view: view, isOver: true),
        count == 0 ? nil : .changes(.rewritten(old: count, new: 0)))
    }
    let comparison = comparisons.comparison(known.view, view)
    let modified = core.access.map {
      ModifiedObjects(comparison: comparison).keys(of: $0.stored, watched)
    }
    let mayRegroup = mayRegroup(core, comparison)
    if modified?.isEmpty ?? true, !mayRegroup, core.isUntouched(comparison) {
      return ChangeTracker.Outcome(
        from: known, to: ChangeTracker.State(view: view, keys: known.keys), nil)
    }
    let (changes, state) = changes(core, modified ?? [], from: known, comparison)
    return ChangeTracker.Outcome(
      from: known, to: state, changes.isEmpty && !mayRegroup ? nil : .changes(changes))
  }

  /// Whether elements may have come to other sections: a key is computed from anything that elements lead
  /// to, whatever paths are watched.
  private func mayRegroup(_ core: ResultsCore, _ comparison: VersionComparison) -> Bool {
    guard case .paths(_, inSections: true) = watched, let access = core.access else { return false }
    return !ModifiedObjects(comparison: comparison)
      .keys(of: access.stored, .everything(depth: WatchedPaths.defaultDepth)).isEmpty
  }

  /// The collection as it is in the version, for the next comparison.
  private func state(_ core: ResultsCore?) -> ChangeTracker.State {
    guard let core else { return ChangeTracker.State(view: view, isOver: true) }
    return ChangeTracker.State(
      view: view, keys: KeySequence(needsKeys(core) ? core.currentKeys() : []))
  }

  /// Whether the elements have to be remembered: a table finds them by their ranks, a collection in the
  /// older version.
  private func needsKeys(_ core: ResultsCore) -> Bool {
    core.wholeTable == nil && core.access != nil
  }

  private func count(of known: ChangeTracker.State) -> Int {
    guard let core = ResultsCore.results(of: identity, in: known.view.realm) else { return 0 }
    return needsKeys(core) ? known.keys.count : core.count
  }

  private func changes(
    _ core: ResultsCore, _ modified: Set<Int64>, from known: ChangeTracker.State,
    _ comparison: VersionComparison
  ) -> (ChangeSet, ChangeTracker.State) {
    guard let access = core.access else {
      return (valueChanges(core, known, comparison), ChangeTracker.State(view: view))
    }
    if core.wholeTable != nil {
      return (
        tableChanges(access, modified, known, comparison), ChangeTracker.State(view: view)
      )
    }
    let rows = comparison.rows(of: access.stored)
    let followed = view.realm.reading { () throws(StoreError) in
      try IncrementalResults(identity)?.changes(
        of: known.keys, rows, modified, from: known.view.realm.view, to: view.realm.view)
    }
    if let (changes, keys) = followed {
      return (changes, ChangeTracker.State(view: view, keys: keys))
    }
    let edits = edits(core, known.keys.count, comparison)
    if let edits, edits.isEmpty {
      // The same elements in the same places: what is known of them need not be read again.
      return (
        ChangeSet(modifications: known.keys.positions(of: modified)),
        ChangeTracker.State(view: view, keys: known.keys)
      )
    }
    let keys = core.currentKeys()
    let state = ChangeTracker.State(view: view, keys: KeySequence(keys))
    if let edits { return (edits.changes(from: known.keys, to: keys.count, modified), state) }
    let touched = rows.assigned
    let changes = ChangeSet(
      from: known.keys.array, to: keys, isReplaced: { rows.isReplaced($0) },
      isTouched: { touched.contains($0) || modified.contains($0) },
      isModified: { modified.contains($0) })
    return (changes, state)
  }

  // MARK: Tables

  /// All objects of a class, in the order of their keys: positions are ranks.
  private func tableChanges(
    _ access: ClassAccess, _ modified: Set<Int64>, _ known: ChangeTracker.State,
    _ comparison: VersionComparison
  ) -> ChangeSet {
    let rows = comparison.rows(of: access.stored)
    let old = known.view.realm.readTable(access.stored.tableName)?.groups.first
    let new = access.currentTable()?.groups.first
    func ranks(_ keys: some Sequence<Int64>, _ tree: ColumnTree?) -> [Int] {
      guard let tree else { return [] }
      return view.realm.reading { () throws(StoreError) in
        var ranks: [Int] = []
        for key in keys where try tree.seek(key) != nil { ranks.append(try tree.rank(of: key)) }
        return ranks.sorted()
      }
    }
    func isThere(_ key: Int64, _ tree: ColumnTree?) -> Bool {
      view.realm.reading { () throws(StoreError) in try tree?.seek(key) != nil }
    }
    // A key that came and went may be there before, after, in both or in neither.
    let gone = rows.deleted.filter { rows.inserted.contains($0) || !isThere($0, new) }
    let came = rows.inserted.filter { rows.deleted.contains($0) || !isThere($0, old) }
    func hasStayed(_ key: Int64) -> Bool { !gone.contains(key) && !came.contains(key) }
    let modifications: [Int]
    if let old, modified.count > old.count / 16 {
      modifications = Self.positions(of: modified, in: old, view.realm, where: hasStayed)
    } else {
      modifications = ranks(modified.filter { hasStayed($0) && isThere($0, new) }, old)
    }
    return ChangeSet(
      deletions: ranks(gone, old), insertions: ranks(came, new), modifications: modifications)
  }

  /// The ranks of those of `keys` that are in a tree, ascending: for many keys, by a walk through all.
  private static func positions(
    of keys: Set<Int64>, in tree: ColumnTree, _ realm: RealmInstance,
    where condition: (Int64) -> Bool
  ) -> [Int] {
    realm.reading { () throws(StoreError) in
      var positions: [Int] = []
      positions.reserveCapacity(min(keys.count, 1 << 20))
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        let (leaf, first) = (cursor.leaf, cursor.firstIndex)
        for row in 0..<leaf.rowCount {
          let key = leaf.key(at: row)
          if keys.contains(key), condition(key) { positions.append(first + row) }
        }
        isValid = try cursor.next()
      }
      return positions
    }
  }

  // MARK: Collections

  /// The edits of a collection that is observed as it is; nil where they are not known.
  private func edits(
    _ core: ResultsCore, _ oldCount: Int, _ comparison: VersionComparison
  ) -> PositionalEdits? {
    guard case .collection(let collection) = core.source, collection.place.inside == nil,
      identity.valueSteps.isEmpty,
      identity.plan?.isWholeTable ?? true
    else { return nil }
    let edits = comparison.edits(
      of: collection.place.access.stored,
      TouchedRows.CollectionKey(column: collection.place.column, owner: collection.place.key))
    // Unless it was emptied, a set is compared by its elements, which are in order.
    if collection.place.shape.isSet, !(edits?.isRewritten ?? false) { return nil }
    return edits.flatMap { !$0.isLost && $0.leads(from: oldCount, to: core.count) ? $0 : nil }
  }

  private func valueChanges(
    _ core: ResultsCore, _ known: ChangeTracker.State, _ comparison: VersionComparison
  ) -> ChangeSet {
    let old = ResultsCore.results(of: identity, in: known.view.realm)
    if let edits = edits(core, old?.count ?? 0, comparison) {
      return edits.changes(from: old?.count ?? 0, to: core.count)
    }
    // Equal values get equal numbers.
    var numbers: [CellOrder.Identity: Int64] = [:]
    let order = CellOrder(core.elementProperty.type)
    func numbered(_ values: CellList) -> [Int64] {
      (0..<values.count).map { index in
        let identity = CellOrder.Identity(cell: values[index], order: order)
        if let number = numbers[identity] { return number }
        numbers[identity] = Int64(numbers.count)
        return Int64(numbers.count - 1)
      }
    }
    let (before, after) = (old?.currentValues() ?? CellList(), core.currentValues())
    return withExtendedLifetime((before, after)) {
      let (from, to) = (numbered(before), numbered(after))
      var modified: Set<Int64> = []
      if order.type == .any {
        // A list or dictionary is the same whatever it holds.
        let places = Dictionary(zip(to, to.indices), uniquingKeysWith: { first, _ in first })
        for (index, number) in from.enumerated() {
          guard let place = places[number] else { continue }
          if !before[index].isEqual(to: after[place]) { modified.insert(number) }
        }
      }
      return ChangeSet(from: from, to: to) { modified.contains($0) }
    }
  }
}

extension PositionalEdits {
  /// The change of a list of objects, of which some were modified themselves.
  fileprivate func changes(from old: KeySequence, to new: Int, _ modified: Set<Int64>) -> ChangeSet
  {
    changes(from: old.count, to: new, modified: old.positions(of: modified))
  }

  /// The change of a list from `old` to `new` elements, of which some were modified themselves.
  fileprivate func changes(from old: Int, to new: Int, modified: [Int] = []) -> ChangeSet {
    if isRewritten { return .rewritten(old: old, new: new) }
    var kept: [(old: Range<Int>, new: Range<Int>)] = []
    forEachKept(oldCount: old) { kept.append(($0, $1)) }
    let changed = assigned.isEmpty ? modified : assigned.union(modified).sorted()
    return ChangeSet(old: old, new: new, kept: kept, changed: changed)
  }
}

extension ResultsCore {
  /// Whether nothing was touched on which it depends which elements there are, and in which order.
  func isUntouched(_ comparison: VersionComparison) -> Bool {
    dependencies.allSatisfy { access, columns in
      let rows = comparison.rows(of: access.stored)
      return rows.insertedKeys.isEmpty && rows.deletedKeys.isEmpty
        && !columns.contains { rows.assignedKeys[$0] != nil }
    }
  }
}
