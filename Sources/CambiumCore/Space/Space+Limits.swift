extension Space {
  /// The longest page a reference can name, in bytes.
  package static let largestPageByteCount = 65_535 * Extent.unitByteCount
  /// The most metadata a commit can carry, in bytes.
  package static let largestMetadataByteCount = 64 << 10

  /// Throws ``StoreError/tooLarge(what:byteCount:limit:)`` when a page cannot be that long.
  package static func checkPageByteCount(_ byteCount: Int) throws(StoreError) {
    precondition(byteCount > 0, "A page has at least one byte.")
    guard byteCount <= largestPageByteCount else {
      throw .tooLarge(what: "A page", byteCount: byteCount, limit: largestPageByteCount)
    }
  }

  /// Throws ``StoreError/tooLarge(what:byteCount:limit:)`` when a commit cannot carry that much.
  package static func checkMetadata(_ metadata: [UInt8]) throws(StoreError) {
    guard metadata.count <= largestMetadataByteCount else {
      throw .tooLarge(
        what: "A commit's metadata", byteCount: metadata.count, limit: largestMetadataByteCount)
    }
  }
}
