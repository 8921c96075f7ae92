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
/// An unresolved reference keeps its version's pages.
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
    box = ReferenceBox(portable.port(), of: realm.instance)
  }

  /// Whether it was resolved already.
  public var isInvalidated: Bool { box.isUsed }
}

/// A value that can say how to find itself in another Realm of the same database.
protocol Portable {
  /// What finds the value in another instance; nil there when it no longer exists.
  func port() -> Porter
}

/// Finds a value in another instance.
///
/// Unchecked: the closures that are made here hold keys, names and plans, which belong to no version,
/// and element types, which are pointers to constant metadata.
struct Porter: @unchecked Sendable {
  let find: (RealmInstance) -> Any?

  init(_ find: @escaping (RealmInstance) -> Any?) { self.find = find }
}

/// The state of a reference.
@usableFromInline final class ReferenceBox: Sendable {
  private struct State {
    var find: Porter?
    /// Keeps the version's pages.
    var snapshot: Snapshot?
  }

  private let state: Mutex<State>
  private let coordinator: Coordinator
  private let version: Version

  init(_ find: Porter, of instance: RealmInstance) {
    state = Mutex(
      State(find: find, snapshot: instance.session == nil ? instance.snapshot : nil))
    coordinator = instance.coordinator
    version = instance.version
    coordinator.retain()
  }

  deinit {
    // The pages go before the database is closed: a pinned version would keep the file locked.
    state.withLock { $0.snapshot = nil }
    coordinator.release()
  }

  var isUsed: Bool { state.withLock { $0.find == nil } }

  func resolve(in instance: RealmInstance) -> Any? {
    let find = state.withLock { state in
      defer { state.find = nil }
      return state.find
    }
    guard let find else { fatalError("Can only resolve a thread safe reference once.") }
    guard instance.coordinator === coordinator else {
      fatalError(
        "Cannot resolve a thread safe reference in the Realm at path '\(instance.configuration.path)': "
          + "it was made from the Realm at path '\(coordinator.configuration.path)'.")
    }
    instance.reading { () throws(StoreError) in
      if instance.session == nil, !instance.isFrozen, instance.currentSnapshot.version < version {
        _ = try instance.refresh()
      }
    }
    return find.find(instance)
  }
}

extension Realm {
  /// The referenced value in this Realm; nil when it no longer exists at this Realm's version.
  ///
  /// A Realm that is older than the reference moves to the newest version first. Stops when the
  /// reference was resolved before.
  public func resolve<Confined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
    instance.verify()
    return reference.box.resolve(in: instance) as? Confined
  }
}

extension Object: Portable {
  func port() -> Porter {
    let index = classAccess.stored.name
    let key = key
    let created = created
    return Porter { instance in
      guard let place = instance.classSet.index(named: index) else { return nil }
      let access = instance.classes[place]
      guard access.creation(of: key) == created else { return nil }
      return access.object(forKey: key)
    }
  }
}
