import ArgumentParser
import Foundation

/// Makes small transactions one after the other, and tells what one takes.
@main struct BenchCommits: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-commits",
    abstract: "Makes small transactions, each in a process of its own, and tells what one takes.",
    discussion: """
      Instructions are those of the program, counted by valgrind: the difference of two runs of different \
      length, divided by that of their transactions. They hardly depend on what else the machine does; what runs \
      in the background counts, what the system does does not. Times are medians of transactions.
      """)

  @Option(help: "How many rows the database has.") var rows = 100_000
  @Option(help: "How many transactions are timed.") var commits = 20_000
  @Option(help: "The folder in which a temporary one is made.") var directory = "/var/tmp"
  @Option(
    parsing: .upToNextOption,
    help: "Which subjects: \(Subject.allCases.map(\.rawValue).joined(separator: ", ")).")
  var only: [Subject] = Subject.allCases
  @Flag(help: "Counts instructions under valgrind, too.") var instructions = false
  /// Set for the process that makes the transactions of one subject.
  @Option(help: .hidden) var subject: Subject?
  @Option(help: .hidden) var file: String?

  func run() throws {
    if let subject, let file {
      let work = try subject.open(file: file, rows: rows)
      var times: [Double] = []
      times.reserveCapacity(commits)
      for number in 0..<commits {
        let duration = try ContinuousClock().measure { try work(number) }
        times.append(duration / .microseconds(1))
      }
      times.sort()
      print(times.isEmpty ? 0 : times[times.count / 2])
      return
    }
    let folder = directory + "/cambium-commits-\(ProcessInfo.processInfo.processIdentifier)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for subject in only {
      let time = try output(subject, folder, commits)
      var line = subject.rawValue.padding(toLength: 28, withPad: " ", startingAt: 0)
      line += String(format: "%8.2f µs", Double(time) ?? .nan)
      if instructions {
        // So many that what differs in making the rows, by threads that pack them, does not show.
        let counts = try [100, 10_100].map { commits in
          try counted(subject, folder, commits)
        }
        line += String(format: "%8.1f thousand instructions", Double(counts[1] - counts[0]) / 1e7)
      }
      print(line)
    }
  }

  /// What a process prints that makes `commits` transactions.
  private func output(_ subject: Subject, _ folder: String, _ commits: Int) throws -> String {
    try output(of: [Self.executable] + arguments(subject, folder, commits), folder)
  }

  /// How many instructions a process takes that makes `commits` transactions.
  private func counted(_ subject: Subject, _ folder: String, _ commits: Int) throws -> Int {
    let own = NSTemporaryDirectory() + "bench-commits-\(ProcessInfo.processInfo.processIdentifier)"
    let (profile, program) = (own + ".profile", own + ".program")
    defer { for file in [profile, program] { try? FileManager.default.removeItem(atPath: file) } }
    // valgrind does not read every compiler's notes for debuggers, and needs none.
    _ = try output(of: ["strip", "-g", "-o", program, Self.executable], folder)
    let tool = [
      Self.withoutStringInstructions, "valgrind", "-q", "--tool=callgrind",
      "--callgrind-out-file=" + profile, program,
    ]
    _ = try output(of: tool + arguments(subject, folder, commits), folder)
    let lines = try String(contentsOfFile: profile, encoding: .utf8).split(separator: "\n")
    guard let totals = lines.last(where: { $0.hasPrefix("totals: ") }),
      let count = Int(totals.dropFirst("totals: ".count))
    else { throw ExitCode.failure }
    return count
  }

  /// Has the C library copy by vectors: valgrind counts an instruction that copies a string once per byte.
  private static let withoutStringInstructions =
    "GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1073741824"
    + ":glibc.cpu.x86_rep_stosb_threshold=1073741824"

  private static let executable =
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path

  private func arguments(_ subject: Subject, _ folder: String, _ commits: Int) -> [String] {
    [
      "--subject", subject.rawValue, "--file", folder + "/store", "--rows", "\(rows)",
      "--commits", "\(commits)",
    ]
  }

  /// What `command` prints when it has an empty `folder` to work in.
  private func output(of command: [String], _ folder: String) throws -> String {
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    let output = Pipe()
    process.standardOutput = output
    // valgrind complains of each system call that it does not know.
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ExitCode(process.terminationStatus) }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
