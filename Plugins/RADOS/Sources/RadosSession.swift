#if RADOS
  import CPlatform
  import CambiumCore
  import Foundation
  import Synchronization

  /// A connection and what hears its hints, until they are closed.
  ///
  /// Sessions that are open when the process ends are closed then: librados' threads would go on while what
  /// they need is taken away, and crash.
  ///
  /// Thread-safe.
  final class RadosSession: Sendable {
    let connection: RadosConnection
    let watch: RadosWatch

    /// Connects; see ``RadosConnection/init(_:)``.
    init(_ location: RadosLocation) throws(StoreError) {
      connection = try RadosConnection(location)
      watch = RadosWatch(connection)
      _ = Self.processEnd
      Self.open.withLock { $0[ObjectIdentifier(self)] = self }
    }

    /// Hears no more, and ends the connection; see ``RadosConnection/close(_:)``.
    func close() {
      connection.close { watch.end() }
      _ = Self.open.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
      Self.closed.raise()
    }

    /// Closes on another thread.
    func closeInBackground() {
      BackgroundJob(BackgroundLane()).schedule { [self] _ in
        close()
        return nil
      }
    }

    // MARK: The end of the process

    private static let open = Mutex<[ObjectIdentifier: RadosSession]>([:])
    private static let closed = CommitSignal()
    /// How long the end of the process waits for a cluster that does not answer.
    private static let patienceNanoseconds: Int64 = 2_000_000_000

    /// Called behind the first connection, so that the process tells of its end before librados' objects go.
    private static let processEnd: Void = {
      let forkCount = cambium_fork_count()
      RadosSession.forkCount.store(Int(forkCount), ordering: .releasing)
      atexit { RadosSession.closeAll() }
    }()

    /// As it was at the first connection.
    private static let forkCount = Atomic(0)

    private static func closeAll() {
      // Librados' threads, and perhaps whoever holds the lock, are not there in a child that was forked.
      guard forkCount.load(ordering: .acquiring) == Int(cambium_fork_count()) else { return }
      for session in open.withLock({ Array($0.values) }) { session.closeInBackground() }
      closed.wait(timeoutNanoseconds: patienceNanoseconds) { open.withLock { $0.isEmpty } }
    }
  }
#endif
