import Foundation
import TestSupport
import Testing

@testable import Cambium

/// The stored form of what a commit touched.
@Suite struct TouchRecordWhiteBoxTests {
  private static func random(_ random: inout SeededGenerator) -> TouchRecord {
    var record = TouchRecord()
    func key() -> Int64 {
      Bool.random(using: &random)
        ? Int64.random(in: -50...50, using: &random)
        : Int64.random(in: .min ... .max, using: &random)
    }
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let table = UInt32.random(in: 0...9, using: &random)
      record.touches.change(table) { rows in
        for _ in 0..<Int.random(in: 0...30, using: &random) {
          switch Int.random(in: 0...3, using: &random) {
          case 0: rows.insert(key())
          case 1: rows.delete(key())
          case 2: rows.assign(UInt16.random(in: 0...5, using: &random), key())
          default:
            let column = UInt16.random(in: 0...5, using: &random)
            rows.edit(TouchedRows.CollectionKey(column: column, owner: key())) { edits in
              for _ in 0..<Int.random(in: 0...6, using: &random) {
                let position = Int.random(in: 0...50, using: &random)
                switch Int.random(in: 0...9, using: &random) {
                case 0: edits.rewrite()
                case 1...3: edits.insert(Int.random(in: 1...3, using: &random), at: position)
                case 4...6: edits.remove(position..<position + 2)
                default: edits.assign(position)
                }
              }
            }
          }
        }
      }
      let keys: [ObjectKey] = [
        .null, .int(key()), .string("Käse \(key())"), .objectId(.generate()), .uuid(UUID()),
        .number(key()), .string(""),
      ]
      record.deleted[table] = Set(keys.shuffled(using: &random).prefix(3))
    }
    return record
  }

  private static func expectEqual(_ left: TouchRecord, _ right: TouchRecord, _ seed: UInt64) {
    #expect(left.deleted == right.deleted, "seed \(seed)")
    #expect(left.touches.tables.keys == right.touches.tables.keys, "seed \(seed)")
    for (table, rows) in left.touches.tables {
      let other = right.touches.tables[table]
      #expect(rows.inserted == other?.inserted, "seed \(seed)")
      #expect(rows.deleted == other?.deleted, "seed \(seed)")
      #expect(rows.assigned == other?.assigned, "seed \(seed)")
      #expect(rows.edits == other?.edits, "seed \(seed)")
      #expect(rows.isMany == other?.isMany, "seed \(seed)")
    }
  }

  @Test func `what was touched comes back as it went`() throws {
    for seed in 1...500 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let record = Self.random(&random)
      Self.expectEqual(record, try #require(TouchRecord(record.bytes)), seed)
    }
  }

  @Test func `what does not fit is told as many`() throws {
    var record = TouchRecord()
    record.touches.change(1) { rows in
      for key in 0..<100 { rows.insert(Int64(key)) }
    }
    record.touches.change(2) { rows in
      for key in 0..<2_000 { rows.assign(0, Int64(key) << 40) }
    }
    record.touches.change(3) { rows in
      for key in 0...2_048 { rows.delete(Int64(key)) }
    }
    record.touches.change(4) { $0.insert(7) }
    let read = try #require(TouchRecord(record.bytes))
    #expect(record.bytes.count <= 8192)
    #expect(read.touches.tables[1]?.inserted.count == 100)
    #expect(read.touches.tables[2]?.isMany == true)
    #expect(read.touches.tables[3]?.isMany == true)
    #expect(read.touches.tables[4]?.inserted == [7])
  }

  @Test func `whatever else the bytes are, reading them ends`() {
    for seed in 1...3_000 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      var bytes = Self.random(&random).bytes
      #expect(TouchRecord(bytes + [0]) == nil || seed == 0)
      for _ in 0...Int.random(in: 0...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
          in: 0 ... .max, using: &random)
      }
      for length in [bytes.count, Int.random(in: 0..<bytes.count, using: &random)] {
        guard let read = TouchRecord(Array(bytes.prefix(length))) else { continue }
        // What was read can be used.
        for rows in read.touches.tables.values {
          for edits in rows.edits.values {
            var count = 0
            edits.forEachKept(oldCount: 40) { old, new in
              #expect(old.count == new.count && old.upperBound <= 40)
              count += new.count
            }
            #expect(count <= 40, "seed \(seed)")
            var sum = edits
            sum.append(edits)
          }
        }
      }
    }
    #expect(TouchRecord([]) == nil)
  }
}
