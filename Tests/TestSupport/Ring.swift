import CambiumCore
import Foundation

/// A ring of keys with values whose sum stays the same: each commit moves an amount from one to
/// another, and whoever reads a version in which the sum differs has seen half a commit.
public struct Ring {
  /// A version in which something is missing, or the sum is another.
  public struct TornVersion: Error, CustomStringConvertible {
    /// The version.
    public let version: Version
    /// What it says.
    public var description: String { "Version \(version) is torn." }
  }

  private static let count = 64
  private static let total = count * 1000
  private let database: Database
  private let hasBallast: Bool

  /// The ring in `database`.
  ///
  /// With ballast, much comes and goes beside it, so that the store grows and shrinks.
  public init(_ database: Database, hasBallast: Bool = false) {
    self.database = database
    self.hasBallast = hasBallast
  }

  /// Makes it, and closes the database.
  public func make() throws {
    let transaction = try database.beginWrite()
    for key in 0..<Self.count { try set(key, 1000, transaction) }
    _ = try transaction.commit()
    try database.close()
  }

  private func set(_ key: Int, _ value: Int, _ transaction: Transaction) throws {
    try transaction.setValue("key/\(key)", Array("\(value)".utf8))
  }

  private static func value(_ key: Int, _ view: any ReadTransaction) throws -> Int {
    guard let bytes = try view.value("key/\(key)"),
      let value = Int(String(decoding: bytes, as: UTF8.self))
    else { throw TornVersion(version: view.version) }
    return value
  }

  /// Moves an amount from one key to another.
  public func turn(_ generator: inout SeededGenerator) throws {
    let durabilities: [Durability] = [.full, .relaxed, .relaxed, .relaxed]
    let durability = durabilities.randomElement(using: &generator) ?? .full
    let transaction = try database.beginWrite(expecting: durability)
    let from = Int.random(in: 0..<Self.count, using: &generator)
    let to = (from + Int.random(in: 1..<Self.count, using: &generator)) % Self.count
    let amount = Int.random(in: 1...100, using: &generator)
    try set(from, Self.value(from, transaction) - amount, transaction)
    try set(to, Self.value(to, transaction) + amount, transaction)
    if hasBallast { try RingBallast.shift(transaction, &generator) }
    if Int.random(in: 0..<4, using: &generator) == 0 {
      try transaction.commitTogether()
      return
    }
    _ = try transaction.commit(durability: durability)
  }

  /// Throws when the newest version is torn.
  public func check() throws { try Self.check(database.snapshot()) }

  private static func check(_ snapshot: Snapshot) throws {
    let sum = try (0..<count).reduce(0) { sum, key in try sum + value(key, snapshot) }
    guard sum == total, try RingBallast.isWhole(snapshot) else {
      throw TornVersion(version: snapshot.version)
    }
  }

  // MARK: Work of a process

  /// Commits `count` times at random, checking each time.
  public func work(seed: UInt64, count: Int) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<count {
      try turn(&generator)
      try check()
    }
    try database.close()
  }

  /// Reads old and new versions at random, until the newest is `last`.
  public func watch(seed: UInt64, until last: Version = .max) throws {
    var generator = SeededGenerator(seed: seed)
    var kept: [Snapshot] = []
    while try database.snapshot().version < last {
      kept.append(try database.snapshot())
      if kept.count > 8 || Bool.random(using: &generator) {
        kept.remove(at: Int.random(in: kept.indices, using: &generator))
      }
      for snapshot in kept { try Self.check(snapshot) }
      if Int.random(in: 0..<8, using: &generator) == 0, let last = kept.last {
        _ = database.waitForCommit(after: last.version, timeoutNanoseconds: 5_000_000)
      }
    }
  }
}

/// How a process meets its end.
public enum Killing {
  /// Runs `body`, and leaves word beside the file at `path` of what it throws: nobody hears what a
  /// process says that was to be killed and met another end.
  public static func leavingWord(at path: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      try? String(describing: error)
        .write(toFile: "\(path).\(getpid())\(suffix)", atomically: true, encoding: .utf8)
      throw error
    }
  }

  private static let suffix = ".lastword"

  /// What processes have said of the file at `path`.
  public static func lastWords(at path: String) -> [String] {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return (files ?? []).filter { $0.path.hasSuffix(suffix) }
      .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
  }

  /// Kills this process after so long, whatever it does then.
  public static func after(microseconds: UInt32) {
    Thread {
      usleep(microseconds)
      kill(getpid(), SIGKILL)
    }.start()
  }
}
