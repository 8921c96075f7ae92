#if Zstd
  import CZstd
  import CambiumCore

  /// Compresses and writes out with contexts that are used again.
  ///
  /// The only file that calls zstd, but for training.
  ///
  /// Unchecked: the digested dictionaries are made once and only read; contexts belong to the pool or
  /// to one call.
  final class ZstdEngine: @unchecked Sendable {
    private let compressors: ContextPool
    private let decompressors: ContextPool
    private let dictionaries: Dictionaries

    /// Dictionaries as zstd digests them; freed after the contexts that refer to them.
    @safe private final class Dictionaries {
      let compressing, decompressing: OpaquePointer?

      init(level: Int, bytes: [UInt8]?) throws(StoreError) {
        guard let bytes else {
          unsafe (compressing, decompressing) = (nil, nil)
          return
        }
        unsafe compressing = unsafe ZSTD_createCDict(bytes, bytes.count, Int32(level))
        unsafe decompressing = unsafe ZSTD_createDDict(bytes, bytes.count)
        // Any bytes could serve; a trained dictionary says what it is.
        guard unsafe compressing != nil, unsafe decompressing != nil,
          unsafe ZSTD_getDictID_fromDict(bytes, bytes.count) != 0
        else {
          throw .codecFailure(codec: "zstd", reason: "its dictionary is damaged")
        }
      }

      deinit {
        unsafe ZSTD_freeCDict(compressing)
        unsafe ZSTD_freeDDict(decompressing)
      }
    }

    init(level: Int, dictionary: [UInt8]?) throws(StoreError) {
      let dictionaries = try Dictionaries(level: level, bytes: dictionary)
      self.dictionaries = dictionaries
      compressors = unsafe ContextPool {
        let context = unsafe ZSTD_createCCtx()
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Int32(level))
        // The page's checksum is in the reference to it.
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0)
        if let dictionary = unsafe dictionaries.compressing {
          unsafe ZSTD_CCtx_refCDict(context, dictionary)
        }
        return unsafe context
      } free: {
        unsafe ZSTD_freeCCtx($0)
      }
      decompressors = unsafe ContextPool {
        let context = unsafe ZSTD_createDCtx()
        if let dictionary = unsafe dictionaries.decompressing {
          unsafe ZSTD_DCtx_refDDict(context, dictionary)
        }
        return unsafe context
      } free: {
        unsafe ZSTD_freeDCtx($0)
      }
    }

    /// Compresses `page` into one frame; its length, or nil when there is not enough room.
    func compress(
      _ page: UnsafeRawBufferPointer, into frame: UnsafeMutableRawBufferPointer
    ) -> Int? {
      unsafe compressors.withContext { context in
        let length = unsafe ZSTD_compress2(
          context, frame.baseAddress, frame.count, page.baseAddress, page.count)
        return ZSTD_isError(length) == 0 ? length : nil
      }
    }

    /// How long the content of a frame says it is; nil for anything else than a whole frame that says.
    static func contentByteCount(of frame: UnsafeRawBufferPointer) -> Int? {
      // Sizes near the top of the range are zstd's codes for “unknown” and “not a frame”.
      unsafe Int(exactly: ZSTD_getFrameContentSize(frame.baseAddress, frame.count))
    }

    /// Writes out `frame`, which must fill `content`; what is wrong with it otherwise.
    func decompress(
      _ frame: UnsafeRawBufferPointer, into content: UnsafeMutableRawBufferPointer
    ) -> String? {
      unsafe decompressors.withContext { context in
        let length = unsafe ZSTD_decompressDCtx(
          context, content.baseAddress, content.count, frame.baseAddress, frame.count)
        if ZSTD_isError(length) != 0 { return unsafe String(cString: ZSTD_getErrorName(length)) }
        return length == content.count ? nil : "it is shorter than it says"
      }
    }
  }
#endif
