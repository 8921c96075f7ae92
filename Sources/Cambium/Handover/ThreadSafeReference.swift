import CambiumCore
import Synchronization

/// Carries one object or collection from its context to another.
///
/// Made where the value lives, resolved once where it is needed:
///
/// ```swift
/// let reference = ThreadSafeReference(to: person)
/// queue.async {
///   guard let realm = try? Realm(), let person = realm.resolve(reference) else { return }
///   …
/// }
/// ```
///
/// An unresolved reference keeps the database open, and one to results keeps their version's pages.
@frozen public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
  let box: ReferenceBox

  /// Makes a reference; must be called in the value's context.
  ///
  /// Stops for unmanaged and for invalid values.
  public init(to threadConfined: Confined) {
    guard let realm = threadConfined.realm else {
      if threadConfined.isInvalidated {
        fatalError("Cannot construct reference to invalidated object")
      }
      fatalError(
        "Cannot construct reference to unmanaged object, which can be passed across threads directly"
      )
    }
    realm.instance.verify()
    guard !threadConfined.isInvalidated else {
      fatalError("Cannot construct reference to invalidated object")
    }
    guard let portable = threadConfined as? any Portable else {
      fatalError("'\(Confined.self)' cannot be referenced across threads.")
    }
    box = ReferenceBox(to: portable, of: realm.instance)
  }

  /// Whether it was resolved already.
  public var isInvalidated: Bool { box.isUsed }
}

/// What a reference keeps until it is resolved.
@usableFromInline final class ReferenceBox: Sendable {
  // Exclusivity is not checked: of a Realm its transaction and version are loaded, in its context.

  private struct Content {
    /// Finds the value in another Realm; nil when it is not there.
    let find: @Sendable (RealmInstance) -> Any?
    /// Kept open.
    let coordinator: Coordinator
    /// How its Realm was opened.
    let configuration: Realm.Configuration
    let classes: ClassSet
    let version: Version
    /// Keeps the version's pages, for values that depend on it.
    var kept: Snapshot?
    /// The version's snapshot while somebody keeps it.
    weak var seen: Snapshot?
  }

  private let content: Mutex<Content?>

  init<Value: Portable>(to value: Value, of realm: RealmInstance) {
    let identity = value.identity
    let snapshot = unsafe realm.session == nil ? realm.snapshot : nil
    content = Mutex(
      Content(
        find: { Value.value(of: identity, in: $0) }, coordinator: realm.coordinator,
        configuration: realm.configuration, classes: realm.classSet, version: realm.version,
        kept: Value.keepsVersion ? snapshot : nil, seen: snapshot))
    realm.coordinator.retain()
  }

  deinit {
    guard var content = take() else { return }
    // The pages go before the database is closed: a pinned version would keep the file locked.
    content.kept = nil
    content.coordinator.release()
  }

  var isUsed: Bool { content.withLock { $0 == nil } }

  private func take() -> Content? { content.withLock { $0.take() } }

  /// The value in the calling context, as often as it is asked for; nil when it is not there.
  ///
  /// Lets go of a version that it keeps.
  func findHere() -> Any? {
    let content = content.withLock { content in
      defer { content?.kept = nil }
      return content
    }
    guard let content else { return nil }
    let realm = RealmInstance.live(content.configuration, content.classes, content.coordinator)
    realm.reading { () throws(StoreError) in
      try realm.catchUp(with: content.version, nil)
    }
    return content.find(realm)
  }

  func resolve(in realm: RealmInstance) -> Any? {
    guard let content = take() else {
      fatalError("Can only resolve a thread safe reference once.")
    }
    defer { content.coordinator.release() }
    guard realm.coordinator === content.coordinator else {
      fatalError(
        "Cannot resolve a thread safe reference in the Realm at path '\(realm.configuration.path)': "
          + "it was made from the Realm at path '\(content.coordinator.configuration.path)'.")
    }
    realm.reading { () throws(StoreError) in
      try realm.catchUp(with: content.version, content.kept ?? content.seen)
    }
    return content.find(realm)
  }
}

extension Realm {
  /// The referenced value in this Realm; nil when it no longer exists at this Realm's version.
  ///
  /// A Realm of which nothing was read yet begins at the version of the reference, if that is still
  /// kept; one that is older moves to the newest version first. Stops when the reference was resolved
  /// before.
  public func resolve<Confined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
    instance.verify()
    return reference.box.resolve(in: instance) as? Confined
  }
}
