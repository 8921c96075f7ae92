import CPlatform
import CambiumCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// From a storage to a root that was read, and a lease on its version.
struct ClusterOpening {
  let storage: any ObjectStorage
  let options: ClusterOptions
  let lanes: ClusterLanes

  /// What a store begins with.
  struct Opened {
    var client: ObjectClient
    var identity: RootIdentity
    var reader: RootReader
    var image: RootReader.Image
    var lease: PinLease
    var localCache: LocalCache?
  }

  private static let firstByteCount = 8192

  func open() throws(StoreError) -> Opened {
    let client = ObjectClient(
      storage: storage, timeoutNanoseconds: ClusterOptions.nanoseconds(options.readTimeoutSeconds),
      clock: BackgroundJob(lanes.leases))
    let identity = try identity(client)
    let name = options.codec?.name ?? ""
    guard identity.codec == name else {
      throw .codecMismatch(
        path: storage.path, found: identity.codec.isEmpty ? "none" : identity.codec,
        expected: name.isEmpty ? "none" : name)
    }
    let codec = try options.codec?.bound(to: identity.number, parameters: identity.parameters)
    let cache = try localCache(identity)
    let reader = RootReader(client: client, codec: codec, identity: identity)
    while true {
      guard let image = try reader.read(after: nil) else { continue }
      let lease = try PinLease(
        image.header.newestVersion, name: Self.holderName(options.holder),
        seconds: options.pinLeaseSeconds, client: client)
      // A version may have gone before it was pinned: who removes one has raised the floor first.
      var newest = image
      do throws(StoreError) {
        if let later = try reader.read(after: image.header) {
          if later.header.floor > image.header.newestVersion {
            lease.end(client)
            continue
          }
          newest = Self.joined(image, later)
        }
      } catch {
        lease.end(client)
        throw error
      }
      return Opened(
        client: client, identity: identity, reader: reader, image: newest, lease: lease,
        localCache: cache)
    }
  }

  /// The file with pages on a local disk, if there is to be one and nobody else has it.
  private func localCache(_ identity: RootIdentity) throws(StoreError) -> LocalCache? {
    guard let path = options.localCachePath else { return nil }
    return try LocalCache(
      path: path, byteCount: options.localCacheByteCount,
      uuid: (identity.uuidHigh, identity.uuidLow), lane: lanes.localCache)
  }

  private static func joined(
    _ image: RootReader.Image, _ later: RootReader.Image
  ) -> RootReader.Image {
    if later.isWhole { return later }
    var joined = image
    joined.header = later.header
    joined.commits += later.commits
    return joined
  }

  /// A name that no other process has.
  private static func holderName(_ text: String) -> String {
    let number = String(UInt64.random(in: 0 ... .max), radix: 36)
    return text.isEmpty ? number : "\(text).\(number)"
  }

  /// What the store is; made if there is none.
  private func identity(_ client: ObjectClient) throws(StoreError) -> RootIdentity {
    let taken = StoreError.system(operation: "create", path: storage.path, code: EEXIST)
    if let found = try readIdentity(client) {
      if options.mustBeNew { throw taken }
      return found
    }
    if options.isReadOnly { throw .notFound(path: storage.path) }
    try StoreLimits.check(blockByteCount: options.blockByteCount)
    let identity = try RootIdentity(for: options.codec, blockByteCount: options.blockByteCount)
    let header = RootHeader(logStart: identity.headerOffset + RootHeader.byteCount)
    var bytes = identity.bytes + header.bytes
    bytes += repeatElement(0, count: header.logEnd - bytes.count)
    do throws(ObjectFailure) {
      _ = try storage.perform(.create(name: ObjectNames.root, bytes: bytes))
    } catch {
      switch error {
      // Somebody else was quicker, or this was done and the answer is lost.
      case .exists, .unknown: break
      default: throw client.error(error, "make")
      }
    }
    guard let found = try readIdentity(client) else {
      throw .unreachable(path: storage.path, operation: "make", reason: "no answer came")
    }
    if options.mustBeNew, found.number != identity.number { throw taken }
    return found
  }

  private func readIdentity(_ client: ObjectClient) throws(StoreError) -> RootIdentity? {
    guard
      let start = try client.read(ObjectNames.root, [0..<Self.firstByteCount], "open")?.first
    else { return nil }
    var bytes = start.copy(0..<start.byteCount)
    let count = try RootIdentity.byteCount(bytes, path: storage.path)
    if count > bytes.count {
      guard let whole = try client.read(ObjectNames.root, [0..<count], "open")?.first else {
        return nil
      }
      bytes = whole.copy(0..<whole.byteCount)
    }
    guard bytes.count >= count else {
      throw .damaged(Damage(.head, "the root of '\(storage.path)' is cut"))
    }
    return try RootIdentity(Array(bytes.prefix(count)), path: storage.path)
  }
}

extension StoreLimits {
  fileprivate static func check(blockByteCount: Int) throws(StoreError) {
    precondition(
      blockByteCount >= 4096 && blockByteCount.isMultiple(of: Extent.unitByteCount)
        && blockByteCount <= 64 << 20,
      "A block has between 4 KiB and 64 MiB, and a multiple of 64 bytes.")
  }
}
