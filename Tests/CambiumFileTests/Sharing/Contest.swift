import CambiumCore
import CambiumFile
import Foundation
import Testing

/// Processes that count in one file as fast as they can, until each has come to its goal.
enum Contest {
  /// How far each has to come.
  static let goal = 60
  /// Who comes so far while somebody has not come to the goal has starved somebody.
  private static let limit = 20_000

  private static func name(_ index: Int) -> String { "count/\(index)" }

  /// How far everybody has come.
  static func counts(_ view: any ReadTransaction) throws -> [Int] {
    try view.names(withPrefix: "count/").map { name in
      Int(String(decoding: try view.value(name) ?? [], as: UTF8.self)) ?? 0
    }
  }

  private static func count(_ index: Int, _ value: Int, _ database: Database) throws {
    let transaction = try database.beginWrite()
    try transaction.setValue(name(index), Array("\(value)".utf8))
    _ = try transaction.commit(durability: .relaxed)
  }

  /// Takes part as one of `total` processes.
  static func run(_ path: String, index: Int, of total: Int) throws {
    let database = try Database(store: FileStore(path: path))
    try count(index, 0, database)
    // Nobody begins before all are there; who waits in vain fails.
    let start = ContinuousClock.now
    var snapshot = try database.snapshot()
    while try counts(snapshot).count < total {
      try #require(ContinuousClock.now - start < .seconds(900), "The others did not come.")
      _ = database.waitForCommit(after: snapshot.version, timeoutNanoseconds: 100_000_000)
      snapshot = try database.snapshot()
    }
    var own = 0
    while try counts(database.snapshot()).contains(where: { $0 < goal }) {
      own += 1
      try #require(own < limit, "Somebody has starved.")
      try count(index, own, database)
    }
    try database.close()
  }
}
