/// A value that belongs to the context of its Realm.
public protocol ThreadConfined: SendableMetatype {
  /// The Realm it belongs to; nil for unmanaged values. Never checks the context.
  var realm: Realm? { get }
  /// Whether it may no longer be read.
  var isInvalidated: Bool { get }
  /// Whether it is fixed to one version. Never checks the context.
  var isFrozen: Bool { get }
  /// A copy fixed to the version that is seen, readable from any thread.
  func freeze() -> Self
  /// The live value in the calling context; nil when what it is about was deleted.
  func thaw() -> Self?
}

extension ObjectBase: ThreadConfined {
  /// Whether the object is fixed to one version; false for unmanaged objects.
  public var isFrozen: Bool { unsafe instance?.isFrozen ?? false }

  /// A copy fixed to the version that is seen, readable from any thread.
  public func freeze() -> Self { frozenCopy() }

  /// The live object in the calling context; nil when it was deleted.
  public func thaw() -> Self? { thawedCopy() }
}
