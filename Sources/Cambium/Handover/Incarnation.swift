import CambiumCore

/// When an object was created: the version, and how often its key had been used before in the same
/// transaction.
///
/// With its class and its key it is the object's identity among all that were ever committed.
enum Incarnation {
  static let countBits: Int64 = 16

  static func value(version: Version, count: Int) -> Int64 {
    precondition(
      count < 1 << countBits,
      "An object with the same primary key was created and deleted \(count) times in one "
        + "transaction; commit in between.")
    return Int64(truncatingIfNeeded: version) << countBits | Int64(count)
  }

  /// Whether an object was created in the transaction that makes `version`.
  static func isOf(_ version: Version, _ created: Int64) -> Bool {
    created >> countBits == Int64(truncatingIfNeeded: version)
  }
}
