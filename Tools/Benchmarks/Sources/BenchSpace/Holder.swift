import CambiumCore
import CambiumFile
import Foundation

/// Another process that pins the newest version of a file until its input ends.
final class Holder {
  private let process = Process()
  private let input = Pipe()

  init(_ path: String) throws {
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    if let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
      process.executableURL = URL(fileURLWithPath: own)
    }
    process.arguments = ["--hold", path]
    process.standardInput = input
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let word = try output.fileHandleForReading.read(upToCount: 1)
    if word?.isEmpty ?? true { throw HolderFailure() }
  }

  func release() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// What that process does.
  static func hold(_ path: String) throws {
    var options = FileStoreOptions(isReadOnly: true)
    options.label = "holder"
    let database = try Database(store: FileStore(path: path, options: options))
    let snapshot = try database.snapshot()
    FileHandle.standardOutput.write(Data([1]))
    _ = try FileHandle.standardInput.readToEnd()
    withExtendedLifetime(snapshot) {}
  }
}

struct HolderFailure: Error, CustomStringConvertible {
  var description: String { "the process that was to pin a version ended by itself" }
}
