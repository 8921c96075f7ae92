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
    guard unsafe overflow == nil, let parts = bytesColumn,
      let texts = unsafe parts.prefix.baseAddress
    else {
      return nil
    }
    let start = unsafe texts - data
    let all = unsafe cambium_fold_ascii(
      texts, dataByteCount - start, memory + start, lowercasing ? 26 : 0)
    if all >= 0x80 { return nil }
    unsafe memory.copyMemory(from: data, byteCount: start)
    unsafe (memory + dataByteCount).initializeMemory(
      as: UInt8.self, repeating: 0, count: LeafHeader.slackByteCount)
    return unsafe LeafColumn(self, data: UnsafeRawPointer(memory))
  }
}
