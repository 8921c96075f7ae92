import CambiumCore
import CambiumZstd

/// What the pages of a compacted store are to go through.
struct Recoding {
  /// The chain of codecs, as `--codec` takes it.
  var chain: String
  var key: CodecKey?
  /// Whether to train a dictionary on the store's own pages.
  var trainsDictionary: Bool

  /// The codec for the copy of `database`; a dictionary that it has is kept unless one is trained.
  func codec(for database: Database) throws(StoreError) -> (any PageCodec)? {
    guard let codec = try CodecRegistry.codec(chain, key: key) else { return nil }
    #if Zstd
      let dictionary =
        trainsDictionary
        ? try ZstdCodec.dictionary(from: database) : Self.dictionary(of: database.codec)
      guard let dictionary else { return codec }
      var parts: [any PageCodec] = []
      for part in Self.parts(of: codec) {
        if let zstd = part as? ZstdCodec {
          parts.append(try ZstdCodec(level: zstd.level, dictionary: dictionary))
        } else {
          parts.append(part)
        }
      }
      return parts.count == 1 ? parts[0] : CodecChain(parts)
    #else
      return codec
    #endif
  }

  private static func parts(of codec: any PageCodec) -> [any PageCodec] {
    (codec as? CodecChain)?.codecs ?? [codec]
  }

  #if Zstd
    private static func dictionary(of codec: (any PageCodec)?) -> [UInt8]? {
      guard let codec else { return nil }
      return parts(of: codec).lazy.compactMap { ($0 as? ZstdCodec)?.dictionary }.first
    }
  #endif
}
