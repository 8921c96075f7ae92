import Foundation
import Synchronization

/// How much is said, or how important a message is.
public enum LogLevel: UInt, Sendable, CaseIterable {
  /// Nothing is said.
  case off
  /// What ends the program.
  case fatal
  /// What failed.
  case error
  /// What was mended, or may fail later.
  case warn
  /// What happens now and then, and takes time or changes a file's form.
  case info
  /// The steps of that.
  case detail
  /// What helps to find mistakes.
  case debug
  /// What happens all the time.
  case trace
  /// Everything.
  case all
}

/// Who is told what databases do: when files are opened, mended, compacted, and when their classes change.
///
/// ```swift
/// Logger.shared = Logger(level: .debug) { level, message in print(level, message) }
/// ```
///
/// May be used from any thread. The function is called where things happen, on whichever thread that is,
/// without a lock; it must not open a Realm. Values of objects are never logged.
///
/// Unchecked: what changes is behind locks, and a subclass brings its own.
public class Logger: @unchecked Sendable {
  private let function: @Sendable (LogLevel, String) -> Void
  private let threshold: Atomic<UInt>
  private static let current = Mutex<Logger>(Logger(level: .info, logFunction: standardError))

  /// Tells `logFunction` of messages up to `level`.
  public init(level: LogLevel, logFunction: @Sendable @escaping (LogLevel, String) -> Void) {
    threshold = Atomic(level.rawValue)
    function = logFunction
  }

  /// The least important messages that are told.
  public var level: LogLevel {
    get { LogLevel(rawValue: threshold.load(ordering: .relaxed)) ?? .off }
    set { threshold.store(newValue.rawValue, ordering: .relaxed) }
  }

  /// Who is told now; at first what writes messages up to ``LogLevel/info`` to standard error.
  public class var shared: Logger {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  /// Tells of a message if it is important enough; otherwise `message` is not made.
  static func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
    let logger = shared
    if level.rawValue <= logger.threshold.load(ordering: .relaxed) {
      logger.function(level, message())
    }
  }

  private static func standardError(_ level: LogLevel, _ message: String) {
    FileHandle.standardError.write(Data("Cambium \(level): \(message)\n".utf8))
  }
}
