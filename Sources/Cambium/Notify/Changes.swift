import Foundation

/// What happened to an observed collection.
@frozen public enum RealmCollectionChange<CollectionType> {
  /// The first call: the collection as it is.
  case initial(CollectionType)
  /// Elements came, went, or were modified.
  ///
  /// `deletions` and `modifications` are positions in the collection before, `insertions` positions in
  /// the collection now; all ascend. An element that moved is deleted and inserted. Applied in the
  /// order deletions, insertions, modifications' cells reloaded, they make the one of the other.
  case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
  /// Never delivered; here for programs that handle it.
  case error(Error)
}

/// What happened to an observed map.
@frozen public enum RealmMapChange<Collection: RealmKeyedCollection> {
  /// The first call: the map as it is.
  case initial(Collection)
  /// Entries came, went, or were assigned, or their objects were modified.
  ///
  /// All three are keys, ascending by their bytes; `deletions` of the map before, `insertions` and
  /// `modifications` of the map now.
  case update(
    Collection, deletions: [Collection.Key], insertions: [Collection.Key],
    modifications: [Collection.Key])
  /// Never delivered; here for programs that handle it.
  case error(Error)
}

/// What happened to an observed object.
public enum ObjectChange<T> {
  /// Never delivered; here for programs that handle it.
  case error(_ error: NSError)
  /// Properties were assigned; each is listed once, in the order of their declaration.
  case change(_: T, _: [PropertyChange])
  /// The object was deleted; nothing follows.
  case deleted
}

/// A property of an observed object that was assigned.
public struct PropertyChange {
  /// The property's name in Swift.
  public let name: String
  /// The value before; nil for collections.
  public let oldValue: Any?
  /// The value now; nil for collections.
  public let newValue: Any?
}

extension Realm {
  /// What happened to an observed Realm.
  @frozen public enum Notification: String, Sendable {
    /// It sees another version.
    case didChange = "RLMRealmDidChangeNotification"
    /// There is a newer version, to which ``Realm/refresh()`` would move it.
    case refreshRequired = "RLMRealmRefreshRequiredNotification"
  }
}

/// Called for an observed Realm.
public typealias NotificationBlock = (_ notification: Realm.Notification, _ realm: Realm) -> Void
