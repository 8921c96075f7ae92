import Synchronization

/// Lets an object or a collection be read in any context, each of which sees its own.
///
/// ```swift
/// @ThreadSafe var dog = realm.objects(Dog.self).first
/// queue.async { print(dog?.name ?? "gone") }
/// ```
///
/// Reading opens the value's Realm where it is read, and finds the value there: nil when it was deleted.
/// Each read may see a newer version. Where a wrapper cannot be written, as on what a task captures in
/// Swift 6, the class itself does the same: `ThreadSafe(wrappedValue: dog)`. It keeps the database open.
///
/// Thread-safe.
@propertyWrapper public final class ThreadSafe<T: ThreadConfined>: Sendable {
  private let box = Mutex<ReferenceBox?>(nil)

  /// Refers to a managed value, or to none; stops for unmanaged and for invalid ones.
  ///
  /// Called in the value's context.
  public init(wrappedValue: T?) { refer(to: wrappedValue) }

  /// The value in the calling context; nil when it was deleted.
  ///
  /// It is that of a Realm which is open there, or of one that is opened: for the main thread, or for the
  /// calling thread. Stops when it cannot be opened. Assigning refers to another value, of the calling
  /// context.
  public var wrappedValue: T? {
    get {
      guard let box = box.withLock({ $0 }) else { return nil }
      return box.findHere() as? T
    }
    set { refer(to: newValue) }
  }

  private func refer(to value: T?) {
    let new = value.map { value in
      guard value.realm != nil || value.isInvalidated else {
        fatalError("Only managed objects may be wrapped as thread safe.")
      }
      return ThreadSafeReference(to: value).box
    }
    let old = box.withLock { box in
      defer { box = new }
      return box
    }
    withExtendedLifetime(old) {}
  }
}
