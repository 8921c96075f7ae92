import Foundation

/// How much of what could be tried a test tries.
///
/// Some tests try every byte of a file, or every moment of a history. `make test` tries a share of them,
/// chosen by `CAMBIUM_TEST_SEED`, 1 unless it is set, and prints that; `make exhaustive` tries all, with
/// the variable `EXHAUSTIVE` set.
public enum Exhaustive {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["CAMBIUM_TEST_SEED"].flatMap(UInt64.init) ?? 1

  /// Whether everything is tried.
  public static let isWanted: Bool = {
    let isWanted = environment["EXHAUSTIVE"] != nil
    if !isWanted { print("Exhaustive tests try a share, seed \(seed); make exhaustive tries all") }
    return isWanted
  }()

  /// Of so many seeds all, or the `few` whose turn it is.
  public static func seeds(_ all: UInt64, few: UInt64) -> [UInt64] {
    if isWanted { return Array(0..<all) }
    let first = (seed &- 1) % all * few
    return (0..<few).map { (first + $0) % all }
  }

  /// Whether the attempt with that number is made: all are, or one in `count`.
  public static func tries(_ number: Int, oneIn count: Int) -> Bool {
    isWanted || number % count == Int((seed &- 1) % UInt64(count))
  }
}
