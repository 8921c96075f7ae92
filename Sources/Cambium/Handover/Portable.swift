/// A value of one Realm that can be made again in another Realm of the same database: frozen, thawed,
/// or where a reference to it is resolved.
protocol Portable: SendableMetatype {
  /// What the value is about, whatever the Realm.
  associatedtype Identity: Sendable

  /// What the value is about.
  var identity: Identity { get }

  /// The value in `realm`; nil when what it is about is not there in what the Realm reads now.
  static func value(of identity: Identity, in realm: RealmInstance) -> Self?

  /// Whether a reference keeps the version in which it was made, as what a query gives depends on it.
  static var keepsVersion: Bool { get }
}

extension Portable {
  /// The same value in `realm`; nil when what it is about is not there.
  func ported(to realm: RealmInstance) -> Self? { Self.value(of: identity, in: realm) }

  static var keepsVersion: Bool { false }
}

/// Which property of which object a collection is.
struct PropertyIdentity: Sendable, Hashable {
  let owner: RowIdentity
  let name: String
  /// Which list or dictionary inside of the property's value; nil for the property itself.
  var inside: UInt64?
}
