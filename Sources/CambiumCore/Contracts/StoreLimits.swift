/// What pages and commits may take, in every store.
public enum StoreLimits {
  /// The longest page that a reference can name, in bytes.
  public static let pageByteCount = 65_535 * Extent.unitByteCount
  /// The most metadata that a commit can carry, in bytes.
  public static let metadataByteCount = 64 << 10

  /// The most that a store keeps for a codec, in bytes.
  public static let parametersByteCount = 1 << 20

  /// Throws ``StoreError/tooLarge(what:byteCount:limit:)`` when a store cannot keep `parameters` for the codec
  /// of that name.
  public static func check(parameters: [UInt8], codec name: String) throws(StoreError) {
    guard parameters.count <= parametersByteCount else {
      throw .tooLarge(
        what: "What codec \(name) keeps", byteCount: parameters.count, limit: parametersByteCount)
    }
  }

  /// Throws ``StoreError/tooLarge(what:byteCount:limit:)`` when a page cannot be that long; stops for one
  /// without bytes.
  public static func checkPage(byteCount: Int) throws(StoreError) {
    precondition(byteCount > 0, "A page has at least one byte.")
    guard byteCount <= pageByteCount else {
      throw .tooLarge(what: "A page", byteCount: byteCount, limit: pageByteCount)
    }
  }

  /// Throws ``StoreError/tooLarge(what:byteCount:limit:)`` when a commit cannot carry `metadata`.
  public static func check(metadata: [UInt8]) throws(StoreError) {
    guard metadata.count <= metadataByteCount else {
      throw .tooLarge(
        what: "A commit's metadata", byteCount: metadata.count, limit: metadataByteCount)
    }
  }
}
