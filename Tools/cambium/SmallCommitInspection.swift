import CambiumFile

/// What small commits have left in a file and in memory.
struct SmallCommitInspection: Encodable {
  struct Versions: Encodable {
    var first, last: UInt64

    init?(_ range: ClosedRange<UInt64>?) {
      guard let range else { return nil }
      (first, last) = (range.lowerBound, range.upperBound)
    }

    var text: String { first == last ? "version \(first)" : "versions \(first) to \(last)" }
  }

  struct Log: Encodable {
    var offset, bytes, usedBytes: Int
    var versions: Versions?
  }

  /// The versions whose newest pages lie in memory, and how many bytes these take.
  var inMemory: Versions?
  var pageBytes: Int
  var log: Log?

  init(_ statistics: SmallCommitStatistics) {
    inMemory = Versions(statistics.versionsInMemory)
    pageBytes = statistics.pageByteCount
    log = statistics.log.map {
      Log(
        offset: $0.byteOffset, bytes: $0.byteCount, usedBytes: $0.usedByteCount,
        versions: Versions($0.versions))
    }
  }

  func printForPeople() {
    if let inMemory {
      Output.line("  in memory        \(Output.bytes(pageBytes)) of pages, of \(inMemory.text)")
    }
    guard let log else { return }
    let used = log.versions.map { ", \(Output.bytes(log.usedBytes)) used by \($0.text)" }
    Output.line(
      "  log              \(Output.bytes(log.bytes)) at byte \(log.offset)\(used ?? "")")
  }
}
