import Foundation
import Synchronization

/// How results reach people and programs.
///
/// Pointers: bytes are lent to the system for one call, with their count, and what it says of an error is copied
/// at once.
enum Output {
  /// Prints `value` as JSON with sorted keys.
  static func json(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    Output.line(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// Why standard output takes no more; 0 while it does.
  private static let refusal = Mutex<Int32>(0)

  /// Prints `text` and the end of the line on standard output.
  ///
  /// Where nobody reads any more, the process ends here, by the signal that tells so. Other errors are
  /// told by ``end(_:)``.
  static func line(_ text: String, _ style: Style = .plain) {
    bytes(Array("\(style.applied(to: Terminal.shown(text, on: STDOUT_FILENO)))\n".utf8))
  }

  /// Prints `text` on standard output; see ``line(_:)``.
  static func text(_ text: String) {
    bytes(Array(Terminal.shown(text, on: STDOUT_FILENO).utf8))
  }

  /// Writes `bytes` on standard output; see ``line(_:)``.
  static func bytes(_ bytes: [UInt8]) {
    refusal.withLock { refusal in
      guard refusal == 0 else { return }
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes {
          unsafe Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count)
        }
        if count >= 0 {
          rest = rest.dropFirst(count)
          continue
        }
        switch errno {
        case EINTR: continue
        case EAGAIN:
          var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
          unsafe poll(&output, 1, -1)
        case EPIPE:
          signal(SIGPIPE, SIG_DFL)
          raise(SIGPIPE)
          exit(EXIT_FAILURE)
        case let code:
          refusal = code
          return
        }
      }
    }
  }

  /// Ends the process with `status`, or with a failure and one line on standard error when not all of
  /// the output was written.
  static func end(_ status: Int32) -> Never {
    let code = refusal.withLock { $0 }
    guard code != 0 else { exit(status) }
    error(unsafe "Cannot write the output: \(String(cString: strerror(code))).")
    exit(EXIT_FAILURE)
  }

  /// Prints one line on standard error.
  static func error(_ message: String) {
    let message = Terminal.shown(message, on: STDERR_FILENO)
    write("\(Style.bad.applied(to: "cambium:", isError: true)) \(message)\n")
  }

  /// Writes on standard error as it is; nobody is told where that takes nothing.
  static func write(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  /// A number of bytes with a unit that people like.
  static func bytes(_ count: Int) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(count)
    var unit = 0
    while value >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return unit == 0 ? "\(count) bytes" : String(format: "%.1f %@", value, units[unit] as NSString)
  }

  /// Prints rows in columns; the first row is the heading, numbers stand to the right.
  static func table(_ rows: [[String]], indent: String = "  ") {
    guard let heading = rows.first else { return }
    let rows = rows.dropFirst().map { $0.map(CellText.cleaned) }
    let columns = heading.enumerated().map { index, text in
      let isNumber = rows.allSatisfy { $0[index].first?.isNumber ?? false }
      return TextTable.Column(heading: text, isNumber: isNumber && !rows.isEmpty)
    }
    var table = TextTable(columns, width: Terminal.width(), indent: indent, isRuled: false)
    table.show(rows)
  }
}
