#if RocksDB
  import Foundation

  /// The log that RocksDB keeps in its folder, for what its C interface does not tell.
  struct RocksLog {
    let folder: String

    /// What stopped a compaction, the error with the number `count` of this database; nil when nothing is
    /// said of it within two seconds.
    ///
    /// RocksDB writes that after it has told its caller that the compaction is over.
    func compactionError(_ count: Int) -> String? {
      for _ in 0..<200 {
        let log = (try? String(contentsOfFile: folder + "/LOG", encoding: .utf8)) ?? ""
        if let end = log.range(
          of: ", Accumulated background error counts: \(count)\n", options: .backwards),
          let start = log.range(
            of: "compaction error: ", options: .backwards, range: log.startIndex..<end.lowerBound)
        {
          return String(log[start.upperBound..<end.lowerBound])
        }
        usleep(10_000)
      }
      return nil
    }
  }
#endif
