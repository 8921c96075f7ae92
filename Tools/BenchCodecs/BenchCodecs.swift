#if Zstd && Crypto
  import ArgumentParser
  import CambiumCore
  import CambiumCrypto
  import CambiumFile
  import CambiumZstd
  import Foundation

  /// What codecs cost and save on a store that is there, and stores beside one another: bytes, scans,
  /// single reads, inserts.
  @main
  struct BenchCodecs: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "bench-codecs",
      abstract: "What codecs and stores cost.", subcommands: subcommands,
      defaultSubcommand: MeasureCodecs.self)

    private static var subcommands: [any ParsableCommand.Type] {
      #if RocksDB
        [MeasureCodecs.self, BenchStores.self]
      #else
        [MeasureCodecs.self]
      #endif
    }
  }

  /// Measures copies of one store.
  struct MeasureCodecs: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "codecs",
      abstract: "Copies a plain store through codecs and measures each copy beside a plain one.")

    @Argument(help: "A store without codec, such as the one that 'make demo AT=PATH' keeps.")
    var path: String

    @Option(help: "How often everything is measured; the best counts.")
    var rounds = 5

    @Option(help: "How many rows a bulk insert has.")
    var rows = 200_000

    @Option(help: "The codecs to measure besides none, by name; all unless given.")
    var only: [String] = []

    func run() throws {
      let folder = NSTemporaryDirectory() + "bench-codecs-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let variants = try Variant.all(from: path)
        .filter { only.isEmpty || $0.codec == nil || only.contains($0.name) }
      var results = variants.map { _ in Result() }
      for (index, variant) in variants.enumerated() {
        let copy = folder + "/\(index)"
        _ = try FileStore.compact(
          path: path, output: copy, recoding: { _ throws(StoreError) in variant.codec })
        results[index].byteCount = try FileStore.inspect(path: copy).fileByteCount
      }
      for round in 0..<rounds {
        for (index, variant) in variants.enumerated() {
          let copy = folder + "/\(index)"
          try Measurement(path: copy, codec: variant.codec).run(into: &results[index])
          if round < 3 {
            try BulkInsert(path: folder + "/insert", codec: variant.codec, rowCount: rows)
              .run(into: &results[index])
          }
        }
      }
      Report(names: variants.map(\.name), results: results).print()
    }
  }

  /// A chain of codecs to be measured.
  ///
  /// Pointers: the key is copied within the call that its bytes are lent for.
  struct Variant {
    var name: String
    var codec: (any PageCodec)?

    /// The plain one first; the dictionary is trained on the store at `path`.
    static func all(from path: String) throws(StoreError) -> [Variant] {
      let source = try Database(
        store: FileStore(path: path, options: FileStoreOptions(isReadOnly: true)))
      let dictionary = try ZstdCodec.dictionary(from: source)
      try source.close()
      let key = CodecKey(copying: [UInt8](repeating: 7, count: AESCodec.keyByteCount).span)
      let cipher = try AESCodec(key: key)
      return [
        Variant(name: "none", codec: nil),
        Variant(name: "zstd:1", codec: try ZstdCodec(level: 1)),
        Variant(name: "zstd:3", codec: try ZstdCodec(level: 3)),
        Variant(name: "zstd:3, dictionary", codec: try ZstdCodec(level: 3, dictionary: dictionary)),
        Variant(name: "zstd:19", codec: try ZstdCodec(level: 19)),
        Variant(name: "aes-256-gcm", codec: cipher),
        Variant(
          name: "zstd:3+aes-256-gcm", codec: CodecChain([try ZstdCodec(level: 3), cipher])),
      ]
    }
  }
#endif
