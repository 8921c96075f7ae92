import ArgumentParser
import CambiumCore
import CambiumFile
import CambiumToolKit
import Foundation

/// `cambium watch PATH`: what happens in a store while others use it.
struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Shows versions, commits per second, sizes and pins of a store while it is used.",
    discussion: """
      A line now, and another whenever something has changed, once in --interval seconds at most:

        cambium watch people.realm
        cambium watch people.realm --interval 0.2 --json
        cambium watch people.realm --count 1

      Nothing is changed or locked, and no version is held in between. Ctrl-C ends it.
      """)

  @OptionGroup var options: CommonOptions

  @Option(help: "The shortest time between two lines, in seconds.") var interval = 1.0

  @Option(help: "End after so many lines.") var count: Int?

  func validate() throws {
    guard interval >= 0.01, interval <= 86_400 else {
      throw ValidationError("--interval takes 0.01 to 86400 seconds.")
    }
    if let count, count < 1 { throw ValidationError("--count takes 1 or more.") }
  }

  func run() throws {
    try options.reportingErrors {
      let location = try options.location()
      try OfflineStore.withStore(location, key: options.key()) { store, database in
        var last: Sample?
        var left = count ?? .max
        while true {
          let sample = try Sample(database, location)
          guard database.isInPlace else { throw StoreError.moved(path: location.path) }
          if last.map({ !$0.showsSame(as: sample) }) ?? true {
            sample.show(after: last, isJSON: options.json)
            last = sample
            left -= 1
            if left == 0 { return }
          }
          let start = Date()
          // Pins come and go without a commit.
          _ = store.waitForCommit(
            after: sample.version, timeoutNanoseconds: Int64(interval * 1e9))
          Thread.sleep(forTimeInterval: max(0, interval - Date().timeIntervalSince(start)))
        }
      }
    }
  }
}

/// What a store looks like at one moment.
private struct Sample {
  struct Pin: Equatable {
    var process: UInt32
    var label: String
    var versions: ClosedRange<Version>
    var since: UInt64
  }

  let version, durableVersion: Version
  private let time = Date()
  private let total, free, pending: Int
  private let pins: [Pin]

  init(_ database: Database, _ location: StoreLocation) throws(StoreError) {
    let statistics = try database.statistics()
    version = statistics.newestVersion
    durableVersion = statistics.durableVersion
    (total, free, pending) = (
      statistics.totalByteCount, statistics.freeByteCount, statistics.pendingByteCount
    )
    let own = UInt32(getpid())
    let known =
      location.choice.kind == "file"
      ? (try? FileStore.inspect(path: location.path).pins) ?? [] : []
    pins = known.filter { $0.processNumber != own }.map {
      Pin(process: $0.processNumber, label: $0.label, versions: $0.versions, since: $0.since)
    }
  }

  /// Whether there is nothing new to show.
  func showsSame(as other: Sample) -> Bool {
    version == other.version && durableVersion == other.durableVersion && total == other.total
      && free == other.free && pending == other.pending && pins == other.pins
  }

  func show(after last: Sample?, isJSON: Bool) {
    let seconds = last.map { time.timeIntervalSince($0.time) } ?? 0
    let commits = last.map { version - $0.version } ?? 0
    let rate = seconds > 0 ? Double(commits) / seconds : 0
    let now = time.timeIntervalSince1970
    if isJSON {
      let pins = pins.map { pin in
        JSONValue.object([
          .init("process", .integer(Int64(pin.process))), .init("label", .string(pin.label)),
          .init("version", .integer(Int64(pin.versions.lowerBound))),
          .init("newestVersion", .integer(Int64(pin.versions.upperBound))),
          .init("ageSeconds", .number(max(0, now - Double(pin.since) / 1e9))),
        ])
      }
      return Output.line(
        JSONValue.object([
          .init("time", .string(DateText.text(.init(time)))),
          .init("version", .integer(Int64(version))),
          .init("durableVersion", .integer(Int64(durableVersion))),
          .init("commits", .integer(Int64(commits))), .init("commitsPerSecond", .number(rate)),
          .init("total", .integer(Int64(total))), .init("free", .integer(Int64(free))),
          .init("pending", .integer(Int64(pending))), .init("pins", .array(pins)),
        ]).line)
    }
    let clock = DateFormatter()
    clock.dateFormat = "HH:mm:ss"
    var line = "\(clock.string(from: time))  version \(version)"
    if last != nil { line += String(format: " (+%d, %.1f a second)", Int(commits), rate) }
    if durableVersion != version { line += ", durable \(durableVersion)" }
    line += "  \(Output.bytes(total)), \(Output.bytes(free)) free, \(Output.bytes(pending)) pending"
    for pin in pins {
      let label = pin.label.isEmpty ? "" : " (\(pin.label))"
      let age = Int(max(0, now - Double(pin.since) / 1e9))
      line += "  pin \(pin.versions.lowerBound) by \(pin.process)\(label), \(age) s"
    }
    Output.line(line)
  }
}
