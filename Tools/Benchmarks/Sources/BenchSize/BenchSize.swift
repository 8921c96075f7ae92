import ArgumentParser
import Foundation

/// Shows what a small commit takes in files of very different sizes.
@main struct BenchSize: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-size",
    abstract: "Makes small commits in files of very different sizes, and tells what one takes.",
    discussion: """
      Each size has a process of its own. The file is sparse: it is filled with pages that are counted, but never \
      written. Then each commit gives up pages at random places of all of it and writes as many new ones. What \
      differs between the sizes is what the store's own bookkeeping takes: the free map and the records. The \
      command fails when the largest file takes more than a tenth more bytes than the smallest, or more than \
      24 MiB more memory, and when many databases take more than 8 threads or 256 KiB each.

      Then a thread begins and ends reads beside a writer that lets a version go for which a million pages \
      wait. At last a process opens many databases. With --row-sizes it makes real files of rows instead, as large \
      as is asked for, and transactions of one row in them.
      """)

  @Option(parsing: .upToNextOption, help: "The sizes of the files, in GiB.")
  var sizes = [1, 32, 256]
  @Option(
    parsing: .upToNextOption, help: "The sizes of real files of rows, in GiB, and nothing else.")
  var rowSizes: [Double] = []
  @Option(help: "How many commits are counted.") var commits = 4_000
  @Option(help: "How many pages wait for the version that is let go.") var waiting = 1_000_000
  @Option(help: "How many databases are opened at a time; a tenth of them is written to.")
  var databases = 1_000
  @Option(help: "The folder in which a temporary one is made.") var directory = "/var/tmp"
  /// Set for the processes that fill a file of one size, and work on it.
  @Option(help: .hidden) var fill: Int?
  @Option(help: .hidden) var size: Int?
  @Option(help: .hidden) var file: String?

  func run() throws {
    if let fill, let file { return try SizeCourse.fill(path: file, gibibytes: fill) }
    if let size, let file {
      var course = try SizeCourse(path: file, gibibytes: size, commitCount: commits)
      let report = try course.run()
      print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
      return
    }
    let folder = directory + "/cambium-size-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    if !rowSizes.isEmpty {
      return try RowCourse(folder: folder, gibibytes: rowSizes, commitCount: 5 * commits).run()
    }
    print(SizeReport.heading)
    var reports: [SizeReport] = []
    for size in sizes {
      let report = try report(size, folder + "/\(size).cambium")
      print(report.line)
      reports.append(report)
    }
    if waiting > 0 {
      print("")
      for line in try PinCourse(path: folder + "/pins.cambium", waitingCount: waiting).run() {
        print(line)
      }
    }
    var isWithin = true
    if databases > 0 {
      print("")
      let course = DatabasesCourse(
        folder: folder, count: databases, activeCount: max(1, databases / 10))
      let (lines, isFine) = try course.run()
      for line in lines { print(line) }
      isWithin = isFine
    }
    guard let first = reports.first, let last = reports.last else { return }
    print(
      String(
        format: "\nthe largest beside the smallest: bytes %.3f, time %.2f, memory %.3f",
        last.bytesPerCommit / first.bytesPerCommit,
        last.microsecondsPerCommit / first.microsecondsPerCommit,
        last.memoryMebibytes / first.memoryMebibytes))
    if !isWithin || last.bytesPerCommit > 1.1 * first.bytesPerCommit
      || last.memoryMebibytes > 24 + first.memoryMebibytes
    {
      throw ExitCode.failure
    }
  }

  /// What the process of one size tells.
  private func report(_ size: Int, _ file: String) throws -> SizeReport {
    _ = try output(["--fill", "\(size)", "--file", file])
    let data = try output(["--size", "\(size)", "--file", file, "--commits", "\(commits)"])
    return try JSONDecoder().decode(SizeReport.self, from: data)
  }

  /// What another process of this program prints.
  private func output(_ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    if let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
      process.executableURL = URL(fileURLWithPath: own)
    }
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ExitCode.failure }
    return data
  }
}
