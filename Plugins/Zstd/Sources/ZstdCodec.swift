#if Zstd
  import CambiumCore

  /// Pages compressed with zstd, one by one.
  ///
  /// ```
  /// FileStoreOptions(codec: try ZstdCodec(level: 3))
  /// ```
  ///
  /// The level decides only how pages are written, and may differ each time a store is opened. A
  /// dictionary, if there is one, is given to a store when it is made, which keeps it for good; whoever
  /// opens the store gets it from there. A page that does not shrink is stored as it is.
  ///
  /// May be used from any thread; contexts of zstd are kept and used again, one per thread that is in
  /// it at a time.
  ///
  /// Pointers: pages and bodies are borrowed from the caller for each call, and are not kept.
  public struct ZstdCodec: PageCodec {
    /// The levels that zstd has; higher ones compress better, and take longer to.
    public static let levels = 1...22
    /// The level that is meant when none is named.
    public static let defaultLevel = 3

    /// `zstd`.
    public var name: String { "zstd" }
    /// A compressed page does not depend on its place.
    public var needsPlace: Bool { false }
    /// How hard it compresses.
    public let level: Int
    /// What all pages are compressed with, made by `dictionary(from:)`; nil for none.
    public let dictionary: [UInt8]?
    private let engine: ZstdEngine

    /// A codec of that level, whose new stores keep `dictionary`.
    ///
    /// Throws `StoreError.codecFailure(codec:reason:)` for a level out of ``levels`` and for bytes that
    /// are no dictionary.
    public init(level: Int = defaultLevel, dictionary: [UInt8]? = nil) throws(StoreError) {
      guard Self.levels.contains(level) else {
        throw .codecFailure(codec: "zstd", reason: "its levels are 1 to 22, and \(level) is none")
      }
      self.level = level
      self.dictionary = dictionary
      engine = try ZstdEngine(level: level, dictionary: dictionary)
    }

    /// Lets programs name this codec: `zstd`, or `zstd:9` for a level; the object layer does it by itself.
    public static func register() {
      CodecRegistry.register(
        CodecRegistry.Entry(name: "zstd") { parameter, _ throws(StoreError) in
          guard let parameter else { return try ZstdCodec() }
          guard let level = Int(parameter) else {
            throw .codecFailure(
              codec: "zstd", reason: "behind its colon stands a level, not '\(parameter)'")
          }
          return try ZstdCodec(level: level)
        })
    }

    /// The dictionary, which belongs to the pages.
    public func makeParameters(for store: StoreNumber) throws(StoreError) -> [UInt8] {
      dictionary ?? []
    }

    /// The codec with the store's dictionary.
    public func bound(
      to store: StoreNumber, parameters: [UInt8]
    ) throws(StoreError) -> any PageCodec {
      let kept = parameters.isEmpty ? nil : parameters
      if kept == dictionary { return self }
      return try ZstdCodec(level: level, dictionary: kept)
    }

    /// The page compressed, or as it is when that saves nothing.
    public func encode(
      _ page: Span<UInt8>, kind: PageKind
    ) throws(StoreError) -> [UInt8] {
      try unsafe page.withUnsafeBytes { page throws(StoreError) in
        try unsafe ZstdBody.encode(page, engine)
      }
    }

    /// Does nothing.
    public func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

    /// The page, written out.
    ///
    /// Throws `StoreError.codecFailure(codec:reason:)` for bytes that are none, before memory is taken
    /// for what they claim to be.
    public func open(
      _ body: Span<UInt8>, context: PageContext
    ) throws(StoreError) -> PageBuffer {
      try unsafe body.withUnsafeBytes { body throws(StoreError) in
        try unsafe ZstdBody.open(body, engine, isSecret: context.isSecret)
      }
    }
  }
#endif
