import CambiumCore

// Embedded objects belong to the one place that links to them, and go with it.
extension WriteSession {
  /// Forgets a link to an object of a class; one that lives in that place is to go, too.
  func removeLink(_ link: Backlink, to targetClass: Int) throws(StoreError) {
    try backlinks(to: targetClass).remove(link)
    noteOrphans(CollectionOfOne(link.target), ofClass: targetClass)
  }

  /// Notes that objects lost a place, which matters to embedded ones.
  func noteOrphans(_ keys: some Sequence<Int64>, ofClass index: Int) {
    // In a migration objects may still be shared; it looks after them when it ends.
    guard unsafe realm.classes[index].stored.isEmbedded, unsafe !isMigrating else { return }
    unsafe orphans[index, default: []] += keys
  }

  /// Deletes the embedded objects that lost their places, and what lived in them.
  func deleteOrphans() {
    if unsafe isDeletingOrphans || orphans.isEmpty { return }
    unsafe isDeletingOrphans = true
    while let (index, keys) = unsafe orphans.popFirst() {
      unsafe delete(keys, realm.classes[index])
    }
    unsafe isDeletingOrphans = false
  }

  /// Whether anything links to an object.
  func isOwned(_ key: Int64, _ access: ClassAccess) -> Bool {
    attempt(false) { () throws(StoreError) in
      guard try hasBacklinks(to: access.index) else { return false }
      return try !backlinks(to: access.index).links(to: key).isEmpty
    }
  }

  /// Stops when a managed embedded object has its place already.
  ///
  /// A copy can be put elsewhere, the object itself cannot.
  func checkIsFree(_ object: ObjectBase, _ text: @autoclosure () -> String) {
    guard object.isManaged, unsafe !isMigrating, unsafe object.instance === realm else { return }
    let access = object.classAccess
    guard access.stored.isEmbedded else { return }
    if unsafe object.generation == ObjectBase.queuedGeneration || isOwned(object.key, access) {
      fatalError(text())
    }
  }

  /// Gives the object with that key the values of an unmanaged embedded one, which becomes its accessor.
  func adopt(_ object: ObjectBase, inPlaceOf key: Int64, _ access: ClassAccess) {
    guard let created = access.creation(of: key) else { return }
    access.bind(object, key: key, created: created)
    unsafe object.generation = ObjectBase.queuedGeneration
    unsafe queue.append(Adoption(object: object, access: access, isNew: false))
  }

  /// Whether `object` is to be merged into the embedded object that has its place.
  func isMerging(_ object: ObjectBase, into access: ClassAccess) -> Bool {
    unsafe isDraining && skipsEqualValues && access.stored.isEmbedded && !object.isManaged
  }
}
