import CambiumCore

/// Makes embedded objects belong to one place each when a migration is over: what nothing links to is
/// deleted, and what several places link to is copied, once for each place but the first.
struct EmbeddingChange {
  // Exclusivity is not checked: a migration has one user, and each access to the Realm or to an object
  // ends before the next.
  let realm: RealmInstance
  let session: WriteSession

  func run() {
    let embedded = realm.declaredClasses.filter(\.stored.isEmbedded)
    // What goes or is copied may hold embedded objects itself; they cannot form cycles.
    for _ in embedded {
      var isSettled = true
      for access in embedded where !settle(access) { isSettled = false }
      if isSettled { return }
    }
  }

  /// Settles the objects of a class; whether there was nothing to do.
  private func settle(_ access: ClassAccess) -> Bool {
    var isSettled = true
    var orphans: [Int64] = []
    for key in realm.keys(of: access) {
      let links = session.attempt([]) { () throws(StoreError) -> [Backlink] in
        guard try session.hasBacklinks(to: access.index) else { return [] }
        return try session.backlinks(to: access.index).links(to: key)
      }
      if links.isEmpty { orphans.append(key) }
      if links.count != 1 { isSettled = false }
      for link in links.dropFirst() { copy(key, access, for: link) }
      session.spillIfNeeded()
    }
    session.delete(orphans, access)
    return isSettled
  }

  /// Puts a copy of an object into one of the places that link to it.
  private func copy(_ key: Int64, _ access: ClassAccess, for link: Backlink) {
    guard let source = unsafe realm.classes.first(where: { $0.stored.tableID == link.table }),
      let index = source.stored.columns.firstIndex(of: link.column),
      let owner = source.object(forKey: link.source), let old = access.object(forKey: key)
    else { return }
    let newKey = session.attempt(nil) { () throws(StoreError) -> Int64? in
      try session.insertRow(access, key: nil, primaryKey: nil)
    }
    guard let newKey, let new = access.object(forKey: newKey) as? DynamicObject else { return }
    for (index, property) in access.description.properties.enumerated()
    where !property.property.isComputed {
      new.setValue(old.value(at: index), at: index)
    }
    guard source.description.properties[index].property.isCollection else {
      return owner.setValue(new, at: index)
    }
    // The first link is for the old object: of one collection the last place gets the copy.
    switch owner.value(at: index) {
    case let list as List<DynamicObject>:
      if let position = list.lastIndex(where: { unsafe $0.key == key }) {
        list.replace(index: position, object: new)
      }
    case let map as Map<String, DynamicObject?>:
      if let entry = map.entries().last(where: { unsafe $0.value?.key == key }) {
        map[entry.key] = .some(new)
      }
    default: break
    }
  }
}
