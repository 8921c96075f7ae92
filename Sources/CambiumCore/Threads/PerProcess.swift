import CPlatform
import Synchronization

/// An object of which each process has its own: what a forked child shares with its parent are locks that may be
/// held for ever, by threads that are not there.
///
/// Thread-safe.
///
/// Pointers: the object whose address is kept has a reference count that is never given back, so that the address is
/// good for ever. One that another thread was quicker than gives its own back.
final class PerProcess<Object: AnyObject & Sendable>: Sendable {
  private final class Entry: Sendable {
    let object: Object
    let forkCount = cambium_fork_count()

    init(_ object: Object) { self.object = object }
  }

  private let make: @Sendable () -> Object
  /// The address of the entry that was made last; 0 before there is one.
  private let latest = Atomic<UInt>(0)

  /// An object that `make` makes when it is first asked for in a process.
  init(_ make: @escaping @Sendable () -> Object) { self.make = make }

  /// That of this process.
  var object: Object {
    while true {
      let known = latest.load(ordering: .acquiring)
      if let pointer = unsafe UnsafeRawPointer(bitPattern: known) {
        let entry = unsafe Unmanaged<Entry>.fromOpaque(pointer).takeUnretainedValue()
        if entry.forkCount == cambium_fork_count() { return entry.object }
      }
      let entry = Entry(make())
      let pointer = unsafe Unmanaged.passRetained(entry)
      if unsafe latest.compareExchange(
        expected: known, desired: UInt(bitPattern: pointer.toOpaque()),
        ordering: .acquiringAndReleasing
      ).exchanged {
        return entry.object
      }
      unsafe pointer.release()
    }
  }
}
