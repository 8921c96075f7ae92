import CambiumCore

/// Makes primary keys true when a migration is over: no two objects of a class have the same, and where
/// objects are kept under their primary key, each is moved to its own.
struct PrimaryKeyChange {
  // Exclusivity is not checked: a migration has one user, and each access to the Realm or to an object
  // ends before the next.
  let realm: RealmInstance
  let session: WriteSession

  /// A class with two objects that have the same primary key, and that property.
  struct Duplicate: Error {
    var className: String
    var property: String

    var message: String {
      "Primary key property '\(className).\(property)' has duplicate values after migration."
    }
  }

  /// Checks the property of `access` that is to be the primary key and, when `isKey`, moves objects
  /// that are not kept under its value.
  func run(_ access: ClassAccess, _ index: Int, isKey: Bool) -> Duplicate? {
    let keys = realm.keys(of: access)
    var forms: Set<[UInt8]> = []
    var moves: [(from: Int64, to: Int64)] = []
    for key in keys {
      let isNew = realm.withCell(access, key, index) { cell in
        if isKey, let value = cell.link, value != key { moves.append((key, value)) }
        return forms.insert(IndexKey.form(of: cell) ?? []).inserted
      }
      if !isNew {
        return Duplicate(
          className: access.stored.name,
          property: access.description.properties[index].property.name)
      }
    }
    move(moves, access, among: keys)
    return nil
  }

  private func move(
    _ moves: [(from: Int64, to: Int64)], _ access: ClassAccess, among keys: [Int64]
  ) {
    let left = Set(moves.map(\.from))
    guard moves.contains(where: { left.contains($0.to) }) else {
      for move in moves { self.move(move.from, to: move.to, access) }
      return
    }
    // Some of the new keys are still in use: all objects step aside first, to keys that none of them
    // has or is to have.
    let used = Set(keys).union(moves.map(\.to))
    let places = Array((0...).lazy.filter { !used.contains($0) }.prefix(moves.count))
    for (place, move) in zip(places, moves) { self.move(move.from, to: place, access) }
    for (place, move) in zip(places, moves) { self.move(place, to: move.to, access) }
  }

  /// Puts an object under another key, with its links and those that lead to it.
  private func move(_ from: Int64, to key: Int64, _ access: ClassAccess) {
    let isMoving = session.attempt(false) { () throws(StoreError) in
      try session.insertRow(access, key: key, primaryKey: nil) == key
    }
    guard isMoving, let old = access.object(forKey: from), let new = access.object(forKey: key)
    else { return }
    for (index, property) in access.description.properties.enumerated()
    where !property.property.isComputed {
      new.setValue(old.value(at: index), at: index)
    }
    redirect(from, to: new, access)
    session.delete(from, access)
    session.spillIfNeeded()
  }

  private func redirect(_ from: Int64, to new: ObjectBase, _ access: ClassAccess) {
    let links = session.attempt([]) { () throws(StoreError) -> [Backlink] in
      guard try session.hasBacklinks(to: access.index) else { return [] }
      return try session.backlinks(to: access.index).links(to: from)
    }
    var last: Backlink?
    for link in links where link != last {
      last = link
      guard let source = unsafe realm.classes.first(where: { $0.stored.tableID == link.table }),
        let index = source.stored.columns.firstIndex(of: link.column),
        let object = source.object(forKey: link.source)
      else { continue }
      if source.description.properties[index].property.isCollection {
        guard let new = new as? DynamicObject else { continue }
        switch object.value(at: index) {
        case let list as List<DynamicObject>:
          let positions = list.state?.withElements { elements throws(StoreError) in
            try elements.positions(of: [from], count: .max)
          }
          for position in positions ?? [] { list.replace(index: position, object: new) }
        case let set as MutableSet<DynamicObject>:
          if let old = access.object(forKey: from) as? DynamicObject { set.remove(old) }
          set.insert(new)
        case let map as Map<String, DynamicObject?>:
          let keys = map.state?.withElements { elements throws(StoreError) in
            try elements.positions(of: [from], count: .max).map { position throws(StoreError) in
              try unsafe elements.withKey(at: position) {
                unsafe String(decoding: $0, as: UTF8.self)
              }
            }
          }
          for key in keys ?? [] { map[key] = .some(new) }
        default: relinkInside(object.value(at: index), from, new, access)
        }
      } else if source.description.properties[index].property.type == .any,
        !(object.value(at: index) is ObjectBase)
      {
        relinkInside(object.value(at: index), from, new, access)
      } else {
        object.setValue(new, at: index)
      }
    }
  }

  /// Puts `new` in the places of the object `from` in a collection of values of any type, and in those
  /// inside of it.
  private func relinkInside(
    _ collection: Any?, _ from: Int64, _ new: ObjectBase, _ access: ClassAccess
  ) {
    guard let new = new as? Object else { return }
    func relinked(_ value: AnyRealmValue) -> AnyRealmValue? {
      switch value {
      case .object(let object) where unsafe object.key == from && object.classAccess === access:
        return .object(new)
      case .list(let list): relinkInside(list, from, new, access)
      case .dictionary(let map): relinkInside(map, from, new, access)
      default: break
      }
      return nil
    }
    switch collection {
    case let list as List<AnyRealmValue>:
      for position in 0..<list.count {
        if let value = relinked(list[position]) { list[position] = value }
      }
    case let set as MutableSet<AnyRealmValue>:
      for element in Array(set) {
        guard let value = relinked(element) else { continue }
        set.remove(element)
        set.insert(value)
      }
    case let map as Map<String, AnyRealmValue>:
      for (key, element) in map.entries() {
        if let value = relinked(element) { map[key] = value }
      }
    default: break
    }
  }
}
