import Foundation

/// A terminal without a screen: what a program writes to it is read here, and what is typed here the program
/// gets, signals of keys included.
final class PseudoTerminal {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The path by which programs open it.
  let path: String
  /// The end that stands for the screen and the keyboard; -1 after ``hangUp()``.
  private(set) var master: Int32
  /// The programs' end, which is kept open, so that nothing of what the terminal is told gets lost.
  private var line: Int32 = -1

  /// Whether this process has the programs' end as well, or the terminal is gone: then it does not tell when the
  /// last program has left.
  var isHeld: Bool { line >= 0 || master < 0 }

  /// A terminal with lines of so many characters; 0 where it does not say how many.
  init(columns: Int, rows: Int = 24) throws {
    master = try Self.open()
    guard let path = Self.name(of: master) else { throw Self.failure("name") }
    self.path = path
    try resize(columns: columns, rows: rows)
  }

  deinit { hangUp() }

  /// Says how large the screen is.
  func resize(columns: Int, rows: Int = 24) throws {
    var size = winsize(
      ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(master, UInt(TIOCSWINSZ), &size) == 0 else { throw Self.failure("resize") }
  }

  /// From now on the terminal takes no output: who writes to it waits, for ever if need be.
  ///
  /// Keys that send signals still do.
  func holdOutput() throws {
    line = Foundation.open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard line >= 0, tcflow(line, TCOOFF) == 0 else { throw Self.failure("stop") }
  }

  /// The terminal takes output again.
  func releaseOutput() throws {
    guard tcflow(line, TCOON) == 0 else { throw Self.failure("go on with") }
  }

  /// Types `text`.
  func type(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard write(master, bytes, bytes.count) == bytes.count else { throw Self.failure("write to") }
  }

  /// Goes away, as a window that is closed does: programs that run in it are told by SIGHUP.
  func hangUp() {
    for descriptor in [line, master] where descriptor >= 0 { close(descriptor) }
    (line, master) = (-1, -1)
  }

  private static func failure(_ what: String) -> Failure {
    Failure(description: "Cannot \(what) a pseudo-terminal: \(String(cString: strerror(errno)))")
  }

  // The C library has these functions, but not where Swift looks for them.

  private static func function<Function>(_ name: String, _ type: Function.Type) -> Function? {
    dlsym(nil, name).map { unsafeBitCast($0, to: type) }
  }

  private static func open() throws -> Int32 {
    guard
      let open = function("posix_openpt", (@convention(c) (Int32) -> Int32).self),
      let grant = function("grantpt", (@convention(c) (Int32) -> Int32).self),
      let unlock = function("unlockpt", (@convention(c) (Int32) -> Int32).self)
    else { throw failure("find") }
    // Other tests start processes at the same time, which must not keep it.
    let master = open(O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard master >= 0, grant(master) == 0, unlock(master) == 0 else { throw failure("open") }
    return master
  }

  private static func name(of master: Int32) -> String? {
    typealias Name = @convention(c) (Int32, UnsafeMutablePointer<CChar>, Int) -> Int32
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard let name = function("ptsname_r", Name.self), name(master, &path, path.count) == 0 else {
      return nil
    }
    return path.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
  }
}
