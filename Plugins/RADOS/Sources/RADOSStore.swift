#if RADOS
  import CambiumCluster
  import CambiumCore
  import Foundation

  /// Stores in pools of a Ceph cluster.
  public enum RADOSStore {
    /// The kind's name.
    public static let kind = "rados"

    /// Opens the store at `location`, or makes it unless it is opened for reading only.
    ///
    /// Waits for the cluster at most the location's timeout. Throws what ``RadosObjects/init(_:)`` and
    /// `ClusterStore.init(_:options:)` throw.
    public static func open(
      _ location: RadosLocation, options: ClusterOptions = ClusterOptions()
    ) throws(StoreError) -> ClusterStore {
      var options = options
      if options.holder.isEmpty { options.holder = processName }
      if let path = location.localCachePath { options.localCachePath = path }
      if let count = location.localCacheMebibyteCount { options.localCacheByteCount = count << 20 }
      return try ClusterStore(RadosObjects(location), options: options)
    }

    /// Deletes the store at `location`, with all its objects; false when there is none.
    ///
    /// Throws `StoreError.inUse(path:holder:)` while anybody has it open.
    @discardableResult
    public static func delete(_ location: RadosLocation) throws(StoreError) -> Bool {
      let isDeleted = try ClusterStore.delete(RadosObjects(location))
      if isDeleted { try removeHandles(location) }
      return isDeleted
    }

    /// Removes the empty objects on which hints and locks hang.
    private static func removeHandles(_ location: RadosLocation) throws(StoreError) {
      let objects = try RadosObjects(location)
      defer { objects.close() }
      let names = [RadosNames.hints] + ClusterStore.lockNames.map(RadosNames.lock)
      _ = objects.perform(names.map { .remove(name: $0) })
    }

    /// Lets the kind join `StoreRegistry` as `rados`; the object layer does it by itself.
    public static func register() { StoreRegistry.register(.rados()) }

    /// Where this process is, for people on other machines.
    private static var processName: String {
      let process = ProcessInfo.processInfo
      return "\(process.hostName):\(process.processIdentifier)"
    }
  }

  extension StoreChoice {
    /// A store in a pool of a Ceph cluster; its path is `POOL/NAME`, see ``RadosLocation``.
    public static func rados(_ options: ClusterOptions = ClusterOptions()) -> StoreChoice {
      StoreChoice(
        kind: RADOSStore.kind, isRemote: true,
        delete: { path throws(StoreError) in try RADOSStore.delete(RadosLocation(path)) }
      ) { request throws(StoreError) in
        var options = options
        options.isReadOnly = request.isReadOnly
        options.mustBeNew = request.mustBeNew
        options.codec = request.codec
        options.maximumByteCount = request.maximumByteCount
        if let seconds = request.readTimeoutSeconds { options.readTimeoutSeconds = seconds }
        return try RADOSStore.open(RadosLocation(request.path), options: options)
      }
    }
  }
#endif
