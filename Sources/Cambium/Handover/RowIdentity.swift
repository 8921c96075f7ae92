import CambiumCore

/// Which object something is about, in any Realm of the database.
struct RowIdentity: Sendable, Hashable {
  /// The class's name in the database: Realms that list other classes number them otherwise.
  let className: String
  let key: Int64
  /// When the object was created, see ``Incarnation``.
  let created: Int64
  /// The transaction that made it, if that was running when the identity was taken.
  let birth: Birth?

  /// An accessor of the object in `realm`; nil when it is not there in what the Realm reads now.
  func object(in realm: RealmInstance, isDynamic: Bool = false) -> ObjectBase? {
    if birth?.isCancelled == true { return nil }
    guard let access = realm.anyAccess(named: className) else { return nil }
    let layout = isDynamic ? access.layout.dynamicLayout : access.layout
    guard let object = access.object(forKey: key, as: layout), object.created == created else {
      return nil
    }
    return object
  }
}
