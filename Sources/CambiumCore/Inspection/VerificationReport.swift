/// What a walk over all of a version's pages found.
public struct VerificationReport: Hashable, Sendable {
  /// The version that was walked.
  public var version: Version
  /// Every tree of the version, in the order of their names; the catalog comes first.
  public var trees: [TreeReport] = []
  /// What is wrong, a line each; empty for a sound store.
  public var findings: [String] = []
  /// How many bytes of pages the version reaches.
  public var reachableByteCount: Int { trees.reduce(0) { $0 + $1.byteCount } }

  init(version: Version) { self.version = version }
}

/// What one tree holds and costs.
public struct TreeReport: Hashable, Sendable {
  /// What the tree is for.
  public enum Role: String, Hashable, Sendable {
    /// Names to trees.
    case catalog
    /// Byte keys to byte values.
    case keyTree
    /// Rows by column.
    case table
    /// Dropped, its pages not freed yet.
    case deadRoot
  }

  /// The name in the catalog.
  public var name: String
  /// What the tree is for.
  public var role: Role
  /// How many rows or keys it holds.
  public var rowCount: Int
  /// How many levels it has; of a table with several column groups, the highest.
  public var height: Int
  /// How many pages it has, those of its large values and collections included.
  public var pageCount: Int = 0
  /// How many bytes its pages have.
  public var byteCount: Int = 0
  /// The columns of a table.
  public var columns: [ColumnReport] = []
}

/// What one column of a table holds and costs.
public struct ColumnReport: Hashable, Sendable {
  /// What the catalog says of it.
  public var descriptor: ColumnDescriptor
  /// In how many leaves each encoding is used, by the encoding's name.
  public var leavesByEncoding: [String: Int] = [:]
  /// How many bytes of leaves it takes.
  public var byteCount: Int = 0
}
