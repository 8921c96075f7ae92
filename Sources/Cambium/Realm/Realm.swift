import CambiumCore
import Dispatch
import Foundation

/// A database of objects, as one context sees it.
///
/// ```swift
/// let realm = try Realm()
/// try realm.write { realm.add(Dog(value: ["name": "Rex"])) }
/// let puppies = realm.objects(Dog.self).where { $0.age < 2 }
/// ```
///
/// A Realm and everything read from it belong to the context that opened it: a thread, the main
/// thread, a serial dispatch queue, or an actor. Use elsewhere stops the program. Each context opens
/// its own; opening again in the same context gives the same state. Objects cross over by
/// ``ThreadSafeReference``, by primary key, or frozen.
///
/// The version that is seen stays until the context's next turn, or, where that cannot be woken, until
/// ``refresh()`` or a write.
@frozen public struct Realm {
  // Exclusivity is not checked: the instance belongs to the calling context, and each access to its
  // fields or to those of an object ends before the next.
  //
  // Pointers: what the system or a key borrows lasts for the length of a call, and an accessor has the type
  // of the class that made it.
  @usableFromInline let instance: RealmInstance

  init(_ instance: RealmInstance) { self.instance = instance }

  // MARK: Opening

  /// Opens the default Realm for the calling thread or for `queue`, on which the caller must be.
  public init(queue: DispatchQueue? = nil) throws {
    try self.init(configuration: .defaultConfiguration, queue: queue)
  }

  /// Opens a Realm for the calling thread or for `queue`, on which the caller must be.
  ///
  /// - Throws: `Realm.Error` when the file cannot be opened, or holds other classes than the program.
  public init(configuration: Realm.Configuration, queue: DispatchQueue? = nil) throws {
    instance = try RealmInstance.open(configuration, in: Self.context(of: queue))
  }

  /// Opens the Realm in a file, with the default configuration for the rest.
  public init(fileURL: URL) throws {
    var configuration = Realm.Configuration.defaultConfiguration
    configuration.fileURL = fileURL
    try self.init(configuration: configuration, queue: nil)
  }

  private static func context(of queue: DispatchQueue?) -> any RealmContext {
    guard let queue else { return CallingContext.current }
    let context = MainContext.context(of: queue)
    guard context.isCurrent else { fatalError("Realm opened from incorrect dispatch queue.") }
    return context
  }

  // MARK: Information

  /// The classes of this Realm.
  ///
  /// Never checks the context.
  public var schema: Schema { instance.classSet.schema }

  /// How it was opened.
  ///
  /// Never checks the context.
  public var configuration: Realm.Configuration { instance.configuration }

  /// Whether there is no object of any class.
  public var isEmpty: Bool {
    instance.verify()
    return unsafe instance.classes.allSatisfy { $0.count == 0 }
  }

  /// Whether a write transaction of this Realm is running.
  public var isInWriteTransaction: Bool { unsafe instance.session != nil }

  /// Whether this is a frozen version.
  ///
  /// Never checks the context.
  public var isFrozen: Bool { instance.isFrozen }

  /// Whether commits elsewhere move this Realm on by themselves where its context can be woken.
  ///
  /// Never checks the context; always false for a frozen Realm.
  public var autorefresh: Bool {
    get { instance.isFrozen ? false : instance.autorefresh.load(ordering: .relaxed) }
    nonmutating set {
      guard !instance.isFrozen || !newValue else {
        fatalError("Auto-refresh cannot be enabled for frozen Realms.")
      }
      instance.autorefresh.store(newValue, ordering: .relaxed)
    }
  }

  // MARK: Versions

  /// Moves to the newest version.
  ///
  /// Returns false when it was seen already, in a write transaction, and for a frozen Realm. So it
  /// does when somebody else, in this process or another, has changed the schema of the file in a way
  /// that this Realm's classes do not fit: the Realm stays at the last version that they fit, and
  /// ``write(withoutNotifying:_:)`` throws the error that says what has changed. New classes, new properties of known
  /// classes, and indexes that come or go never stand in the way.
  @discardableResult public func refresh() -> Bool {
    instance.verify()
    guard !instance.configuration.readOnly || instance.isFrozen else {
      fatalError("Read-only Realms do not change and cannot be refreshed.")
    }
    return instance.reading { () throws(StoreError) in try instance.refresh() }
  }

  /// The version that is seen, frozen: readable from any thread, for as long as it is kept.
  ///
  /// In a write transaction the version before it.
  public func freeze() -> Realm {
    instance.verify()
    return Realm(instance.freeze())
  }

  /// The live Realm of the calling context; a live one gives itself.
  public func thaw() -> Realm { Realm(instance.thaw()) }

  /// A frozen copy of `object`.
  public func freeze<T: ObjectBase>(_ obj: T) -> T { obj.frozenCopy() }

  /// The live object behind `object` in the calling context; nil when it was deleted.
  public func thaw<T: ObjectBase>(_ obj: T) -> T? { obj.thawedCopy() }

  /// A frozen copy of `collection`.
  public func freeze<Collection: RealmCollection>(_ collection: Collection) -> Collection {
    collection.freeze()
  }

  /// Drops the version that is seen: every object and collection read from it becomes invalid.
  ///
  /// Rolls a running transaction back. The Realm stays usable and sees the newest version next; reading
  /// it stops the program when the classes do not fit the schema that somebody else has given it.
  public func invalidate() {
    instance.verify()
    instance.invalidate()
  }
}

extension Realm: Equatable {
  /// Whether both share their state: same database, same context.
  public static func == (lhs: Realm, rhs: Realm) -> Bool { lhs.instance === rhs.instance }
}

extension Realm {
  /// Whether the file of a configuration exists.
  public static func fileExists(for config: Configuration) -> Bool {
    guard let url = config.fileURL else { return false }
    return FileManager.default.fileExists(atPath: url.path)
  }

  /// Deletes the files of a Realm; false when there are none.
  ///
  /// Nobody can open them meanwhile. Where `fileURL` is a symbolic link, the file that it leads to is
  /// deleted, and then the link.
  ///
  /// - Throws: `.alreadyOpen` while it is open, in this process or another one, and
  ///   `.fileOperationFailed` when the system or the kind of store refuses.
  @discardableResult
  public static func deleteFiles(for config: Configuration) throws -> Bool {
    guard config.isInFile || config.remotePath != nil else { return false }
    let path = config.path
    func isOpen(by holder: String, _ underlying: StoreError? = nil) -> RLMError {
      RLMError(
        .alreadyOpen,
        "Cannot delete files of an open Realm: '\(path)' is still in use. It is used by \(holder); "
          + "close it there first.",
        path: path, underlying: underlying)
    }
    guard !Coordinator.isOpen(config) else { throw isOpen(by: "this process") }
    guard let delete = config.store.delete else {
      throw RLMError(
        .fileOperationFailed,
        "Cannot delete '\(path)': stores of kind '\(config.store.kind)' leave that to the program. "
          + "Remove the files while nobody has them open.",
        path: path)
    }
    do throws(StoreError) {
      let isDeleted = try delete(path)
      return config.isInFile && RealmFileMigration(config).removeDrafts() || isDeleted
    } catch {
      if case .inUse(_, let holder) = error { throw isOpen(by: holder, error) }
      throw RLMError(
        .fileOperationFailed, "Cannot delete the files of the Realm at '\(path)'. \(error)",
        path: path, underlying: error)
    }
  }
}
