import CambiumCore
import TestSupport

@testable import CambiumFile

/// Which codec a file with a log has.
enum LogCoding: CaseIterable {
  case none
  /// Pages alone, wherever they are.
  case masked
  /// Heads, records and the free map, too.
  case sealed

  var codec: (any PageCodec)? {
    switch self {
    case .none: nil
    case .masked: MaskCodec(needsPlace: false)
    case .sealed: SealCodec()
    }
  }

  /// Runs `body` with simulated files that have it.
  func callAsFunction(_ body: () throws -> Void) throws {
    try CrashSettings.$codec.withValue(codec, operation: body)
  }

  /// Each with every seed, of `count` all in exhaustive runs.
  static func cases(_ count: UInt64, few: UInt64) -> [(UInt64, LogCoding)] {
    Exhaustive.seeds(count, few: few).flatMap { seed in allCases.map { (seed, $0) } }
  }
}
