import CambiumCore

/// Names one state of the root: no two have the same token.
struct RootToken: Hashable, Sendable {
  /// Each owner of the writer lock has an epoch of its own, above those before it.
  var epoch: UInt64
  /// How often the root was swapped.
  var generation: UInt64
  /// A random number of the store that made this state: two that want the same epoch differ in it.
  var owner: UInt64

  /// As it is stored, 24 bytes: what a swap compares.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.put(epoch)
    writer.put(generation)
    writer.put(owner)
    return writer.bytes
  }
}
