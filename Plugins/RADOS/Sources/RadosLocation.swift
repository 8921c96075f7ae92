#if RADOS
  import CambiumCore

  /// Where a store lies in a Ceph cluster, and how the cluster is reached.
  ///
  /// Users write it as `rados:POOL/NAME`, and behind a question mark what is not as usual:
  ///
  ///     rados:db/ledger?conf=/etc/ceph/ceph.conf&user=admin&cluster=ceph&timeout=10
  ///     rados:db/ledger?cache=/var/cache/ledger.pages&cachesize=4096
  public struct RadosLocation: Hashable, Sendable {
    /// The pool; made by whoever runs the cluster.
    public let pool: String
    /// The store's name; one pool has many stores.
    public let name: String
    /// The path of the cluster's configuration; nil means that librados looks where Ceph's programs look.
    public let configuration: String?
    /// The user of the cluster: `admin` is what Ceph calls `client.admin`.
    public let user: String
    /// What the cluster is called in the names of its files.
    public let cluster: String
    /// After how many seconds an operation that was not answered comes back.
    public let timeoutSeconds: Int

    /// The path of a file on a local disk that keeps pages; nil for none.
    public let localCachePath: String?
    /// How large that file may become, in MiB; nil for what the store says.
    public let localCacheMebibyteCount: Int?

    /// What users call the store: pool and name, without what is behind the question mark.
    public var path: String { "\(Self.scheme)\(pool)/\(name)" }

    /// The space of names that holds the store's objects, and no others.
    var namespace: String { "cambium/\(name)" }

    private static let scheme = "rados:"
    private static let options = [
      "conf", "user", "cluster", "timeout", "cache", "cachesize",
    ]
    private static let timeoutLimit = 3600
    private static let cacheSizeLimit = 1 << 24

    /// Understands `text`, which may begin with `rados:`.
    ///
    /// Throws `StoreError.notAStore(path:reason:)`, which says what is wrong with it.
    public init(_ text: String) throws(StoreError) {
      let place = text.hasPrefix(Self.scheme) ? text.dropFirst(Self.scheme.count) : text[...]
      let whole = Self.scheme + place
      func wrong(_ reason: String) -> StoreError { .notAStore(path: whole, reason: reason) }

      let (names, query) = Self.split(place, at: "?")
      let (pool, name) = Self.split(names, at: "/")
      guard !pool.isEmpty, let name, !name.isEmpty else {
        throw wrong("a pool and a name are missing: rados:POOL/NAME")
      }
      guard Self.isName(pool), pool.utf8.first != UInt8(ascii: ".") else {
        throw wrong("the pool '\(pool)' has characters besides letters, digits, '-', '_' and '.'")
      }
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.allSatisfy({ !$0.isEmpty }) else {
        throw wrong("a part of the name '\(name)' is empty")
      }
      guard parts.allSatisfy(Self.isName) else {
        throw wrong("the name '\(name)' has characters besides letters, digits, '-', '_', '.', '/'")
      }

      var values: [Substring: Substring] = [:]
      for option in query?.split(separator: "&") ?? [] {
        let (key, value) = Self.split(option, at: "=")
        guard Self.options.contains(String(key)) else {
          let known = Self.options.joined(separator: ", ")
          throw wrong("there is no option '\(key)'; there are \(known)")
        }
        guard let value, !value.isEmpty else { throw wrong("the option '\(key)' has no value") }
        guard values.updateValue(value, forKey: key) == nil else {
          throw wrong("the option '\(key)' is there twice")
        }
      }
      for key in ["user", "cluster"] as [Substring] {
        guard Self.isName(values[key] ?? "") else {
          throw wrong("'\(values[key] ?? "")' is no name of a \(key)")
        }
      }
      let timeout = values["timeout"].map { Int($0) ?? 0 } ?? 10
      guard 1...Self.timeoutLimit ~= timeout else {
        throw wrong("the timeout is no number of seconds from 1 to \(Self.timeoutLimit)")
      }

      let cacheSize = values["cachesize"].map { Int($0) ?? 0 }
      guard 1...Self.cacheSizeLimit ~= cacheSize ?? 1 else {
        throw wrong("the size of the cache is no number of MiB from 1 to \(Self.cacheSizeLimit)")
      }
      if cacheSize != nil, values["cache"] == nil {
        throw wrong("there is a size of the cache, but no path: cache=PATH")
      }

      self.pool = String(pool)
      self.name = String(name)
      configuration = values["conf"].map { String($0) }
      user = String(values["user"] ?? "admin")
      cluster = String(values["cluster"] ?? "ceph")
      timeoutSeconds = timeout
      localCachePath = values["cache"].map { String($0) }
      localCacheMebibyteCount = cacheSize
    }

    /// What is before the first `mark`, and what is behind it; nil when there is none.
    private static func split(
      _ text: Substring, at mark: Character
    ) -> (Substring, Substring?) {
      guard let place = text.firstIndex(of: mark) else { return (text, nil) }
      return (text[..<place], text[text.index(after: place)...])
    }

    private static func isName(_ text: Substring) -> Bool {
      text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
          UInt8(ascii: "."):
          true
        default: false
        }
      }
    }
  }
#endif
