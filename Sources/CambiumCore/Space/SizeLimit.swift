/// How large a store may become, and what it keeps back of that for writes that give room back.
///
/// A deletion writes new pages before the old ones can go, so a store that was filled to the last byte could
/// never become smaller.
package struct SizeLimit: Hashable, Sendable {
  /// The most bytes that the store takes.
  package let byteCount: Int

  package init(_ byteCount: Int) { self.byteCount = byteCount }

  /// What only a write may use that frees as much as it takes: a sixteenth, but not less than 256 KiB
  /// nor more than 64 MiB, and a quarter of a small limit.
  package var spareByteCount: Int { min(max(byteCount / 16, 256 << 10), 64 << 20, byteCount / 4) }

  /// The most bytes for a write that only adds.
  package var usableByteCount: Int { byteCount - spareByteCount }

  /// Throws unless the store may take `needed` bytes; `usesSpare` says that the write frees as much as it
  /// takes.
  package func check(_ needed: Int, usesSpare: Bool, path: String) throws(StoreError) {
    guard needed > (usesSpare ? byteCount : usableByteCount) else { return }
    throw .sizeLimitReached(path: path, limit: byteCount)
  }
}
