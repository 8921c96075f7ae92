import Foundation
import Synchronization

/// The process's part of new identifiers: five random bytes and a counter.
struct ObjectIdGenerator: ~Copyable {
  static let shared = ObjectIdGenerator()

  private let process = UInt64.random(in: 0..<1 << 40)
  private let counter = Atomic<UInt32>(UInt32.random(in: 0..<1 << 24))

  private init() {}

  /// The next value of the three-byte counter, which wraps.
  func nextCount() -> UInt32 {
    counter.wrappingAdd(1, ordering: .relaxed).oldValue & 0xFF_FFFF
  }

  func generate() -> ObjectId {
    let seconds = UInt64(Self.seconds(of: Date()))
    return ObjectId(
      head: seconds << 32 | process >> 8, tail: UInt32(process & 0xFF) << 24 | nextCount())
  }

  /// Whole seconds since 1970, held within four bytes.
  static func seconds(of date: Date) -> UInt32 {
    let seconds = date.timeIntervalSince1970
    return seconds.isNaN ? 0 : UInt32(min(max(seconds, 0), Double(UInt32.max)))
  }
}
