import CambiumCluster
import CambiumCore

extension ClusterOptions {
  /// Options with which blocks come and go in small tests, logs end, and transactions send pages ahead.
  public static func small(isReadOnly: Bool = false, codec: (any PageCodec)? = nil)
    -> ClusterOptions
  {
    var options = ClusterOptions()
    options.isReadOnly = isReadOnly
    options.codec = codec
    options.blockByteCount = 64 << 10
    options.inlineByteCount = 8 << 10
    options.logByteCount = 64 << 10
    options.writeAheadByteCount = 256 << 10
    options.turnSeconds = 0.001
    options.collectionSeconds = 0.01
    return options
  }
}
