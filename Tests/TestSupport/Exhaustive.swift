import Foundation

/// How much of what could be tried a test tries.
///
/// Some tests try every byte of a file, or every moment of a history. `make test` tries a share of them,
/// the same in each run; `make exhaustive` tries all, with the variable `EXHAUSTIVE` set.
public enum Exhaustive {
  /// Whether everything is tried.
  public static let isWanted = ProcessInfo.processInfo.environment["EXHAUSTIVE"] != nil

  /// Of so many seeds all, or `few`.
  public static func seeds(_ all: UInt64, few: UInt64) -> Range<UInt64> {
    0..<(isWanted ? all : few)
  }

  /// Whether the attempt with that number is made: all are, or one in `count`.
  public static func tries(_ number: Int, oneIn count: Int) -> Bool {
    isWanted || number % count == 0
  }
}
