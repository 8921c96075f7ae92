import Cambium
import Foundation

/// Reads a large file into a database in portions, and tells how far it is.
///
/// The actor has a Realm of its own. While the medium makes a portion durable, the actor can be asked and
/// cancelled, and other writers get their turn.
actor Importer {
  /// How far an import is.
  struct Progress: Sendable {
    var importedCount = 0
    var readByteCount = 0
    var byteCount = 0
  }

  /// A line that cannot be read.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private var realm: Realm!
  private var progress = Progress()

  private static let portionCount = 10_000

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
  }

  /// Imports the lines of a file with the columns number, sensor, time and value.
  ///
  /// What was imported before an error or a cancellation stays; lines that are there already are replaced, so
  /// that the import can be repeated.
  func run(_ file: URL, onProgress: @Sendable (Progress) -> Void) async throws {
    let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    progress = Progress(byteCount: size)
    var portion: [[Substring]] = []
    // The first line has the names of the columns.
    for line in try LineReader(file).dropFirst() {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false)
      guard fields.count == 4 else { throw Failure(description: "No measurement: '\(line)'") }
      portion.append(fields)
      progress.readByteCount += line.utf8.count + 1
      guard portion.count == Self.portionCount else { continue }
      try await store(portion)
      portion = []
      onProgress(progress)
    }
    try await store(portion)
    progress.readByteCount = size
    onProgress(progress)
  }

  private func store(_ portion: [[Substring]]) async throws {
    try await realm.asyncWrite {
      for fields in portion {
        guard let number = Int(fields[0]), let seconds = Double(fields[2]),
          let value = Double(fields[3])
        else { throw Failure(description: "No measurement: '\(fields.joined(separator: ","))'") }
        let measurement = Measurement()
        measurement.number = number
        measurement.sensor = String(fields[1])
        measurement.time = Date(timeIntervalSince1970: seconds)
        measurement.value = value
        realm.add(measurement, update: .modified)
      }
    }
    progress.importedCount += portion.count
  }
}
