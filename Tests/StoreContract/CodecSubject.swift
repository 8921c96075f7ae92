import CambiumCore

/// A codec that is held against the contract.
public struct CodecSubject: Sendable, CustomStringConvertible {
  /// What reports call it.
  public var name: String
  /// Makes the codec; called several times, and all it makes must open one another's pages in a store
  /// that was made with one of them.
  public var make: @Sendable () throws(StoreError) -> any PageCodec
  /// Whether it refuses pages of which any bit was changed or which lie in another place, as
  /// encryption does.
  ///
  /// Others may return something of that; the engine's checksums speak for them.
  public var authenticates = false

  /// A codec that does not authenticate, unless it is said otherwise.
  public init(
    _ name: String, make: @escaping @Sendable () throws(StoreError) -> any PageCodec
  ) {
    self.name = name
    self.make = make
  }

  /// The name.
  public var description: String { name }
}
