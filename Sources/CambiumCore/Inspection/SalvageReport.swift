/// What could be saved of a damaged store, and what could not.
public struct SalvageReport: Hashable, Sendable {
  /// A tree or value that was written anew.
  public struct Saved: Hashable, Sendable {
    /// Its name in the catalog.
    public var name: String
    /// What it is for; nil for a plain value.
    public var role: TreeReport.Role?
    /// How many rows or keys were written.
    public var rowCount: Int
    /// Where it comes from, when that is not the newest head.
    public var origin: String?
  }

  /// Something that could not be read.
  public struct Loss: Hashable, Sendable {
    /// The name of the tree it belongs to; `catalog` for names that cannot be read themselves.
    public var name: String
    /// Which keys or positions are gone, for people.
    public var keys: String
    /// How many rows or keys there were, as far as known.
    public var rowCount: Int?
    /// How many elements of a collection there were, when the row that owns it was saved without them.
    public var elementCount: Int?
    /// What is wrong with the page that held them.
    public var reason: String

    /// Says what is lost of the tree `name`.
    public init(
      name: String, keys: String, rowCount: Int?, elementCount: Int? = nil, reason: String
    ) {
      self.name = name
      self.keys = keys
      self.rowCount = rowCount
      self.elementCount = elementCount
      self.reason = reason
    }
  }

  /// The version from which most was taken; nil when no head could be read.
  public var version: Version?
  /// What was written, in the order of names.
  public var saved: [Saved] = []
  /// What was not.
  public var losses: [Loss] = []
  /// Which bytes of the store the medium did not give back; what was in them is among the losses, unless
  /// nothing was.
  public var unreadable: [Range<Int>] = []
  /// How many rows and keys are lost, as far as known.
  public var lostRowCount: Int { losses.reduce(0) { $0 + ($1.rowCount ?? 0) } }
  /// How many elements are lost of collections whose rows were saved, as far as known.
  public var lostElementCount: Int { losses.reduce(0) { $0 + ($1.elementCount ?? 0) } }
}
