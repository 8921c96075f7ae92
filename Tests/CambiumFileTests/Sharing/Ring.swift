import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// A ring of keys with values whose sum stays the same: each commit moves an amount from one to
/// another, and whoever reads a version in which the sum differs has seen half a commit.
struct Ring {
  private static let count = 64
  private static let total = count * 1000
  private let database: Database

  init(_ database: Database) { self.database = database }

  func make() throws {
    let transaction = try database.beginWrite()
    for key in 0..<Self.count { try set(key, 1000, transaction) }
    _ = try transaction.commit()
    try database.close()
  }

  private func set(_ key: Int, _ value: Int, _ transaction: WriteTransaction) throws {
    try transaction.setValue("key/\(key)", Array("\(value)".utf8))
  }

  private static func value(_ key: Int, _ view: any DatabaseView) throws -> Int {
    let bytes = try #require(try view.value("key/\(key)"))
    return try #require(Int(String(decoding: bytes, as: UTF8.self)))
  }

  /// Moves an amount from one key to another.
  func turn(_ generator: inout SeededGenerator) throws {
    let transaction = try database.beginWrite()
    let from = Int.random(in: 0..<Self.count, using: &generator)
    let to = (from + Int.random(in: 1..<Self.count, using: &generator)) % Self.count
    let amount = Int.random(in: 1...100, using: &generator)
    try set(from, Self.value(from, transaction) - amount, transaction)
    try set(to, Self.value(to, transaction) + amount, transaction)
    if Int.random(in: 0..<4, using: &generator) == 0 {
      try transaction.commitTogether()
      return
    }
    let durabilities: [Durability] = [.full, .relaxed, .relaxed, .none]
    _ = try transaction.commit(
      durability: durabilities.randomElement(using: &generator) ?? .full)
  }

  func check() throws { try Self.check(database.snapshot()) }

  private static func check(_ snapshot: Snapshot) throws {
    let sum = try (0..<count).reduce(0) { sum, key in try sum + value(key, snapshot) }
    try #require(sum == total, "Version \(snapshot.version) is torn.")
  }

  // MARK: Work of a process

  private static func open(_ path: String, isReadOnly: Bool = false) throws -> Database {
    var options = FileStoreOptions(isReadOnly: isReadOnly)
    options.foldAfterRecordCount = 8
    return try Database(store: FileStore(path: path, options: options))
  }

  /// Commits `count` times at random, checking each time.
  static func work(_ path: String, seed: UInt64, count: Int) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try open(path)
    let ring = Ring(database)
    for _ in 0..<count {
      try ring.turn(&generator)
      try ring.check()
    }
    try database.close()
  }

  /// Reads old and new versions at random, for ever.
  static func watch(_ path: String, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try open(path, isReadOnly: Bool.random(using: &generator))
    var kept: [Snapshot] = []
    while true {
      kept.append(try database.snapshot())
      if kept.count > 8 || Bool.random(using: &generator) {
        kept.remove(at: Int.random(in: kept.indices, using: &generator))
      }
      for snapshot in kept { try check(snapshot) }
      if Int.random(in: 0..<8, using: &generator) == 0, let last = kept.last {
        _ = database.waitForCommit(after: last.version, timeoutNanoseconds: 5_000_000)
      }
    }
  }
}

/// How a process meets its end.
enum Killing {
  /// Kills this process after so long, whatever it does then.
  static func after(microseconds: UInt32) {
    Thread {
      usleep(microseconds)
      kill(getpid(), SIGKILL)
    }.start()
  }
}
