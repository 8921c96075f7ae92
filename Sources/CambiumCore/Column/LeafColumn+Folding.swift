import CPlatform

extension LeafColumn {
  /// How much memory ``foldedAsASCII(lowercasing:into:)`` needs.
  public var foldedByteCount: Int { dataByteCount + LeafHeader.slackByteCount }

  /// The same texts, with small letters in place of ASCII's capitals if `lowercasing`; nil when some have
  /// other characters than ASCII's, or lie outside of the leaf.
  ///
  /// All texts of a leaf are folded together, and what finds texts finds folded ones. `memory`, of
  /// ``foldedByteCount`` bytes, must stay as long as the result, and so must the leaf.
  public func foldedAsASCII(
    lowercasing: Bool, into memory: UnsafeMutableRawPointer
  ) -> LeafColumn? {
    guard overflow == nil, let parts = bytesColumn, let texts = parts.prefix.baseAddress else {
      return nil
    }
    let start = texts - data
    let all = cambium_fold_ascii(
      texts, dataByteCount - start, memory + start, lowercasing ? 26 : 0)
    if all >= 0x80 { return nil }
    memory.copyMemory(from: data, byteCount: start)
    (memory + dataByteCount).initializeMemory(
      as: UInt8.self, repeating: 0, count: LeafHeader.slackByteCount)
    return LeafColumn(self, data: UnsafeRawPointer(memory))
  }
}
