#if RADOS
  import CRados
  import CambiumCluster
  import Foundation

  extension RadosObjects {
    private static let lockName = "cambium"

    /// Takes or renews a lock, which the cluster ends when its time is over.
    ///
    /// Pointers: librados copies the lock's duration within the call.
    func lock(
      _ name: String, _ holder: String, isShared: Bool, seconds: Int, _ call: ObjectCall
    ) {
      precondition(seconds > 0, "A lock lasts for some time: one second or more.")
      run(on: lockLane, call) { connection in
        var duration = timeval(tv_sec: seconds, tv_usec: 0)
        let object = RadosNames.lock(name)
        let flags = UInt8(LIBRADOS_LOCK_FLAG_RENEW)
        let code =
          unsafe isShared
          ? rados_lock_shared(
            connection.pool, object, Self.lockName, holder, "", "", &duration, flags)
          : rados_lock_exclusive(
            connection.pool, object, Self.lockName, holder, "", &duration, flags)
        return code < 0 ? .failure(connection.failure(code)) : .success(.done)
      }
    }

    func unlock(_ name: String, _ holder: String, _ call: ObjectCall) {
      run(on: lockLane, call) { connection in
        let object = RadosNames.lock(name)
        var code = unsafe rados_unlock(connection.pool, object, Self.lockName, holder)
        // The same holder may have taken it over another connection.
        if code == -ENOENT, case .success(let holders) = Self.holders(name, connection),
          let other = holders.first(where: { $0.cookie == holder })
        {
          code = unsafe rados_break_lock(
            connection.pool, object, Self.lockName, other.client, holder)
        }
        return code < 0 ? .failure(connection.failure(code)) : .success(.done)
      }
    }

    func holders(_ name: String, _ call: ObjectCall) {
      run(on: lockLane, call) { connection in
        Self.holders(name, connection).map { .names($0.map(\.cookie)) }
      }
    }

    /// Those who hold a lock and whose time is not over: the connection each came over, and what each calls
    /// itself.
    ///
    /// Pointers: librados writes at most as many bytes into each array as it is told there is room for.
    private static func holders(
      _ name: String, _ connection: RadosConnection
    ) -> Result<[(client: String, cookie: String)], ObjectFailure> {
      var room = (tag: 64, clients: 1024, cookies: 1024, addresses: 1024)
      while true {
        var sizes = room
        var tag = [CChar](repeating: 0, count: room.tag)
        var clients = [CChar](repeating: 0, count: room.clients)
        var cookies = [CChar](repeating: 0, count: room.cookies)
        var addresses = [CChar](repeating: 0, count: room.addresses)
        var isExclusive: CInt = 0
        let count = unsafe rados_list_lockers(
          connection.pool, RadosNames.lock(name), lockName, &isExclusive, &tag, &sizes.tag,
          &clients, &sizes.clients, &cookies, &sizes.cookies, &addresses, &sizes.addresses)
        if count == -Int(ERANGE) {
          // More may come until the next look.
          room = (
            max(room.tag, sizes.tag) * 2, max(room.clients, sizes.clients) * 2,
            max(room.cookies, sizes.cookies) * 2, max(room.addresses, sizes.addresses) * 2
          )
          continue
        }
        let failure = count < 0 ? connection.failure(CInt(count)) : nil
        if failure == .missing { return .success([]) }
        if let failure { return .failure(failure) }
        let pairs = zip(texts(clients, count), texts(cookies, count))
        return .success(pairs.map { (client: $0, cookie: $1) })
      }
    }

    /// The first `count` texts in `bytes`, each of which a zero ends.
    private static func texts(_ bytes: [CChar], _ count: Int) -> [String] {
      bytes.split(separator: 0, maxSplits: count, omittingEmptySubsequences: false).prefix(count)
        .map { String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    }
  }
#endif
