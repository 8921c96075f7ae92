import Cambium
import CambiumCore
import CambiumFile
import Foundation

/// What `verify --salvage` wrote and what is lost.
struct Salvaging: Encodable {
  struct Saved: Encodable {
    var name: String
    var rows: Int
    /// Where it comes from, when that is not the newest version.
    var origin: String?
  }

  struct Loss: Encodable {
    var name, keys, reason: String
    var rows, elements: Int?
  }

  var path, output: String
  var version: UInt64?
  var saved: [Saved]
  var losses: [Loss]
  /// Which bytes of the file the medium did not give back.
  var unreadable: [Range<Int>]
  var isComplete: Bool { losses.isEmpty }

  private enum CodingKeys: CodingKey {
    case path, output, version, saved, losses, unreadable, isComplete
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(path, forKey: .path)
    try container.encode(output, forKey: .output)
    try container.encode(version, forKey: .version)
    try container.encode(saved, forKey: .saved)
    try container.encode(losses, forKey: .losses)
    try container.encode(
      unreadable.map { ["offset": $0.lowerBound, "byteCount": $0.count] }, forKey: .unreadable)
    try container.encode(isComplete, forKey: .isComplete)
  }

  /// Writes what can be read of the store at `path` into a new one at `output`.
  init(
    path: String, codec: (any PageCodec)?, output: String, progress: ProgressLine
  ) throws {
    self.path = path
    self.output = output
    let file = try SalvageFile(path: path, options: FileStoreOptions(codec: codec))
    let salvage = Salvage(store: file)
    let report: SalvageReport
    let place = try CopyPlace(for: output)
    do {
      // What was encrypted stays so.
      let database = try Database(
        store: FileStore(path: place.path, options: FileStoreOptions(codec: file.boundCodec)))
      report = try salvage.run(
        into: database, leavingOut: ObjectSalvage.isDerived,
        progress: { progress.show("salvaging", $0, of: nil, "rows") },
        completing: { transaction throws(StoreError) in
          var objects = ObjectSalvage(transaction: transaction)
          return try objects.run()
        })
      try database.close()
      try place.finish(as: path)
    } catch {
      progress.finish()
      place.clear()
      throw error
    }
    progress.finish()
    version = report.version
    saved = report.saved.map { Saved(name: $0.name, rows: $0.rowCount, origin: $0.origin) }
    losses = report.losses.map {
      Loss(
        name: $0.name, keys: $0.keys, reason: $0.reason, rows: $0.rowCount,
        elements: $0.elementCount)
    }
    unreadable = report.unreadable
  }

  func printForPeople() {
    let rows = saved.reduce(0) { $0 + $1.rows }
    Output.line("\(saved.count) trees and values with \(rows) rows of \(path) are in \(output)")
    for entry in saved {
      if let origin = entry.origin { Output.line("  \(entry.name) is from \(origin)") }
    }
    for range in unreadable {
      Output.line(
        "The medium did not give back bytes \(range.lowerBound) to \(range.upperBound - 1).")
    }
    if losses.isEmpty { return Output.line("Nothing is lost.") }
    Output.line("Lost:")
    for loss in losses {
      let count =
        loss.rows.map { " (\($0) rows)" } ?? loss.elements.map { " (\($0) elements)" } ?? ""
      Output.line("  \(loss.name), \(loss.keys)\(count): \(loss.reason)")
    }
  }
}
