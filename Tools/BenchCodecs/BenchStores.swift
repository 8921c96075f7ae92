#if Zstd && Crypto && RocksDB
  import ArgumentParser
  import CambiumCore
  import CambiumCrypto
  import CambiumZstd
  import Foundation

  /// The same work over every store, each alone and with codecs.
  ///
  /// Pointers: the key is copied within the call that its bytes are lent for.
  struct BenchStores: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "stores",
      abstract: "Does the same work over memory, file and RocksDB, each plain and with codecs.",
      discussion: """
        Inserts rows of fourteen columns like those of a year of flights in one durable transaction, \
        commits single rows, durably and then without waiting for the medium, opens the store again, reads single rows and scans all of them. \
        What is on the disk is counted after closing, and again after compacting.
        """)

    @Option(help: "How many rows there are.")
    var rows = 1_000_000

    @Option(help: "How often everything is measured; the best counts.")
    var rounds = 3

    @Option(help: "How many commits of a single row are made.")
    var commits = 200

    @Option(help: "The folder whose medium is measured.")
    var folder = NSTemporaryDirectory()

    func run() throws {
      let path = folder + "/bench-stores-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: path) }
      let codecs = try Self.codecs()
      var results: [StoreResult] = []
      for store in BenchedStore.allCases {
        for codec in codecs { results.append(StoreResult(store: store, codec: codec.name)) }
      }
      for _ in 0..<rounds {
        for (index, store) in BenchedStore.allCases.enumerated() {
          for (offset, codec) in codecs.enumerated() {
            let work = StoreWork(
              store: store, path: path + "/store", codec: codec.codec, rowCount: rows,
              commitCount: commits)
            try work.run(into: &results[index * codecs.count + offset])
          }
        }
      }
      StoreReport(results: results, rowCount: rows, commitCount: commits).print()
    }

    private static func codecs() throws(StoreError) -> [Variant] {
      let key = CodecKey(copying: [UInt8](repeating: 7, count: AESCodec.keyByteCount).span)
      let cipher = try AESCodec(key: key)
      let zstd = try ZstdCodec(level: 3)
      return [
        Variant(name: "none", codec: nil), Variant(name: "zstd:3", codec: zstd),
        Variant(name: "aes-256-gcm", codec: cipher),
        Variant(name: "zstd:3+aes-256-gcm", codec: CodecChain([zstd, cipher])),
      ]
    }
  }

  /// What was measured of one store with one codec; times in seconds, the best of all rounds.
  struct StoreResult {
    var store: BenchedStore
    var codec: String
    var insert = Double.infinity
    var commit = Double.infinity
    var relaxed = Double.infinity
    var open = Double.infinity
    var coldScan = Double.infinity
    var scan = Double.infinity
    var points = Double.infinity
    var byteCount = 0
    var compactedByteCount = 0
    /// What the scan summed up, which must be the same for all.
    var sum: UInt64 = 0
  }

  /// A table of the results, ready for a document.
  struct StoreReport {
    var results: [StoreResult]
    var rowCount: Int
    var commitCount: Int

    func print() {
      for result in results {
        precondition(result.sum == results[0].sum, "A scan read something else.")
      }
      var lines = [
        [
          "store", "codec", "bulk insert", "durable commit", "relaxed commit", "open", "first scan",
          "scan", "point read", "on disk", "compacted",
        ]
      ]
      for result in results {
        let isVolatile = result.store == .memory
        lines.append([
          result.store.rawValue, result.codec, String(format: "%.2f s", result.insert),
          isVolatile
            ? String(format: "(%.0f µs)", result.commit * 1e6)
            : String(format: "%.0f µs", result.commit * 1e6),
          String(format: "%.1f µs", result.relaxed * 1e6),
          String(format: "%.2f ms", result.open * 1e3),
          String(format: "%.0f ms", result.coldScan * 1e3),
          String(format: "%.0f ms", result.scan * 1e3),
          String(format: "%.2f µs", result.points / Double(Measurement.pointCount) * 1e6),
          isVolatile ? "–" : String(format: "%.1f MB", Double(result.byteCount) / 1e6),
          isVolatile ? "–" : String(format: "%.1f MB", Double(result.compactedByteCount) / 1e6),
        ])
      }
      for (index, line) in lines.enumerated() {
        Swift.print("| " + line.joined(separator: " | ") + " |")
        if index == 0 { Swift.print("|" + String(repeating: " --- |", count: line.count)) }
      }
    }
  }
#endif
