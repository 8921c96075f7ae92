import CambiumCore

/// An object as one Realm knows it: what accessors, lists and linking objects ask whether it is still
/// there.
///
/// Belongs to its Realm's context.
///
/// Pointers: the class refers to its Realm without a count; who holds a row keeps the Realm.
struct ManagedRow {
  let access: ClassAccess
  let key: Int64
  /// When it was created, see ``Incarnation``.
  let created: Int64
  /// How often the Realm had been invalidated when the object was met.
  let epoch: UInt64
  /// The transaction that made it, if that was running when the object was met.
  let birth: Birth?

  /// What it is in any Realm of the database.
  var identity: RowIdentity {
    RowIdentity(className: access.stored.name, key: key, created: created, birth: birth)
  }

  /// Whether the object is gone for good, whatever lies under its key.
  @inline(__always) private var isOver: Bool {
    unsafe epoch != access.realm.invalidations || birth?.isCancelled == true
  }

  /// Whether nothing says that the object is gone for good.
  @inline(__always) var mayBePresent: Bool { !isOver }

  /// Whether the object is there in what its Realm reads now.
  @inline(__always) var isPresent: Bool { !isOver && access.creation(of: key) == created }

  /// Where the object is; nil when it is gone.
  ///
  /// Not for touched classes.
  var position: RowPosition? { isOver ? nil : access.locate(key, created) }

  /// Whether the object was deleted, or its Realm invalidated.
  ///
  /// Checks no context: from elsewhere it answers for the newest version.
  var isGone: Bool {
    let realm = unsafe access.realm
    if realm.isFrozen { return realm.isInvalidated }
    if realm.isCurrent { return realm.isInvalidated || !isPresent }
    return birth?.isCancelled == true || access.newestCreation(of: key) != created
  }
}

extension ManagedRow: Equatable {
  /// Whether both are the same object of the same Realm.
  static func == (left: ManagedRow, right: ManagedRow) -> Bool {
    left.access === right.access && left.key == right.key && left.created == right.created
  }
}
