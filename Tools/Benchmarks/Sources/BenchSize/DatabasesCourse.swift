import CambiumCore
import CambiumFile
import Foundation

/// What many open databases of one process take.
struct DatabasesCourse {
  let folder: String
  let count: Int
  /// How many of them are written to all the time.
  let activeCount: Int

  /// What was measured, and whether it is no more than it may be.
  func run() throws -> (lines: [String], isWithin: Bool) {
    let places = (0..<count).map { "\(folder)/database-\($0).cambium" }
    for path in places { try close(fill(Database(store: FileStore(path: path)))) }
    let threads = try Self.entryCount("/proc/self/task")
    let descriptors = try Self.entryCount("/proc/self/fd")
    let memory = try Self.ownByteCount()
    var databases: [Database] = []
    var openings: [Double] = []
    for path in places {
      let time = try ContinuousClock().measure {
        databases.append(try Database(store: FileStore(path: path)))
      }
      openings.append(time / .milliseconds(1))
    }
    for database in databases { withExtendedLifetime(try database.snapshot()) {} }
    let idleMemory = try Self.ownByteCount() - memory
    let idleDescriptors = try Self.entryCount("/proc/self/fd") - descriptors
    var mostThreads = 0
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(3))
    var commitCount = 0
    while clock.now < end {
      for database in databases.prefix(activeCount) {
        try change(database)
        commitCount += 1
      }
      mostThreads = max(mostThreads, try Self.entryCount("/proc/self/task") - threads)
    }
    let activeDescriptors = try Self.entryCount("/proc/self/fd") - descriptors
    for database in databases { try close(database) }
    openings.sort()
    let isWithin = mostThreads <= 8 && idleMemory <= count * 256 << 10
    let lines = [
      "\(count) databases, \(activeCount) of them written to",
      String(
        format: "    opening one takes %.2f ms at the median, %.2f at the 99th percentile",
        openings[count / 2], openings[count * 99 / 100]),
      String(
        format:
          "    an idle one has %.0f KiB and %.1f descriptors, all of them %.1f when some are busy",
        Double(idleMemory) / 1024 / Double(count), Double(idleDescriptors) / Double(count),
        Double(activeDescriptors) / Double(count)),
      "    \(mostThreads) threads of the library at most, in \(commitCount) commits",
    ]
    return (lines, isWithin)
  }

  private func fill(_ database: Database) throws -> Database {
    let transaction = try database.beginWrite()
    let editor = try transaction.createTable(
      "Person", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "age")])
    for row in 0..<1_000 as Range<Int64> {
      _ = try editor.insert(key: row, values: [(1, .int(row))])
    }
    _ = try transaction.commit()
    return database
  }

  private func change(_ database: Database) throws {
    let transaction = try database.beginWrite(expecting: .relaxed)
    try transaction.editTable("Person")?.update(
      key: 7, column: 1, value: .int(Int64.random(in: 0..<100)))
    _ = try transaction.commit(durability: .relaxed)
  }

  private func close(_ database: Database) throws { try database.close() }

  private static func entryCount(_ folder: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder).count
  }

  /// How much memory is the process's own: not that of files.
  private static func ownByteCount() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) * 1024
  }
}
