#if RADOS
  import CRados
  import CambiumCluster
  import CambiumCore
  import Foundation

  /// A connection to a cluster, and the space of names of one store in it.
  ///
  /// Whoever uses a handle enters the gate before and leaves it afterwards.
  ///
  /// Unchecked: librados' handles may be used from any thread, and never change.
  ///
  /// Pointers: both handles are made before the connection is there, and are good until ``close(_:)`` has
  /// seen everybody leave the gate.
  @safe final class RadosConnection: @unchecked Sendable {
    let location: RadosLocation
    /// Counts who uses the handles.
    let gate = RadosGate()
    /// The cluster; a `rados_t`.
    let cluster: rados_t
    /// The store's part of the pool; a `rados_ioctx_t`.
    let pool: rados_ioctx_t
    private let poolNumber: Int64

    /// Connects to the cluster; waits for it at most the location's timeout.
    init(_ location: RadosLocation) throws(StoreError) {
      self.location = location
      let cluster = try unsafe Self.configured(location)
      do throws(StoreError) {
        try unsafe Self.check(rados_connect(cluster), location, .connecting)
        unsafe pool = unsafe try Self.openPool(location, in: cluster)
      } catch {
        unsafe rados_shutdown(cluster)
        throw error
      }
      unsafe self.cluster = unsafe cluster
      poolNumber = unsafe rados_ioctx_get_id(pool)
    }

    /// A handle that knows where its cluster is, and that operations come back after a while.
    private static func configured(_ location: RadosLocation) throws(StoreError) -> rados_t {
      var handle: rados_t?
      let code = unsafe rados_create2(&handle, location.cluster, "client.\(location.user)", 0)
      guard code == 0, let handle = unsafe handle else {
        throw StoreError(rados: code, location, .configuring)
      }
      do throws(StoreError) {
        // The program's own output is not librados'; a configuration may say otherwise.
        for option in ["log_to_stderr", "err_to_stderr"] {
          try unsafe check(rados_conf_set(handle, option, "false"), location, .configuring)
        }
        try unsafe check(
          rados_conf_read_file(handle, location.configuration), location, .readingConfiguration)
        for option in ["rados_osd_op_timeout", "rados_mon_op_timeout", "client_mount_timeout"] {
          try unsafe check(
            rados_conf_set(handle, option, "\(location.timeoutSeconds)"), location, .configuring)
        }
        // librados asks where an OSD has gone when an operation is older than this, 10 s by default. Where
        // all come back before, it would look for the OSD in the old place for ever.
        for option in ["objecter_timeout", "objecter_tick_interval", "ms_max_backoff"] {
          try unsafe check(rados_conf_set(handle, option, "1"), location, .configuring)
        }
        return unsafe handle
      } catch {
        unsafe rados_shutdown(handle)
        throw error
      }
    }

    private static func openPool(
      _ location: RadosLocation, in cluster: rados_t
    ) throws(StoreError) -> rados_ioctx_t {
      var handle: rados_ioctx_t?
      let code = unsafe rados_ioctx_create(cluster, location.pool, &handle)
      guard code == 0, let handle = unsafe handle else {
        throw StoreError(rados: code, location, .openingPool)
      }
      unsafe rados_ioctx_set_namespace(handle, location.namespace)
      // Otherwise librados keeps what is to be written to a full pool until it is not full any more.
      unsafe rados_set_pool_full_try(handle)
      return unsafe handle
    }

    private static func check(
      _ code: CInt, _ location: RadosLocation, _ step: RadosStep
    ) throws(StoreError) {
      if code < 0 { throw StoreError(rados: code, location, step) }
    }

    /// What librados' answer means.
    ///
    /// Objects of a pool that was deleted are not missing: their store is gone.
    func failure(_ code: CInt) -> ObjectFailure {
      let failure = ObjectFailure(rados: code)
      guard failure == .missing else { return failure }
      return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { name in
        let found = unsafe rados_pool_reverse_lookup(
          cluster, poolNumber, name.baseAddress, name.count)
        return found == -ENOENT
          ? .refused("the pool '\(location.pool)' is no longer there") : failure
      }
    }

    /// Ends the connection.
    ///
    /// Whoever enters the gate from now on is refused, and whoever is behind it has left when this returns.
    /// `last` is called when nobody else uses the handles. A second caller waits for the first.
    func close(_ last: () -> Void) {
      guard gate.close() else { return gate.waitUntilEnded() }
      gate.waitUntilEmpty()
      last()
      unsafe rados_aio_flush(pool)
      unsafe rados_ioctx_destroy(pool)
      unsafe rados_shutdown(cluster)
      gate.end()
    }
  }
#endif
