import Foundation

/// Runs the built command-line tool as a user would.
struct ToolRunner {
  struct Outcome {
    var status: Int32
    var output: String
    var errors: String

    /// The output as a JSON object.
    var json: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(output.utf8))) as? [String: Any] ?? [:]
    }
  }

  /// The tool as it was built.
  static var executable: URL {
    // The tests run from the folder into which the tool was built.
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
      folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    }
    return folder.appendingPathComponent("cambium")
  }

  /// Runs the tool with `arguments` and waits for it.
  static func run(_ arguments: String...) throws -> Outcome { try run(arguments: arguments) }

  /// Runs the tool with `arguments` and waits for it.
  static func run(arguments: [String]) throws -> Outcome {
    try outcome(of: executable, arguments)
  }

  /// Runs the tool in `folder`, from where paths are looked for.
  static func run(in folder: String, arguments: [String]) throws -> Outcome {
    try outcome(of: executable, arguments, in: folder)
  }

  /// Runs the tool where no file may be longer than so many blocks of 512 bytes.
  static func runLimited(
    fileBlocks: Int, redirecting redirection: String = "", _ arguments: String...
  ) throws -> Outcome {
    // The signal is ignored, so that a write past the limit fails as on a full medium.
    let script = "trap '' XFSZ; ulimit -f \(fileBlocks); exec \"$0\" \"$@\" \(redirection)"
    return try outcome(
      of: URL(fileURLWithPath: "/bin/sh"), ["-c", script, executable.path] + arguments)
  }

  /// Runs the tool with its standard output put where `redirection` of the shell says.
  static func run(redirecting redirection: String, arguments: [String]) throws -> Outcome {
    let script = "exec \"$0\" \"$@\" \(redirection)"
    return try outcome(
      of: URL(fileURLWithPath: "/bin/sh"), ["-c", script, executable.path] + arguments)
  }

  /// Runs the tool with a standard output that nobody reads; whether the signal is ignored that tells
  /// so is inherited.
  static func runUnread(ignoringSignal: Bool, arguments: [String]) throws -> Outcome {
    let script = "\(ignoringSignal ? "trap '' PIPE; " : "")exec \"$0\" \"$@\""
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script, executable.path] + arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try output.fileHandleForReading.close()
    try process.run()
    let errorData = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let isSignal = process.terminationReason == .uncaughtSignal
    return Outcome(
      status: isSignal ? -process.terminationStatus : process.terminationStatus, output: "",
      errors: String(decoding: errorData, as: UTF8.self))
  }

  /// Starts the tool with `arguments`; nobody reads what it prints.
  static func start(_ arguments: String...) throws -> Process {
    try start(arguments: arguments)
  }

  /// Starts the tool with `arguments`; nobody reads what it prints.
  static func start(arguments: [String]) throws -> Process {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Sends the tool a signal once `isUnderWay`, and waits for its end.
  ///
  /// On a busy machine it may be through when the signal comes: then it is started again, after `again`.
  static func startAndSignal(
    _ number: Int32, _ arguments: String..., isUnderWay: () throws -> Bool, again: () throws -> Void
  ) throws -> Process {
    try startAndSignal(number, arguments: arguments, isUnderWay: isUnderWay, again: again)
  }

  static func startAndSignal(
    _ number: Int32, arguments: [String], isUnderWay: () throws -> Bool, again: () throws -> Void
  ) throws -> Process {
    for _ in 0..<20 {
      let process = try start(arguments: arguments)
      while process.isRunning, try !isUnderWay() { sched_yield() }
      if process.isRunning { kill(process.processIdentifier, number) }
      process.waitUntilExit()
      if process.terminationReason == .uncaughtSignal || process.terminationStatus != 0 {
        return process
      }
      try again()
    }
    throw NeverInTime()
  }

  private struct NeverInTime: Error {}

  /// Starts the tool with `arguments`; what it prints comes out of the handle.
  static func startReading(_ arguments: String...) throws -> (Process, FileHandle) {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    return (process, output.fileHandleForReading)
  }

  private static func outcome(
    of program: URL, _ arguments: [String], in folder: String? = nil
  ) throws -> Outcome {
    let process = Process()
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    process.executableURL = program
    process.arguments = arguments
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let outputData = output.fileHandleForReading.readDataToEndOfFile()
    let errorData = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: String(decoding: outputData, as: UTF8.self),
      errors: String(decoding: errorData, as: UTF8.self))
  }
}
