import CambiumCluster
import CambiumCore
import CambiumFile
import CambiumMemory
import CambiumStoreContract
import Foundation
import SimulatedCluster
import TestSupport

#if Crypto
  import CambiumCrypto
#endif
#if RocksDB
  import CambiumRocksDB
#endif
#if Zstd
  import CambiumZstd
#endif

/// The stores and codecs that are held against the contract, each store with each codec.
///
/// A new one is a line here.
enum Matrix {
  static let stores: [StoreSubject] = {
    var stores = [memory, file("file", .mapped), file("buffered", .buffered), cluster]
    #if RocksDB
      stores.append(rocksDB)
    #endif
    return stores
  }()

  static let codecs: [CodecSubject] = {
    var codecs = [CodecSubject("mask") { () throws(StoreError) in MaskCodec() }]
    #if Zstd
      codecs.append(CodecSubject("zstd") { () throws(StoreError) in try ZstdCodec() })
    #endif
    #if Crypto
      codecs.append(sealing("aes") { () throws(StoreError) in try aes() })
      #if Zstd
        codecs.append(
          sealing("zstd+aes") { () throws(StoreError) in CodecChain([try ZstdCodec(), try aes()]) })
      #endif
    #endif
    return codecs
  }()

  #if Crypto
    private static func sealing(
      _ name: String, make: @escaping @Sendable () throws(StoreError) -> any PageCodec
    ) -> CodecSubject {
      var subject = CodecSubject(name, make: make)
      subject.authenticates = true
      return subject
    }

    private static func aes() throws(StoreError) -> AESCodec {
      try AESCodec(
        key: CodecKey(copying: [UInt8](repeating: 7, count: 64).span))
    }
  #endif

  /// Each store with each codec.
  static let storesWithCodecs: [StoreSubject] = stores.flatMap { store in
    codecs.map { store.with(codec: $0.name, $0.make) }
  }

  /// A few stores whose operations tests can let fail.
  static let storesWithFaults: [StoreSubject] = [memory, file("file", .mapped)].map { subject in
    var failing = subject
    failing.name += " with faults"
    failing.open = { place throws(StoreError) in
      let choice = StoreChoice(kind: subject.name) { _ throws(StoreError) in
        try subject.open(place)
      }
      return try choice.failing(by: StoreFaults()).open(StoreRequest(path: place.path))
    }
    return failing
  }

  // MARK: Samples

  /// A store and a promise it is held against.
  struct Pair: Sendable, CustomStringConvertible {
    let subject: StoreSubject
    let promise: ContractCase<StoreSubject>
    var description: String { "\(subject): \(promise)" }
  }

  private static let environment = ProcessInfo.processInfo.environment

  /// Stores with codecs and the promises they are held against, by sample.
  ///
  /// What outlives a store is asked of all, as codecs see to its records; of the rest every fourth
  /// pair, chosen by `CAMBIUM_TEST_SEED`, 1 unless it is set. `CAMBIUM_TEST_STORE` chooses one store,
  /// such as `rocksdb+zstd+aes`, for all promises; `all` takes all pairs.
  static let sample: [Pair] = {
    let seed = environment["CAMBIUM_TEST_SEED"] ?? "1"
    let only = environment["CAMBIUM_TEST_STORE"]
    let pairs = storesWithCodecs.flatMap { subject in
      StoreContract.cases.map { Pair(subject: subject, promise: $0) }
    }
    guard only == nil else { return pairs.filter { only == "all" || $0.subject.name == only } }
    let reopening = Set(StoreContract.reopening.map(\.name))
    let sample = pairs.filter { pair in
      let name = Array("\(seed) \(pair)".utf8)
      return reopening.contains(pair.promise.name)
        || name.withUnsafeBytes { Checksum.hash($0) } % 4 == 0
    }
    print("The contract takes \(sample.count) of \(pairs.count) pairs with codecs, seed \(seed)")
    return sample
  }()

  private static let memory: StoreSubject = {
    var subject = StoreSubject("memory") { place throws(StoreError) in
      guard let codec = place.codec else { return MemoryStore(name: place.path) }
      return try MemoryStore(name: place.path, codec: codec)
    }
    subject.isPersistent = false
    subject.canBeReadOnly = false
    subject.sharing = .shared
    subject.keptMetadataCount = CommitMetadata.keptCount
    return subject
  }()

  private static func file(
    _ name: String, _ access: FileStoreOptions.Access
  ) -> StoreSubject {
    var subject = StoreSubject(name) { place throws(StoreError) in
      var options = FileStoreOptions(
        access: access, isReadOnly: place.isReadOnly, codec: place.codec)
      options.checkpointAfterRecordCount = 4
      return try FileStore(path: place.path, options: options)
    }
    subject.sharing = .shared
    // Half of the records stay.
    subject.keptMetadataCount = 2
    // A file grows ahead of need.
    subject.slackByteCount = 4 << 20
    return subject
  }

  private static let cluster: StoreSubject = {
    var subject = StoreSubject("cluster") { place throws(StoreError) in
      var options = ClusterOptions.small(isReadOnly: place.isReadOnly, codec: place.codec)
      options.pollSeconds = 0.05
      return try ClusterStore(
        InstantObjects(SimulatedClusters.named(place.path), path: place.path), options: options)
    }
    subject.hasFiles = false
    // What is removed a moment later.
    subject.slackByteCount = 4 << 20
    subject.sharing = .later
    subject.keptMetadataCount = CommitMetadata.keptCount
    return subject
  }()

  #if RocksDB
    private static let rocksDB: StoreSubject = {
      var subject = StoreSubject("rocksdb") { place throws(StoreError) in
        var options = RocksDBOptions(isReadOnly: place.isReadOnly, codec: place.codec)
        options.writeBufferByteCount = 256 << 10
        options.batchByteCount = 64 << 10
        return try RocksDBStore(path: place.path, options: options)
      }
      subject.keptMetadataCount = CommitMetadata.keptCount
      // Logs, and what waits for compaction.
      subject.slackByteCount = 8 << 20
      return subject
    }()
  #endif
}
