#if RADOS
  import CPlatform
  import CambiumCluster
  import CambiumCore
  import Foundation

  extension ObjectFailure {
    /// What a negative answer of librados to an operation means.
    init(rados code: CInt) {
      // What was compared differs that far behind the offset: -(4095 + distance).
      if code <= -4095 {
        self = .mismatch
        return
      }
      switch -code {
      case ENOENT: self = .missing
      case EEXIST: self = .exists
      case EBUSY: self = .busy
      case ENOSPC, EDQUOT: self = .full
      case ETIMEDOUT: self = .unknown("the cluster did not answer in time")
      // What librados calls ESHUTDOWN is a client that others have shut out.
      case ESHUTDOWN: self = .unknown("the cluster has shut this client out (blocklist)")
      case ENOTCONN, EINTR, EAGAIN: self = .unknown(Self.text(code))
      default: self = .refused(Self.text(code))
      }
    }

    /// What was asked after the connection was closed.
    static let closed = ObjectFailure.refused("closed")

    /// What the system calls an error.
    ///
    /// Pointers: the text lies in memory of this call; it is cut to its size, and a zero ends it.
    private static func text(_ code: CInt) -> String {
      unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
        guard let start = text.baseAddress else { return "error \(-code)" }
        unsafe cambium_describe_error(-code, start, text.count)
        return unsafe "\(String(cString: start)) (error \(-code))"
      }
    }
  }

  /// What opening a connection does, one after the other.
  enum RadosStep {
    case configuring
    case readingConfiguration
    case connecting
    case openingPool
  }

  extension StoreError {
    /// Why `step` failed on the way to the store at `location`, and the way out.
    init(rados code: CInt, _ location: RadosLocation, _ step: RadosStep) {
      let path = location.path
      let user = "client.\(location.user)"
      let pool = location.pool
      let file = location.configuration.map { "'\($0)'" } ?? "its usual places"
      switch (step, -code) {
      case (.readingConfiguration, ENOENT):
        self = .notAStore(
          path: path,
          reason:
            "there is no configuration of the cluster in \(file); name it: rados:\(pool)/\(location.name)?conf=PATH"
        )
      case (.readingConfiguration, EACCES), (.readingConfiguration, EPERM):
        self = .permissionDenied(
          path: path, operation: "read the configuration of the cluster in \(file) for")
      case (.readingConfiguration, _):
        self = .notAStore(
          path: path, reason: "the configuration of the cluster in \(file) cannot be understood")
      case (.connecting, ETIMEDOUT):
        self = .system(
          operation:
            "reach a monitor of the cluster within \(location.timeoutSeconds) s, which must run where 'mon host' in \(file) says, for",
          path: path, code: ETIMEDOUT)
      case (.connecting, EACCES), (.connecting, EPERM), (.connecting, EKEYREJECTED):
        self = .permissionDenied(
          path: path, operation: "join the cluster as \(user), whose keyring must be readable, for")
      case (.connecting, ENOENT):
        self = .notAStore(
          path: path,
          reason:
            "the configuration in \(file) names no monitor ('mon host'), or \(user) has no keyring")
      case (.openingPool, ENOENT):
        self = .notAStore(
          path: path,
          reason: "the cluster has no pool '\(pool)'; 'ceph osd pool create \(pool)' makes it")
      case (.openingPool, EACCES), (.openingPool, EPERM):
        self = .permissionDenied(
          path: path, operation: "use the pool '\(pool)' as \(user), who needs capabilities, for")
      case (.openingPool, ETIMEDOUT):
        self = .system(
          operation: "find the pool '\(pool)' within \(location.timeoutSeconds) s for", path: path,
          code: ETIMEDOUT)
      default:
        self = .system(
          operation: "use the pool '\(pool)' as \(user) for", path: path, code: max(-code, 1))
      }
    }
  }
#endif
