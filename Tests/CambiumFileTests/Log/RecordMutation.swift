import TestSupport

enum RecordMutation {
  /// Changes something in a record: a bit, a number, its length, or what lies where.
  static func apply(to record: inout [UInt8], _ random: inout SeededGenerator) {
    // Mostly where the structure is: at the beginning, and in the headers of changes.
    let limit = Bool.random(using: &random) ? min(160, record.count) : record.count
    let position = Int.random(in: 0..<limit, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: record[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: record[position] = [0, 1, 255].randomElement(using: &random) ?? 0
    case 2: record.removeSubrange(position...)
    case 3: record.insert(contentsOf: [UInt8](repeating: 0, count: 4), at: position)
    case 4:
      let count = min(8, record.count - position)
      for offset in 0..<count { record[position + offset] = 0xff }
    default:
      let from = Int.random(in: record.indices, using: &random)
      let count = min(24, record.count - position, record.count - from)
      let moved = Array(record[from..<from + count])
      record.replaceSubrange(position..<position + count, with: moved)
    }
  }
}
