/// Which objects of a leaf the values are read of: those from one on, until the values have taken more than so many
/// bytes of the file, but of one at least.
///
/// Values that are small are read at once.
final class LeafPart {
  let start: Int
  private let byteLimit: Int
  private let walk: Walk
  /// What the walk had spent when the first value was about to be read.
  private(set) var spentBefore: Walk.Spending
  /// Whether reading has ended before the last object.
  private(set) var isSpent = false

  init(from start: Int, byteLimit: Int, _ walk: Walk) {
    self.start = start
    self.byteLimit = byteLimit
    self.walk = walk
    spentBefore = walk.spent
  }

  /// Calls `body` with each place among `count`, as far as the part goes.
  func forEach(
    of count: Int, _ body: (Int) throws(ReadFault) -> Void
  ) throws(ReadFault) {
    spentBefore = walk.spent
    for index in min(start, count)..<count {
      try body(index)
      if (walk.spent - spentBefore).size > byteLimit, index + 1 < count {
        isSpent = true
        return
      }
    }
  }
}
