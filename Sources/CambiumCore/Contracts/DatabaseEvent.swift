import Synchronization

/// Something that a database did, for who watches a program in production.
public enum DatabaseEvent: Hashable, Sendable {
  /// A store was opened, with recovery if that was needed.
  case opened(nanoseconds: Int64)
  /// A transaction began, after waiting for the writer lock for so long.
  case writeBegan(waitNanoseconds: Int64)
  /// A transaction was published, in so much time, which has the sync in it where the commit waits for one;
  /// `byteCount` is that of its pages, which a small one may leave in memory.
  case committed(version: Version, byteCount: Int, durability: Durability, nanoseconds: Int64)
  /// The medium was waited for.
  case synced(nanoseconds: Int64)
  /// The last holder of a version let go of it, so long after it was pinned.
  case versionReleased(version: Version, ageNanoseconds: Int64)
  /// A page was read and went through its codec, because no cache had it.
  case pageDecoded(byteCount: Int, nanoseconds: Int64)
  /// A Realm moved to another version.
  case refreshed(from: Version, to: Version)
  /// Observers of a context were told what commits elsewhere had changed up to a version, in so much time.
  case observersTold(count: Int, version: Version, nanoseconds: Int64)
  /// A migration has ended.
  case migrated(from: UInt64, to: UInt64, nanoseconds: Int64)
}

/// Is told what the databases of the process do.
public protocol DatabaseEventListener: Sendable {
  /// Takes an event of the store at a path, or with a name.
  ///
  /// Called on the thread on which it happened, often while something waits: it must be quick, and must not
  /// use a database.
  func observe(_ event: DatabaseEvent, of store: String)
}

/// Where databases tell what they do.
///
/// There is one listener for the process. With none an event costs a call and a load and allocates nothing.
public enum DatabaseEvents {
  private static let isListening = Atomic(false)
  private static let listener = Mutex<(any DatabaseEventListener)?>(nil)

  /// Whether anybody listens.
  @inline(__always) package static var isOn: Bool { isListening.load(ordering: .relaxed) }

  /// Lets `listener` be told from now on, in place of the one before; nil ends that.
  ///
  /// May be called from any thread, at any time; events that are under way may still reach the one before.
  public static func listen(_ listener: (any DatabaseEventListener)?) {
    // The one before is let go of outside of the lock: its end may call back.
    _ = self.listener.withLock { held in
      let former = held
      held = listener
      isListening.store(listener != nil, ordering: .relaxed)
      return former
    }
  }

  /// The time at which something begins; 0 where nobody listens.
  @inline(__always) package static var now: Int64 { isOn ? MonotonicClock.system.now : 0 }

  /// Tells what has happened since `start`, if somebody listened then and does now.
  @inline(__always) package static func tell(
    since start: Int64, _ store: @autoclosure () -> String,
    _ event: (_ nanoseconds: Int64) -> DatabaseEvent
  ) {
    if start != 0 { send(event(MonotonicClock.system.now - start), store()) }
  }

  @inline(never) package static func send(_ event: DatabaseEvent, _ store: String) {
    // Outside of the lock: a listener may take its time.
    listener.withLock { $0 }?.observe(event, of: store)
  }
}
