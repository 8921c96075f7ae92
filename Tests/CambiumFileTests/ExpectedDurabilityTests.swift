import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// What a transaction expects of its commit changes when bytes reach the medium, and nothing else.
struct ExpectedDurabilityTests {
  @Test(arguments: Durability.allCases, Durability.allCases)
  func `large transactions are stored whatever they expected`(
    expected: Durability, durability: Durability
  ) throws {
    let device = CountingDevice()
    let (_, database) = try device.makeDatabase()
    let before = device.startCount
    let transaction = try database.beginWrite(expecting: expected)
    let table = try transaction.createTable(
      "Text", columns: [ColumnDescriptor(type: .bytes, isNullable: false, name: "text")])
    // More than is gathered before it is written.
    var generator = SeededGenerator(seed: 1)
    let texts = (0..<3_000).map { _ in (0..<75).map { _ in generator.next() } }
    for (key, text) in texts.enumerated() {
      try text.withUnsafeBytes {
        _ = try table.insert(key: Int64(key), values: [(column: 1, value: .bytes($0))])
      }
    }
    let snapshot = try transaction.commit(durability: durability)
    // Pages start on their way early for a version that a sync will wait for.
    #expect((device.startCount > before) == (expected == .full))
    let read = try #require(try snapshot.table("Text"))
    #expect(read.count == texts.count)
    for key in [0, 1_234, 2_999] {
      let row = try #require(try read.groups[0].seek(Int64(key)))
      let bytes = try #require(row.leaf.column(1)).bytes(row.row).array
      #expect(texts[key].withUnsafeBytes { Array($0) } == bytes)
    }
    #expect(try database.verify().findings.isEmpty)
  }

  @Test func `pages that fill holes are written with the sync, not started one by one`() throws {
    let device = CountingDevice()
    let (_, database) = try device.makeDatabase()
    func set(_ keys: some Sequence<Int>, to value: [UInt8]?) throws {
      let transaction = try database.beginWrite()
      for key in keys { try transaction.setValue("\(key)", value) }
      _ = try transaction.commit()
    }
    let value = [UInt8](repeating: 1, count: 8_000)
    try set(0..<1_200, to: value)
    try set(stride(from: 1, to: 1_200, by: 2), to: nil)
    for number in 0..<3 { try set([5_000], to: [UInt8(number)]) }
    let before = device.startCount
    try set(2_000..<2_300, to: value)
    #expect(device.startCount == before)
    #expect(try database.verify().findings.isEmpty)
  }
}
