#if RealmFile
  internal import CambiumRealmFile

  /// The values of a property for the objects of a leaf, read in parts, so that large ones are not all held at
  /// once.
  final class RealmFileWindow {
    private let leaf: RealmFileLeaf
    private let source: Int
    /// Which object the first value is of.
    private var first = 0
    private var values: [RealmFileValue] = []

    /// A part ends when its values have taken so many bytes of the file.
    private static let byteLimit = 2 << 20

    init(_ leaf: RealmFileLeaf, _ source: Int) {
      self.leaf = leaf
      self.source = source
    }

    /// The value of the object at `row`; rows ascend from call to call.
    func value(_ row: Int) throws -> RealmFileValue {
      if row - first >= values.count {
        // The last part goes before the next one comes.
        values = []
        values = try leaf.values(of: source, from: row, byteLimit: Self.byteLimit)
        first = row
      }
      return values[row - first]
    }
  }
#endif
