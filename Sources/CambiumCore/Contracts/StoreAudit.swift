/// A pinned version with the store's own bookkeeping as it is for that version.
///
/// Finding out what a version reaches takes long. The books are therefore remembered together with the pin:
/// they can be compared however many versions follow meanwhile, and nobody is kept from writing.
public struct StoreAudit: Sendable {
  /// Keeps the version readable.
  public let pin: Pin
  /// Whether it has the pages of dropped trees that are still listed.
  package var hasDeadRoots = true
  private let compare: @Sendable ([Extent]) throws(StoreError) -> [String]

  /// The audit of what `pin` holds; `compare` is called with the extents of all its pages, sorted by
  /// address, and returns findings.
  public init(
    of pin: Pin, compare: @escaping @Sendable ([Extent]) throws(StoreError) -> [String]
  ) {
    self.pin = pin
    self.compare = compare
  }

  /// Compares the books with `reachable`, the extents of all pages of the version, sorted by address.
  ///
  /// Returns a finding for each extent that is at once reachable and free or pending, or none of them,
  /// and for damage to the store's own pages.
  public func findings(reachable: [Extent]) throws(StoreError) -> [String] {
    try compare(reachable)
  }
}

extension PageStore {
  /// Compares the books of the newest version with what it reaches, for one that nobody supersedes
  /// meanwhile.
  package func check(reachable: [Extent]) throws(StoreError) -> [String] {
    try audit().findings(reachable: reachable)
  }
}
