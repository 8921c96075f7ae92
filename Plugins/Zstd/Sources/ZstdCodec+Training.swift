#if Zstd
  import CZstd
  import CambiumCore

  /// Pointers: zstd reads samples and writes the dictionary within the call, each no longer than it is
  /// told; texts of its errors are its own for good.
  extension ZstdCodec {
    /// How long a dictionary is unless another length is asked for, in bytes.
    public static let defaultDictionaryByteCount = 64 << 10

    /// A dictionary of what the pages of `database` have in common, for a store like it.
    ///
    /// Reads up to a hundred times as many bytes of pages. Throws
    /// `StoreError.codecFailure(codec:reason:)` when there are too few pages to learn from.
    public static func dictionary(
      from database: Database, byteCount: Int = defaultDictionaryByteCount
    ) throws(StoreError) -> [UInt8] {
      try dictionary(
        from: try database.samplePages(byteCount: 100 * byteCount), byteCount: byteCount)
    }

    /// A dictionary of what `pages` have in common, at most `byteCount` bytes.
    ///
    /// Throws `StoreError.codecFailure(codec:reason:)` when they are too few to learn from.
    public static func dictionary(
      from pages: [[UInt8]], byteCount: Int = defaultDictionaryByteCount
    ) throws(StoreError) -> [UInt8] {
      let samples = Array(pages.joined())
      var problem: String?
      let dictionary = unsafe [UInt8](unsafeUninitializedCapacity: max(1, byteCount)) {
        buffer, count in
        let length = unsafe ZDICT_trainFromBuffer(
          buffer.baseAddress, buffer.count, samples, pages.map(\.count), UInt32(pages.count))
        if ZDICT_isError(length) != 0 {
          problem = unsafe String(cString: ZDICT_getErrorName(length))
        } else {
          count = length
        }
      }
      if let problem {
        throw .codecFailure(
          codec: "zstd",
          reason:
            "no dictionary can be trained on \(pages.count) pages (\(problem)); it takes more "
            + "data than that")
      }
      return dictionary
    }
  }
#endif
