import CPlatform
import Synchronization

/// The Realm instances of the process, by number, for those who do not keep them alive.
///
/// In place of `weak` references: the first of those would move an object's reference count out of its
/// header, which makes retaining it several times as slow, and every accessor retains its Realm.
///
/// Pointers: an instance takes its address out of the table, under the lock, before anything of it is
/// freed. Addresses are used under the same lock only.
enum InstanceTable {
  /// An instance that others keep alive.
  struct Entry: Sendable {
    private let number: UInt64

    init(_ instance: RealmInstance?) { number = instance?.number ?? 0 }

    /// Whether it stands for `instance`.
    func isOf(_ instance: RealmInstance) -> Bool { number == instance.number }

    /// The instance, unless it is gone or about to be.
    var value: RealmInstance? {
      if number == 0 { return nil }
      return table.withLock { table -> RealmInstance? in
        // An instance leaves the table at the start of its deinitialisation, under the same lock: what
        // is found there has valid memory.
        guard let address = table.addresses[number],
          let retained = unsafe cambium_try_retain(UnsafeMutableRawPointer(bitPattern: address))
        else { return nil }
        return unsafe Unmanaged<RealmInstance>.fromOpaque(retained).takeRetainedValue()
      }
    }

    /// The instance's coordinator with one user more; nil when the instance is gone or about to be.
    ///
    /// Unlike ``value`` never ends the last reference to the instance.
    var coordinator: Coordinator? {
      table.withLock { table -> Coordinator? in
        guard let address = table.addresses[number],
          let pointer = unsafe UnsafeRawPointer(bitPattern: address)
        else { return nil }
        let instance = unsafe Unmanaged<RealmInstance>.fromOpaque(pointer)
        // An instance releases its coordinator after it has left the table.
        let coordinator = unsafe instance._withUnsafeGuaranteedRef { $0.coordinator }
        coordinator.retain()
        return coordinator
      }
    }

    /// Whether the instance is gone; unlike ``value`` never ends the last reference.
    var isGone: Bool { table.withLock { $0.addresses[number] == nil } }
  }

  private struct Content {
    var count: UInt64 = 0
    var addresses: [UInt64: UInt] = [:]
  }

  private static let table = Mutex(Content())

  /// A number that no other instance of this process had or will have.
  static func newNumber() -> UInt64 {
    table.withLock { table in
      table.count += 1
      return table.count
    }
  }

  /// Lets an instance be found by its number.
  static func enter(_ instance: RealmInstance) {
    let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(instance).toOpaque())
    table.withLock { $0.addresses[instance.number] = address }
  }

  /// Called first by an instance that is deinitialised.
  static func leave(_ number: UInt64) {
    _ = table.withLock { $0.addresses.removeValue(forKey: number) }
  }
}
