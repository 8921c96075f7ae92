import CambiumCore
import CambiumFile
import Foundation

/// What a program's transactions of one row take in real files of very different sizes.
///
/// Unlike ``SizeCourse`` the files have rows of 200 bytes and hold what they claim to, so that trees are as high
/// and memory as short as they are for a program.
struct RowCourse {
  let folder: String
  let gibibytes: [Double]
  let commitCount: Int

  static let heading = """
        GiB   million rows   rows/s   first write ms   no sync µs   KB/commit   durable µs   KB/commit
    """

  func run() throws {
    print(Self.heading)
    for size in gibibytes {
      let path = "\(folder)/rows.cambium"
      print(try report(size, path))
      for suffix in ["", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
  }

  private func report(_ gibibytes: Double, _ path: String) throws -> String {
    let rowCount = Int64(gibibytes * 1_073_741_824 / 200)
    let clock = ContinuousClock()
    let filling = try clock.measure { try fill(path, rowCount) }
    let database = try Database(store: FileStore(path: path))
    var random = RandomNumbers(seed: 99)
    let first = try clock.measure { try change(database, rowCount, &random, .relaxed) }
    // Trees and map are as scattered, and memory as full, as they get.
    for _ in 0..<commitCount { try change(database, rowCount, &random, .relaxed) }
    let relaxed = try cost(commitCount) { try change(database, rowCount, &random, .relaxed) }
    let durable = try cost(commitCount / 5) { try change(database, rowCount, &random, .full) }
    try database.close()
    return String(
      format: "%7.1f %14.1f %8.0f %16.2f %12.1f %11.2f %12.1f %11.2f", gibibytes,
      Double(rowCount) / 1e6, Double(rowCount) / (filling / .seconds(1)),
      first / .milliseconds(1), relaxed.microseconds, relaxed.bytes / 1e3, durable.microseconds,
      durable.bytes / 1e3)
  }

  private func fill(_ path: String, _ rowCount: Int64) throws {
    let database = try Database(store: FileStore(path: path))
    var random = RandomNumbers(seed: 7)
    let partCount: Int64 = 1_000_000
    for start in stride(from: 0, to: rowCount, by: Int64.Stride(partCount)) {
      let transaction = try database.beginWrite()
      let editor =
        try transaction.editTable("Row")
        ?? transaction.createTable(
          "Row",
          columns: [
            ColumnDescriptor(type: .int, isNullable: false, name: "value"),
            ColumnDescriptor(type: .bytes, isNullable: false, name: "text"),
          ])
      var text = [UInt64](repeating: 0, count: 23)
      for key in start..<min(rowCount, start + partCount) {
        for index in text.indices { text[index] = random.next() }
        try text.withUnsafeBytes { bytes in
          _ = try editor.insert(key: key, values: [(1, .int(key)), (2, .bytes(bytes))])
        }
      }
      _ = try transaction.commit()
    }
    try database.close()
  }

  private func change(
    _ database: Database, _ rowCount: Int64, _ random: inout RandomNumbers,
    _ durability: Durability
  ) throws {
    let transaction = try database.beginWrite(expecting: durability)
    let value = Int64(truncatingIfNeeded: random.next() >> 8)
    let key = Int64(random.next() % UInt64(rowCount))
    _ = try transaction.editTable("Row")?.update(key: key, column: 1, value: .int(value))
    _ = try transaction.commit(durability: durability)
  }

  /// What one of `count` commits takes on average, with what they leave to be stored for all of them.
  private func cost(
    _ count: Int, _ body: () throws -> Void
  ) throws -> (microseconds: Double, bytes: Double) {
    let before = try Self.writtenByteCount()
    let time = try ContinuousClock().measure { for _ in 0..<count { try body() } }
    let bytes = try Self.writtenByteCount() - before
    return (time / .microseconds(1) / Double(count), Double(bytes) / Double(count))
  }

  /// How many bytes this process has handed to the system.
  private static func writtenByteCount() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("wchar:") } ?? ""
    return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
  }
}
