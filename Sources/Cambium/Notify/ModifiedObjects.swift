import CambiumCore

/// Finds the objects that count as modified between two versions: themselves, or what they link to.
///
/// It goes from what was touched backwards along the links, so that it costs what leads there, and not
/// what the observer looks at.
struct ModifiedObjects {
  let comparison: VersionComparison

  /// The modified objects of a class, as far as `watched` says; some of them may be gone.
  func keys(of storedClass: StoredClass, _ watched: WatchedPaths) -> Set<Int64> {
    switch watched {
    case .everything(let depth): return everything(of: storedClass, depth: depth)
    case .paths(let properties, _):
      return properties.reduce(into: []) { $0.formUnion(keys(of: $1)) }
    }
  }

  /// The objects of which what lies at a path's property was changed, or what the path leads to.
  func keys(of watched: WatchedProperty) -> Set<Int64> {
    if let origin = watched.origin { return keys(of: watched, origin) }
    let column = watched.owner.columns[watched.index]
    var keys = comparison.rows(of: watched.owner).assigned(column)
    guard let next = watched.next, let target = watched.target else { return keys }
    keys.formUnion(sources(of: self.keys(of: next), target, watched.owner, column))
    return keys
  }

  /// The same for linking objects: links came or went, or what the path leads to behind them changed.
  private func keys(
    of watched: WatchedProperty, _ origin: (storedClass: StoredClass, column: UInt16)
  ) -> Set<Int64> {
    let rows = comparison.rows(of: origin.storedClass)
    var sources = rows.assigned(origin.column)
    sources.formUnion(rows.inserted)
    sources.formUnion(rows.deleted)
    if let next = watched.next { sources.formUnion(keys(of: next)) }
    var keys: Set<Int64> = []
    for realm in [comparison.old, comparison.new] {
      keys.formUnion(targets(of: sources, origin, in: realm))
    }
    return keys
  }

  // MARK: Everything

  private func everything(of storedClass: StoredClass, depth: Int) -> Set<Int64> {
    var found = touched(storedClass)
    if depth == 0 { return found }
    let classes = comparison.new.stored.classes
    // What was reached over fewer links is not followed again.
    var seen: [String: Set<Int64>] = [:]
    var frontier: [String: Set<Int64>] = [:]
    for linked in classes where linked.isStored {
      let keys = touched(linked)
      if !keys.isEmpty { frontier[linked.name] = keys }
    }
    for _ in 0..<depth {
      var next: [String: Set<Int64>] = [:]
      for (name, keys) in frontier {
        guard let target = comparison.new.stored[name] else { continue }
        seen[name, default: []].add(keys)
        for source in classes {
          for index in source.linkIndices(to: name) {
            next[source.name, default: []].add(
              sources(of: keys, target, source, source.columns[index]))
          }
        }
      }
      frontier = next.compactMapValues { $0.isEmpty ? nil : $0 }
      for (name, keys) in frontier {
        if let seen = seen[name] { frontier[name] = keys.subtracting(seen) }
      }
      found.add(frontier[storedClass.name] ?? [])
      if frontier.isEmpty { break }
    }
    return found
  }

  /// The objects of a class of which any value was assigned.
  private func touched(_ storedClass: StoredClass) -> Set<Int64> {
    comparison.rows(of: storedClass).assigned
  }

  // MARK: Links

  /// The objects that link to `targets` through a column, in the newer version.
  private func sources(
    of targets: Set<Int64>, _ target: StoredClass, _ source: StoredClass, _ column: UInt16
  ) -> Set<Int64> {
    if targets.isEmpty { return [] }
    let realm = comparison.new
    guard let tree = realm.readKeyTree(StoredName.backlinks(target.name)) else { return [] }
    return realm.reading { () throws(StoreError) in
      var sources: Set<Int64> = []
      for key in targets {
        let keys = try Backlinks.sources(
          in: tree, BacklinkGroup(target: key, table: source.tableID, column: column))
        if keys.count > sources.capacity / 2 { sources.reserveCapacity(sources.count + keys.count) }
        sources.formUnion(keys)
      }
      return sources
    }
  }

  /// The objects to which `sources` link through a column, in the version of `realm`.
  private func targets(
    of sources: Set<Int64>, _ origin: (storedClass: StoredClass, column: UInt16),
    in realm: RealmInstance
  ) -> Set<Int64> {
    guard let access = realm.access(named: origin.storedClass.name),
      let index = origin.storedClass.columns.firstIndex(of: origin.column)
    else { return [] }
    var targets: Set<Int64> = []
    for source in sources {
      realm.withCell(access, source, index) { cell in
        let links = realm.reading { () throws(StoreError) in
          try StoredElements.links(in: cell, realm.source)
        }
        targets.formUnion(links.compactMap { $0 })
      }
    }
    return targets
  }
}

extension StoredClass {
  /// The properties, links or collections of links, that lead to a class.
  fileprivate func linkIndices(to name: String) -> [Int] {
    objectSchema.allProperties.indices.filter { index in
      let property = objectSchema.allProperties[index]
      return (property.objectClassName == name || property.type == .any) && !property.isComputed
    }
  }
}

extension Set<Int64> {
  /// Adds others; what is added to nothing is taken as it is.
  fileprivate mutating func add(_ others: Set<Int64>) {
    if isEmpty { self = others } else { formUnion(others) }
  }
}
