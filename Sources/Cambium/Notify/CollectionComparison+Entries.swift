import CambiumCore

/// How the entries of a map changed from one version to a later one, by their keys, in their order.
struct EntryChanges: Sendable, Equatable {
  /// Keys that are gone.
  var deletions: [String] = []
  /// Keys that came.
  var insertions: [String] = []
  /// Keys that stayed, and whose values were assigned or are modified objects.
  var modifications: [String] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// The entries of a map.
extension CollectionComparison {
  /// What happened to who knows the map as in `known`.
  func entryOutcome(from known: ChangeTracker.State?) -> ChangeTracker.Outcome {
    let core = ResultsCore.results(of: identity, in: view.realm)
    func outcome(_ news: ChangeTracker.News?) -> ChangeTracker.Outcome {
      ChangeTracker.Outcome(
        from: known, to: ChangeTracker.State(view: view, isOver: core == nil), news)
    }
    guard let known else { return outcome(.initial) }
    let old = ResultsCore.results(of: identity, in: known.view.realm)?.map
    guard let core, let map = core.map else {
      let keys = old?.keys() ?? []
      return outcome(keys.isEmpty ? nil : .entries(EntryChanges(deletions: keys)))
    }
    let comparison = comparisons.comparison(known.view, view)
    let modified = core.access.map {
      ModifiedObjects(comparison: comparison).keys(of: $0.stored, watched)
    }
    if modified?.isEmpty ?? true, core.isUntouched(comparison) { return outcome(nil) }
    let changes = entryChanges(from: old, to: map, modified ?? [], comparison)
    return outcome(changes.isEmpty ? nil : .entries(changes))
  }

  private func entryChanges(
    from old: ManagedCollection?, to new: ManagedCollection, _ modified: Set<Int64>,
    _ comparison: VersionComparison
  ) -> EntryChanges {
    let place = new.place
    let assigned =
      comparison.rows(of: place.access.stored)
      .entries[TouchedRows.CollectionKey(column: place.column, owner: place.key)] ?? []
    let rows = place.target.map { comparison.rows(of: $0.stored) }
    var changes = EntryChanges()
    let (oldKeys, newKeys) = (old?.keys() ?? [], new.keys())
    let (oldCells, newCells) = (old?.allCells(), new.allCells())
    var next = 0
    for (position, key) in newKeys.enumerated() {
      while next < oldKeys.count, oldKeys[next].precedesInBytes(key) {
        changes.deletions.append(oldKeys[next])
        next += 1
      }
      guard next < oldKeys.count, oldKeys[next].utf8.elementsEqual(key.utf8), let oldCells else {
        changes.insertions.append(key)
        continue
      }
      let (before, after) = (oldCells.cells[next], newCells.cells[position])
      next += 1
      let isModified = after.link.map {
        place.target != nil && (modified.contains($0) || rows?.isReplaced($0) ?? false)
      }
      if assigned.contains(ExactText(key)) || !before.isEqual(to: after) || isModified ?? false {
        changes.modifications.append(key)
      }
    }
    changes.deletions += oldKeys[next...]
    return changes
  }
}

extension ResultsCore {
  /// The map of which they are the values, if they are.
  fileprivate var map: ManagedCollection? {
    guard case .collection(let collection) = source, !collection.isInvalidated else { return nil }
    return collection
  }
}

extension String {
  /// Whether the text comes before another one as maps order their keys.
  func precedesInBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
