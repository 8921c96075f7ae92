/// What has been touched in a class: its objects as such, and the columns of theirs.
///
/// Counts that only rise, so that who keeps what it has found sees whether that still holds. Belongs to
/// its class in one Realm instance.
struct TouchedSet {
  /// One kind of change.
  enum Change {
    /// Objects came or went.
    case objects
    /// A value in that column changed.
    case column(UInt16)
    /// Anything may have changed: another version is read.
    case all
  }

  /// How often objects came or went.
  private(set) var objects: UInt64 = 0
  /// How often values changed, by the numbers of columns.
  private var columns: [UInt64] = []

  /// Rises with every change.
  private(set) var total: UInt64 = 0

  mutating func insert(_ change: Change) {
    total &+= 1
    switch change {
    // Who depends on a column depends on the objects, too.
    case .objects, .all: objects &+= 1
    case .column(let column):
      let place = Int(column)
      if place >= columns.count {
        columns += repeatElement(0, count: place + 1 - columns.count)
      }
      columns[place] &+= 1
    }
  }

  /// A count that rises with changes of the objects and of `columns`.
  func count(_ columns: some Sequence<UInt16>) -> UInt64 {
    columns.reduce(objects) { sum, column in
      Int(column) < self.columns.count ? sum &+ self.columns[Int(column)] : sum
    }
  }
}
