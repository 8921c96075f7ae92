import Dispatch
import Foundation

/// A new folder that goes with the run, also when it is interrupted.
final class TemporaryFolder {
  /// Where the folder is.
  let path: String

  private let signals: [any DispatchSourceSignal]

  /// Makes a folder inside `parent`.
  init(in parent: String) throws {
    let path = parent + "/cambium-bench-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    self.path = path
    signals = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        try? FileManager.default.removeItem(atPath: path)
        exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  /// Removes the folder and everything in it.
  func remove() {
    for signal in signals { signal.cancel() }
    try? FileManager.default.removeItem(atPath: path)
  }

  /// How many bytes the files of a folder inside have.
  func byteCount(of name: String) throws -> Int {
    let folder = path + "/" + name
    return try FileManager.default.subpathsOfDirectory(atPath: folder).reduce(0) { sum, file in
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + file)
      guard attributes[.type] as? FileAttributeType == .typeRegular else { return sum }
      return sum + ((attributes[.size] as? NSNumber)?.intValue ?? 0)
    }
  }

  /// Makes an empty folder inside, after removing what had its name.
  func emptyFolder(_ name: String) throws -> String {
    let folder = path + "/" + name
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }
}
