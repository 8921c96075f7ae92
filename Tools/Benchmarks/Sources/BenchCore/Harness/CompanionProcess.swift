import Foundation

/// What this program does when it is started by itself, told by the environment.
enum CompanionProcess {
  private static let waiterKey = "CAMBIUM_BENCH_WAITER_ENGINE"
  private static let folderKey = "CAMBIUM_BENCH_WAITER_FOLDER"

  /// This program.
  static var executable: URL {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: own ?? CommandLine.arguments[0])
  }

  /// Nanoseconds on the clock that all processes share.
  static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The environment of a process that waits for commits to the database of `engine`.
  static func waiter(of engine: String, in folder: TemporaryFolder) -> [String: String] {
    [waiterKey: engine, folderKey: folder.path + "/" + engine]
  }

  /// Waits for commits until the process is killed, if this is such a process; for each, writes how
  /// many nanoseconds ago it began.
  static func waitIfAsked() throws {
    let environment = ProcessInfo.processInfo.environment
    guard let name = environment[waiterKey], let folder = environment[folderKey],
      let type = Programme.engines.first(where: { $0.name == name }),
      let engine = type.init(folder: folder) as? any CommitWaiting
    else { return }
    try engine.open()
    try engine.beginWaiting()
    report(0)
    while true {
      let stamp = try engine.waitForStamp()
      report(now - stamp)
    }
  }

  private static func report(_ nanoseconds: UInt64) {
    withUnsafeBytes(of: nanoseconds) { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }
}
