import CambiumCore
import Synchronization

/// What is in use of a store in one version, remembered to be compared later.
///
/// What a store's `audit()` gives out, together with the pin of that version. Thread-safe.
public final class SpaceAudit: Sendable {
  private let space: Mutex<Space>
  private let owned: [Extent]

  /// Remembers `space`, a copy as it was when the version was pinned; `owned` are the extents of the store's
  /// own pages in it.
  public init(_ space: consuming sending Space, owned: [Extent] = []) {
    self.space = Mutex(space)
    self.owned = owned
  }

  /// Compares it with `reachable`, the extents of all pages of the version; see
  /// ``SpaceCheck/findings(space:reachable:owned:)``.
  public func findings(reachable: [Extent]) throws(StoreError) -> [String] {
    try space.withLock { space throws(StoreError) in
      try SpaceCheck.findings(space: &space, reachable: reachable, owned: owned)
    }
  }
}
