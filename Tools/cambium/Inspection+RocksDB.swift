#if RocksDB
  import CambiumRocksDB

  extension Inspection {
    /// Prints what RocksDB counts.
    ///
    /// Of its cache that is what reading the pages for the inspection has asked of it.
    static func show(_ counts: RocksDBStatistics) {
      func show(_ name: String, _ text: String) {
        let padding = String(repeating: " ", count: max(1, 17 - name.count))
        Output.line("  \(name)\(padding)\(text)")
      }
      let reads = counts.blockCacheHitCount.flatMap { hits in
        counts.blockCacheMissCount.map { ", \(hits) of \(hits + $0) reads were met by it" }
      }
      Output.line("\nRocksDB")
      show(
        "block cache",
        "\(Output.bytes(counts.blockCacheByteCount)) of \(Output.bytes(counts.blockCacheCapacity))"
          + (reads ?? ""))
      show("live data", "\(Output.bytes(counts.liveDataByteCount)) (estimate)")
      let files = counts.fileCountByLevel.enumerated().filter { $0.element > 0 }
        .map { "\($0.element) at level \($0.offset)" }.joined(separator: ", ")
      show(
        "files",
        (files.isEmpty ? "none" : files) + ", \(Output.bytes(counts.liveFileByteCount))"
          + (counts.fileByteCount > counts.liveFileByteCount
            ? " (\(Output.bytes(counts.fileByteCount)) with obsolete ones)" : ""))
      show("in memory", Output.bytes(counts.memoryTableByteCount))
      show("keys", "\(counts.keyCount) (estimate)")
      show("deletions", "\(counts.deletionCount) not carried out yet")
      show(
        "compaction",
        "\(Output.bytes(counts.pendingCompactionByteCount)) pending (estimate), "
          + "\(counts.runningCompactionCount) running")
      show("snapshots", "\(counts.snapshotCount)")
      show("errors", "\(counts.backgroundErrorCount) in the background")
    }
  }
#endif
