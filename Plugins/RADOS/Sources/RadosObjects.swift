#if RADOS
  import CambiumCluster
  import CambiumCore

  /// The objects of a store in a pool of a Ceph cluster (RADOS).
  ///
  /// Objects, and the objects `hints` and `lock.…`, on which hints and locks hang, lie in a space of
  /// names of the store's own; `ObjectRequest/list` leaves the latter out.
  ///
  /// An operation that the cluster does not answer comes back after the location's timeout, and may have
  /// happened, or happen later (`ObjectFailure/unknown(_:)`). Locks are held by a connection: the same
  /// holder on another one is busy until the lock has ended, but may give it back there.
  ///
  /// Calls are answered on librados' threads, in order; whoever is called with an answer, or with a hint,
  /// may start operations, but must neither wait nor close.
  ///
  /// Thread-safe. In a child of a fork it does not work.
  public final class RadosObjects: ObjectStorage {
    private let session: RadosSession
    var connection: RadosConnection { session.connection }
    /// Runs what librados does on the caller's thread alone, for locks; a list may take long.
    let lockLane = BackgroundLane()
    let listLane = BackgroundLane()
    private let sleeper = CommitSignal()

    /// Connects to the cluster.
    ///
    /// Waits for it at most the location's timeout. Throws `StoreError`, which says what is missing: the
    /// configuration, a monitor that answers, the right to use the pool, or the pool.
    public init(_ location: RadosLocation) throws(StoreError) {
      session = try RadosSession(location)
    }

    deinit {
      // The last reference may go on a thread of librados, which closing waits for.
      if !connection.gate.isClosed { session.closeInBackground() }
    }

    /// The kind's name.
    public var kind: String { "rados" }
    /// Pool and name, as in `rados:db/ledger`.
    public var path: String { connection.location.path }

    /// Begins an operation; see `ObjectStorage/start(_:_:)`.
    public func start(_ request: ObjectRequest, _ call: ObjectCall) {
      switch request {
      case .read(let name, let ranges): read(name, ranges, call)
      case .write(let name, let offset, let bytes): write(name, offset, bytes, call)
      case .create(let name, let bytes): create(name, bytes, call)
      case .swap(let name, let swap): self.swap(name, swap, call)
      case .remove(let name): remove(name, call)
      case .list: list(call)
      case .lock(let name, let holder, let isShared, let seconds):
        lock(name, holder, isShared: isShared, seconds: seconds, call)
      case .unlock(let name, let holder): unlock(name, holder, call)
      case .holders(let name): holders(name, call)
      case .hint(let hint): RadosWatch.give(hint, over: connection, call)
      }
    }

    /// Waits for so long, on this thread.
    public func sleep(nanoseconds: Int64) {
      sleeper.wait(timeoutNanoseconds: nanoseconds) { false }
    }

    /// Calls `body` with each hint from now on; see `ObjectStorage/watch(_:)`.
    ///
    /// Waits until the cluster has heard of it, at most the location's timeout. If it has not, `body` is
    /// given nil, and trying goes on in the background.
    public func watch(_ body: @escaping @Sendable (ObjectHint?) -> Void) { session.watch.add(body) }

    /// Ends the connection, when what is under way was answered.
    ///
    /// That takes about twice the location's timeout at most, and only while the cluster does not answer.
    /// Calling it again does nothing but wait for the first call. Must not be called from what is called with
    /// an answer or a hint.
    public func close() { session.close() }

    /// Calls `body` on a thread where it may wait, after those before it, and answers with what it returns.
    func run(
      on lane: BackgroundLane, _ call: ObjectCall,
      _ body: @escaping @Sendable (RadosConnection) -> Result<ObjectAnswer, ObjectFailure>
    ) {
      let connection = connection
      guard connection.gate.enter() else { return call.end(.failure(.closed)) }
      let isScheduled = BackgroundJob(lane).schedule { _ in
        // What has not begun when the connection is closed does not hold that up.
        call.end(connection.gate.isClosed ? .failure(.closed) : body(connection))
        connection.gate.leave()
        return nil
      }
      if isScheduled { return }
      call.end(.failure(.refused("the system has no thread for it")))
      connection.gate.leave()
    }
  }
#endif
