#if RADOS
  import CRados
  import CambiumCluster
  import CambiumCore
  import Foundation
  import Synchronization

  /// Hears the hints that hang on a store's object `hints`.
  ///
  /// Thread-safe.
  ///
  /// Pointers: from the first watch on librados has a reference to this, which ``end()`` gives back when
  /// librados calls no more.
  @safe final class RadosWatch: Sendable {
    private struct State {
      var bodies: [@Sendable (ObjectHint?) -> Void] = []
      /// What librados calls the watch; nil when there is none.
      var cookie: UInt64?
      /// Whether librados has said that the watch is none any more.
      var isBroken = false
      /// Whether librados has a reference to this.
      var isLent = false
      /// Whether establishing was tried.
      var wasTried = false
      var hasEnded = false
      var failureCount = 0
    }

    private let connection: RadosConnection
    private let state = Mutex(State())
    private let tried = CommitSignal()
    /// Establishes the watch, which may take as long as the timeout.
    private let job = BackgroundJob(BackgroundLane())

    init(_ connection: RadosConnection) { self.connection = connection }

    // MARK: Giving

    /// Tells all who watch; nobody needs to.
    ///
    /// Pointers: librados copies the byte within the call, and makes no text of the answers when it is given
    /// no place for it.
    static func give(_ hint: ObjectHint, over connection: RadosConnection, _ call: ObjectCall) {
      let timeout = UInt64(connection.location.timeoutSeconds) * 1000
      unsafe RadosOperation.begin(connection, call) { failure in
        // Nobody has ever watched when there is no object.
        if let failure, failure != .missing { return .failure(failure) }
        return .success(.done)
      } _: { completion in
        var byte = CChar(hint.rawValue)
        return unsafe rados_aio_notify(
          connection.pool, RadosNames.hints, completion, &byte, 1, timeout, nil, nil)
      }
    }

    // MARK: Hearing

    /// Calls `body` with each hint from now on.
    func add(_ body: @escaping @Sendable (ObjectHint?) -> Void) {
      let isFirst = state.withLock { state in
        state.bodies.append(body)
        return state.bodies.count == 1
      }
      if isFirst, !job.schedule({ [self] in establish($0) }) { noteTried() }
      tried.wait(timeoutNanoseconds: .max) { state.withLock { $0.wasTried } }
      if state.withLock({ $0.cookie == nil || $0.isBroken }) { body(nil) }
    }

    /// Makes the watch, and answers when to try again.
    private func establish(_ now: Int64) -> Int64? {
      defer { noteTried() }
      guard connection.gate.enter() else { return nil }
      defer { connection.gate.leave() }
      let (isNeeded, old, wasThere) = state.withLock { state in
        defer {
          state.cookie = state.isBroken ? nil : state.cookie
          state.isBroken = false
        }
        return (
          state.isBroken || state.cookie == nil, state.isBroken ? state.cookie : nil, state.wasTried
        )
      }
      guard isNeeded else { return nil }
      if let old { unsafe rados_unwatch2(connection.pool, old) }
      guard let cookie = watchObject() else {
        let count = state.withLock { state in
          state.failureCount += 1
          return state.failureCount
        }
        return now + Self.pauseNanoseconds << min(Int64(count), 5)
      }
      state.withLock { state in
        state.cookie = cookie
        state.failureCount = 0
      }
      // Nobody listened in between.
      if wasThere { tell(nil) }
      return nil
    }

    private static let pauseNanoseconds: Int64 = 100_000_000

    private func noteTried() {
      state.withLock { $0.wasTried = true }
      tried.raise()
    }

    /// Watches the object, which is made if there is none; nil if that fails.
    private func watchObject() -> UInt64? {
      let context = unsafe lentReference()
      for _ in 0..<2 {
        var cookie: UInt64 = 0
        let code = unsafe rados_watch3(
          connection.pool, RadosNames.hints, &cookie, radosHintCame, radosWatchBroke,
          UInt32(connection.location.timeoutSeconds), context)
        if code == 0 { return cookie }
        guard code == -ENOENT else { return nil }
        let change = RadosChange()
        change.create(.ifMissing)
        guard
          unsafe rados_write_op_operate(
            change.operation, connection.pool, RadosNames.hints, nil, RadosChange.flags) == 0
        else { return nil }
      }
      return nil
    }

    private func lentReference() -> UnsafeMutableRawPointer {
      let isLent = state.withLock { state in
        defer { state.isLent = true }
        return state.isLent
      }
      let reference =
        unsafe isLent ? Unmanaged.passUnretained(self) : Unmanaged.passRetained(self)
      return unsafe reference.toOpaque()
    }

    /// Hears no more; to be called when nobody else uses the connection.
    func end() {
      let (cookie, isLent) = state.withLock { state in
        state.hasEnded = true
        return (state.cookie, state.isLent)
      }
      job.cancel()
      if let cookie { unsafe rados_unwatch2(connection.pool, cookie) }
      // Calls that have begun are through then.
      unsafe rados_watch_flush(connection.cluster)
      state.withLock { $0.bodies = [] }
      if isLent { unsafe Unmanaged.passUnretained(self).release() }
    }

    // MARK: Called by librados

    fileprivate func tell(_ hint: ObjectHint?) {
      for body in state.withLock({ $0.hasEnded ? [] : $0.bodies }) { body(hint) }
    }

    /// Tells the giver that the hint came.
    fileprivate func acknowledge(_ notification: UInt64, _ cookie: UInt64) {
      unsafe rados_notify_ack(
        connection.pool, RadosNames.hints, notification, cookie, nil, 0)
    }

    fileprivate func restart() {
      state.withLock { $0.isBroken = true }
      tell(nil)
      job.schedule { [self] in establish($0) }
    }
  }

  /// Called by librados, on a thread of its own, with a hint.
  ///
  /// Pointers: `context` is the ``RadosWatch`` that librados has a reference to, and the payload is good during
  /// the call.
  private func radosHintCame(
    _ context: UnsafeMutableRawPointer?, _ notification: UInt64, _ cookie: UInt64,
    _ notifier: UInt64, _ payload: UnsafeMutableRawPointer?, _ byteCount: Int
  ) {
    guard let context = unsafe context else { return }
    let watch = unsafe Unmanaged<RadosWatch>.fromOpaque(context).takeUnretainedValue()
    watch.acknowledge(notification, cookie)
    guard let payload = unsafe payload, byteCount == 1 else { return }
    // A kind of hint that this version does not know is none.
    if let hint = unsafe ObjectHint(rawValue: payload.load(as: UInt8.self)) { watch.tell(hint) }
  }

  /// Called by librados, on a thread of its own, when it watches no more.
  ///
  /// Pointers: `context` is the ``RadosWatch`` that librados has a reference to.
  private func radosWatchBroke(
    _ context: UnsafeMutableRawPointer?, _ cookie: UInt64, _ code: CInt
  ) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<RadosWatch>.fromOpaque(context).takeUnretainedValue().restart()
  }
#endif
