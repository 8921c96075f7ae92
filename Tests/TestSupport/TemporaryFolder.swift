import Foundation

/// A folder that is removed with its last reference, and at the latest with the process.
public final class TemporaryFolder: Sendable {
  /// Where it is.
  public let path: String

  /// Makes an empty folder.
  public init() throws {
    path = Self.root + "/" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Where it is, as a URL.
  public var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

  /// The path of `name` in it.
  public func file(_ name: String) -> String { path + "/" + name }

  /// The URL of `name` in it.
  public func url(_ name: String) -> URL { URL(fileURLWithPath: file(name)) }

  /// Runs `body` with a folder that is removed afterwards.
  public static func with<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = try TemporaryFolder()
    return try withExtendedLifetime(folder) { try body(folder.url) }
  }

  // MARK: All of a process

  /// Where all folders of this process lie; it is removed when the process ends.
  ///
  /// A child uses that of its parent, so that what it leaves when it is stopped or killed goes too.
  public static let root: String = {
    func path(_ process: pid_t) -> String { NSTemporaryDirectory() + "cambium-tests-\(process)" }
    let inherited = path(getppid())
    if FileManager.default.fileExists(atPath: inherited) { return inherited }
    let own = path(getpid())
    try? FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(atPath: TemporaryFolder.root) }
    return own
  }()

  /// Makes the folder of this process, for children that are stopped before they can remove theirs.
  public static func prepareForChildren() { _ = root }
}
