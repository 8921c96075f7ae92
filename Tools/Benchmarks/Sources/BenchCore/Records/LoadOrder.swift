/// Under which keys, and in which order, people go into a database.
final class LoadOrder {
  /// How many people go in.
  let count: Int
  /// Whether every key is above the one before.
  let isAscending: Bool
  private let rows: [UInt32]?
  private let keys: [Int64]?

  private init(_ count: Int, isAscending: Bool, rows: [UInt32]? = nil, keys: [Int64]? = nil) {
    self.count = count
    self.isAscending = isAscending
    self.rows = rows
    self.keys = keys
  }

  /// The keys 0, 1, 2 … in that order.
  static func ascending(_ count: Int) -> LoadOrder { LoadOrder(count, isAscending: true) }

  /// The same keys in a random order.
  static func shuffled(_ count: Int, seed: UInt64) -> LoadOrder {
    var random = RandomBits(seed: seed)
    let rows = (0..<UInt32(count)).shuffled(using: &random)
    return LoadOrder(count, isAscending: false, rows: rows)
  }

  /// Keys from all over the 63 bits, in ascending order.
  static func randomKeys(_ count: Int) -> LoadOrder {
    let keys = randomKeys(ofRows: count)
    let rows = (0..<UInt32(count)).sorted { keys[Int($0)] < keys[Int($1)] }
    return LoadOrder(
      count, isAscending: true, rows: rows, keys: rows.map { keys[Int($0)] })
  }

  /// The random key of each person; no two are the same.
  static func randomKeys(ofRows count: Int) -> [Int64] {
    (0..<count).map { row in
      // One step of an invertible mixing function; the key stays at or above zero.
      var random = RandomBits(seed: UInt64(row))
      return Int64(random.next() >> 1)
    }
  }

  /// The person that comes at `place`, under its key.
  @inline(__always)
  func person(at place: Int, of people: People) -> Person {
    var person = people[rows.map { Int($0[place]) } ?? place]
    if let keys { person.id = keys[place] }
    return person
  }
}
