import Foundation

/// The tool as it runs in a terminal: the leader of a session there, with nothing that tests inherited.
final class TerminalProcess {
  /// How a process has ended.
  enum End: Equatable {
    case status(Int32)
    case signal(Int32)
  }

  let terminal: PseudoTerminal
  let number: pid_t
  /// All that it wrote to the terminal so far.
  private(set) var output: [UInt8] = []
  /// Ends when the process does, which alone holds the other end.
  private let life: Int32

  /// Where a stream goes instead of to the terminal, as a shell says it: `2> errors`.
  typealias Redirection = String

  /// Starts the tool with `arguments` in a terminal.
  ///
  /// Paths are looked for in `folder`. No signal is ignored or blocked but those of `ignoring`, whatever is so
  /// here.
  init(
    _ arguments: [String], in folder: String, _ terminal: PseudoTerminal,
    redirecting redirection: Redirection = "", ignoring ignored: [String] = [],
    environment changes: [String: String] = [:]
  ) throws {
    self.terminal = terminal
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      throw Self.failure("Cannot make a lifeline", errno)
    }
    life = ends[0]
    defer { close(ends[1]) }
    let traps = ignored.map { "trap '' \($0); " }.joined()
    let script = "\(traps)cd \"$0\" && exec \"$@\" \(redirection)"
    number = try Self.spawn(
      [Self.shell, "-c", script, folder, ToolRunner.executable.path] + arguments,
      Self.environment(changes), terminal.path, lifeline: ends[1])
  }

  deinit {
    close(life)
    if !isWaitedFor {
      kill(number, SIGKILL)
      waitpid(number, nil, 0)
    }
  }

  // MARK: Waiting

  private var isWaitedFor = false

  /// Reads what the process writes until that contains `text`; false when it ended before.
  func waits(forOutput text: String) -> Bool {
    while !String(decoding: output, as: UTF8.self).contains(text) {
      guard read() else { return false }
    }
    return true
  }

  /// Waits until `watch` sees what it is there for; false when the process ended before.
  func waits(for watch: FolderWatch) -> Bool {
    while !watch.isMet {
      var events = [
        pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: life, events: Int16(POLLIN), revents: 0),
      ]
      poll(&events, 2, -1)
      if events[0].revents != 0 {
        watch.look()
      } else if events[1].revents != 0 {
        return watch.isMet
      }
    }
    return true
  }

  /// Whether the process ends within so many milliseconds.
  func ends(withinMilliseconds milliseconds: Int32) -> Bool {
    var event = pollfd(fd: life, events: Int16(POLLIN), revents: 0)
    return poll(&event, 1, milliseconds) > 0
  }

  /// Reads what the process writes until it ends, and says how.
  @discardableResult
  func end() -> End {
    while read() {}
    var status: Int32 = 0
    while waitpid(number, &status, 0) < 0, errno == EINTR {}
    isWaitedFor = true
    return status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
  }

  /// What the terminal's screen shows.
  func screen(columns: Int) -> TerminalScreen {
    var screen = TerminalScreen(columns: columns)
    screen.show(String(decoding: output, as: UTF8.self))
    return screen
  }

  /// What was written, as text with lines that end as they do in files.
  var text: String {
    String(decoding: output, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
  }

  /// Waits for more output and keeps it; false when there is none any more.
  private func read() -> Bool {
    var events = [
      pollfd(fd: terminal.master, events: Int16(POLLIN), revents: 0),
      pollfd(fd: life, events: Int16(POLLIN), revents: 0),
    ]
    // A terminal that was hung up is passed over.
    poll(&events, 2, -1)
    if events[0].revents & Int16(POLLIN) != 0 {
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = Foundation.read(terminal.master, &bytes, bytes.count)
      if count > 0 { output += bytes[..<count] }
      if count > 0 || errno == EINTR { return true }
    }
    if events[1].revents == 0 { return true }
    // The system passes output on a moment later: there may be more until the terminal says that nobody has its
    // other end, which it does only behind all output.
    guard !terminal.isHeld else { return false }
    poll(&events, 1, -1)
    return events[0].revents & Int16(POLLIN) != 0
  }

  // MARK: Starting

  private static func failure(_ what: String, _ code: Int32) -> PseudoTerminal.Failure {
    PseudoTerminal.Failure(description: "\(what): \(String(cString: strerror(code)))")
  }

  private static func environment(_ changes: [String: String]) -> [String] {
    var environment = ProcessInfo.processInfo.environment
    for name in ["COLUMNS", "LINES", "NO_COLOR"] { environment[name] = nil }
    environment["TERM"] = "xterm-256color"
    // Who traps ends by the signal, instead of asking the terminal what to show of it.
    environment["SWIFT_BACKTRACE"] = "enable=no"
    environment.merge(changes) { $1 }
    return environment.map { "\($0)=\($1)" }
  }

  /// Starts a program as the leader of a new session, whose terminal is the one at `path`.
  private static func spawn(
    _ arguments: [String], _ environment: [String], _ path: String, lifeline: Int32
  ) throws -> pid_t {
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    // The first terminal that the leader of a session opens becomes its own.
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, path, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDERR_FILENO)
    posix_spawn_file_actions_adddup2(&files, lifeline, lifelineNumber)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = newSession | Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK)
    posix_spawnattr_setflags(&attributes, flags)

    var number: pid_t = 0
    let code = withCStrings(arguments) { arguments in
      withCStrings(environment) { environment in
        posix_spawn(&number, shell, &files, &attributes, arguments, environment)
      }
    }
    guard code == 0 else { throw failure("Cannot start the tool", code) }
    return number
  }

  private static let shell = "/bin/sh"
  /// `POSIX_SPAWN_SETSID`, which is not where Swift looks.
  private static let newSession: Int16 = 0x80
  /// No shell or program uses this number for something of its own.
  private static let lifelineNumber: Int32 = 9

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}

/// Sees files that are made or written in a folder.
final class FolderWatch {
  let descriptor: Int32
  private let suits: (String) -> Bool
  /// Whether it was so with a file whose name suits.
  private(set) var isMet = false

  /// Watches for a file that is made in `folder` and whose name begins with `prefix`.
  convenience init(_ folder: String, for prefix: String) throws {
    try self.init(folder, UInt32(IN_CREATE)) { $0.hasPrefix(prefix) }
  }

  /// Watches for writes to the file `name` in `folder`.
  convenience init(_ folder: String, writing name: String) throws {
    try self.init(folder, UInt32(IN_MODIFY)) { $0 == name }
  }

  private init(_ folder: String, _ events: UInt32, _ suits: @escaping (String) -> Bool) throws {
    self.suits = suits
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0,
      inotify_add_watch(descriptor, folder, events) >= 0
    else { throw PseudoTerminal.Failure(description: "Cannot watch \(folder)") }
  }

  deinit { close(descriptor) }

  /// Takes what has happened.
  func look() {
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    let count = read(descriptor, &bytes, bytes.count)
    var place = 0
    let head = 16
    while place + head <= count {
      let length = Int(
        bytes.withUnsafeBytes {
          $0.loadUnaligned(fromByteOffset: place + head - 4, as: UInt32.self)
        })
      let name = bytes[(place + head)..<(place + head + length)].prefix { $0 != 0 }
      if suits(String(decoding: name, as: UTF8.self)) { isMet = true }
      place += head + length
    }
  }
}
