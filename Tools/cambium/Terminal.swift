import Foundation

/// The terminals that output and errors go to, if they go to any.
///
/// Pointers: a structure and texts are lent to the system for one call. The environment is changed before the
/// command begins, when no other thread reads it.
enum Terminal {
  /// How many characters a line has; nil in a pipe or a file.
  static func width(of descriptor: Int32 = STDOUT_FILENO) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return unknownWidth
    }
    return Int(size.ws_col)
  }

  /// What is taken where a terminal does not say how wide it is.
  private static let unknownWidth = 80
  /// Help that is narrower than this has no room for its second column.
  private static let leastHelpWidth = 40

  /// Whether what goes to `descriptor` can be drawn over and have colours.
  static func draws(_ descriptor: Int32) -> Bool {
    isatty(descriptor) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// Whether it shall have colours.
  ///
  /// The environment's `NO_COLOR` is what people set who want none.
  static func hasColours(_ descriptor: Int32) -> Bool {
    draws(descriptor) && ProcessInfo.processInfo.environment["NO_COLOR"] ?? "" == ""
  }

  /// `text` for `descriptor`: names and values in it are no commands to a terminal.
  static func shown(_ text: String, on descriptor: Int32) -> String {
    isatty(descriptor) == 1 ? CellText.cleanedLines(text) : text
  }

  /// Lets help be wider than a terminal, or the environment's `COLUMNS`, that is too narrow for it.
  static func makeRoomForHelp() {
    let wanted = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
    guard let width = wanted ?? width(), width < leastHelpWidth else { return }
    unsafe setenv("COLUMNS", "\(leastHelpWidth)", 1)
  }
}

/// How a line looks on a terminal.
enum Style: String {
  case plain = ""
  case heading = "1"
  case good = "32"
  case bad = "31"
  case changed = "33"

  private static let outputHasColours = Terminal.hasColours(STDOUT_FILENO)
  private static let errorsHaveColours = Terminal.hasColours(STDERR_FILENO)

  /// `text` for standard output or standard error, with this style if that goes to a terminal.
  func applied(to text: String, isError: Bool = false) -> String {
    let hasColours = isError ? Self.errorsHaveColours : Self.outputHasColours
    return self == .plain || !hasColours ? text : "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
  }
}
