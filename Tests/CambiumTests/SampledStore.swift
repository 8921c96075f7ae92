import Cambium
import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

#if RocksDB
  import CambiumRocksDB
#endif
#if Zstd
  import CambiumZstd
#endif
#if Crypto
  import CambiumCrypto
#endif

/// Where a test's Realm lives: a kind of store, and what its pages go through.
///
/// A test gets one of them by its name and the seed `CAMBIUM_TEST_SEED`, 1 unless it is set, so that a
/// suite as a whole meets many. `CAMBIUM_TEST_STORE` puts all tests on one, such as `rocksdb+zstd`.
struct SampledStore: Hashable, CustomStringConvertible {
  enum Kind: String, CaseIterable {
    case memory, file, rocksdb
  }

  enum Codec: String, CaseIterable {
    case none = ""
    case zstd = "+zstd"
    case aes = "+aes"
    case both = "+zstd+aes"
  }

  var kind: Kind
  var codec: Codec

  var description: String { kind.rawValue + codec.rawValue }
  var isPersistent: Bool { kind != .memory }

  /// What this build has.
  static let all: [SampledStore] = {
    var all: [SampledStore] = []
    for kind in Kind.allCases {
      for codec in Codec.allCases {
        let one = SampledStore(kind: kind, codec: codec)
        if one.store != nil, codec == .none || one.realmCodec != nil { all.append(one) }
      }
    }
    return all
  }()

  static let plain = SampledStore(kind: .file, codec: .none)
  static let memory = SampledStore(kind: .memory, codec: .none)

  // MARK: Realms

  private var store: Realm.Store? {
    switch kind {
    case .memory: return .memory
    case .file: return .file
    case .rocksdb:
      #if RocksDB
        return .rocksDB()
      #else
        return nil
      #endif
    }
  }

  private static let key = [UInt8](repeating: 7, count: 64)

  /// Makes the codec anew each time, as different users of one store do.
  private var realmCodec: Realm.Codec? {
    let small: (@Sendable () throws(StoreError) -> any PageCodec)?
    #if Zstd
      small = { () throws(StoreError) in try ZstdCodec() }
    #else
      small = nil
    #endif
    let secret: (@Sendable () throws(StoreError) -> any PageCodec)?
    #if Crypto
      secret = { () throws(StoreError) in
        try AESCodec(key: CodecKey(copying: Self.key.span))
      }
    #else
      secret = nil
    #endif
    switch codec {
    case .none: return nil
    case .zstd: return small.map { Realm.Codec(name: "zstd", make: $0) }
    case .aes: return secret.map { Realm.Codec(name: "aes-256-gcm", make: $0) }
    case .both:
      guard let small, let secret else { return nil }
      return Realm.Codec(name: "zstd+aes-256-gcm") { () throws(StoreError) in
        CodecChain([try small(), try secret()])
      }
    }
  }

  /// What the store's pages go through; nil for nothing.
  func makeCodec() throws(StoreError) -> (any PageCodec)? { try realmCodec?.make() }

  /// A configuration of this store at `path`, which is only a name in memory.
  func configuration(_ path: String, _ types: [ObjectBase.Type]?) -> Realm.Configuration {
    guard let store else { preconditionFailure("This build has no \(self).") }
    var configuration =
      isPersistent
      ? Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: types)
      : Realm.Configuration(inMemoryIdentifier: path, objectTypes: types)
    configuration.store = store
    configuration.codec = realmCodec
    return configuration
  }

  /// Notes a failure unless what the configuration describes, and nobody has open, is sound below the
  /// object layer; nothing is left of memory.
  func expectSound(_ configuration: Realm.Configuration) throws {
    guard let path = configuration.fileURL?.path else { return }
    let request = Realm.StoreRequest(path: path, isReadOnly: true, codec: try makeCodec())
    let database = try Database(store: configuration.store.open(request), codec: request.codec)
    #expect(try database.verify().findings == [], "\(self)")
    var verifier = ObjectVerifier(snapshot: try database.snapshot())
    #expect(try verifier.run() == [], "\(self)")
    try database.close()
  }

  // MARK: Choosing

  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["CAMBIUM_TEST_SEED"].flatMap(UInt64.init) ?? 1
  /// What was chosen already, by place or test.
  private static let chosen = Mutex<[String: SampledStore]>([:])

  /// The one for a seed of a test with many.
  static func one(seed: UInt64, persistent: Bool) -> SampledStore {
    let candidates = all.filter { $0.isPersistent || !persistent }
    return only.map {
      $0.isPersistent || !persistent ? $0 : SampledStore(kind: .file, codec: $0.codec)
    }
      ?? candidates[Int((seed &+ Self.seed) % UInt64(candidates.count))]
  }

  private static let announced = Mutex<Set<String>>([])

  private static let only: SampledStore? = environment["CAMBIUM_TEST_STORE"].map { name in
    guard let store = all.first(where: { $0.description == name }) else {
      fatalError("CAMBIUM_TEST_STORE is '\(name)', which is none of \(all).")
    }
    return store
  }

  /// The store for the Realm that a test has at `place`, the same each time; says which, once.
  ///
  /// A thread of the test's own that asks first gets the plain one.
  static func forTest(at place: String, persistent: Bool) -> SampledStore {
    if let known = chosen.withLock({ $0[place] }) { return known }
    var store = persistent ? plain : memory
    if let only {
      store = only
    } else if let test = Test.current {
      let name = "\(seed) \(test.sourceLocation.fileID) \(test.name)"
      let hash = Array(name.utf8).withUnsafeBytes { Checksum.hash($0) }
      store = all[Int(hash % UInt64(all.count))]
    }
    if persistent, !store.isPersistent { store.kind = .file }
    chosen.withLock { $0[place] = store }
    if let test = Test.current, announced.withLock({ $0.insert("\(test.name) \(store)").inserted })
    {
      print("◇ Test \"\(test.name.filter { $0 != "`" })\" has Realms in \(store)")
    }
    return store
  }

  /// A configuration that no other test shares.
  static func configuration(_ types: [ObjectBase.Type]?) -> Realm.Configuration {
    configuration(named: UUID().uuidString, types)
  }

  /// The configuration of that name.
  static func configuration(
    named name: String, _ types: [ObjectBase.Type]?
  ) -> Realm.Configuration {
    let store = forTest(at: name, persistent: false)
    return store.configuration(store.isPersistent ? TemporaryFolder.root + "/" + name : name, types)
  }

}
