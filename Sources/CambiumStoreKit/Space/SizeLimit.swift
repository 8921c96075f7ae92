import CambiumCore

/// How large a store may become, and what it keeps back of that for writes that give room back.
///
/// A deletion writes new pages before the old ones can go, so a store that was filled to the last byte could
/// never become smaller.
public struct SizeLimit: Hashable, Sendable {
  /// The most bytes that the store takes.
  public let byteCount: Int

  /// What a write may use at most that frees as much as it takes.
  private let largestByteCount: Int

  /// `present` is what the store takes already: where that is more than it may, it can still be emptied.
  public init(_ byteCount: Int, present: Int = 0) {
    self.byteCount = byteCount
    largestByteCount = present > byteCount ? present + Self.spare(of: byteCount) : byteCount
  }

  /// What only a write may use that frees as much as it takes: an eighth, but not less than 512 KiB
  /// nor more than 128 MiB, and a quarter of a small limit.
  public var spareByteCount: Int { Self.spare(of: byteCount) }

  private static func spare(of byteCount: Int) -> Int {
    min(max(byteCount / 8, 512 << 10), 128 << 20, byteCount / 4)
  }

  /// The most bytes for a write that only adds.
  public var usableByteCount: Int { byteCount - spareByteCount }

  /// Throws unless the store may take `needed` bytes; `usesSpare` says that the write frees as much as it
  /// takes.
  public func check(_ needed: Int, usesSpare: Bool, path: String) throws(StoreError) {
    guard needed > (usesSpare ? largestByteCount : usableByteCount) else { return }
    throw .sizeLimitReached(path: path, limit: byteCount)
  }
}
