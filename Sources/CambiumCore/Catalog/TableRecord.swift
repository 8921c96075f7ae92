/// A table as the catalog describes it: columns in groups, and one tree per group.
///
/// All groups hold the same keys. A group has at most ``maximumGroupWidth`` columns, so that a row of
/// a wide table is not copied whole when one of its values changes.
///
/// A table has two entries in the catalog, because their lives differ: the *roots* change with every
/// commit, the *description* only with the schema.
///
/// Roots, little-endian:
///
///      0        1       4    8          16                 18            20       24
///     | entry 2 | zero  | id | next key | next column id   | group count | zero 4 | 40 per group |
///
/// Description, little-endian:
///
///      0         1    2              4                 8
///     | entry 5 | zero | column count | attribute count | columns … | attributes |
///
///     column:  | id 2 | group 1 | type 1 | flags 1 | zero 1 | name 2 | attributes 2 | bytes … |
///
/// Flag 1 of a column says that it is nullable.
public struct TableRecord: Hashable, Sendable {
  /// The most columns that one group holds.
  public static let maximumGroupWidth = 32
  /// The most groups that a table has: a group's number takes a byte.
  public static let maximumGroupCount = 256
  /// The most bytes that a column's name has, and the most that its attributes have.
  static let maximumNameByteCount = Int(UInt16.max)

  /// The table's number; never used again after it is dropped.
  public var id: UInt32
  /// The key that ``TableEditor/generateKey()`` gives next.
  public var nextKey: Int64
  /// The number that the next new column gets; they count from 1.
  public var nextColumn: UInt16
  /// The columns of each group, by ascending number within a group and over all groups.
  public var groups: [[ColumnDescriptor]]
  /// What a layer above the engine wants to remember of the table; not looked at here.
  public var attributes: [UInt8]

  /// All columns, by ascending number.
  public var columns: [ColumnDescriptor] { groups.flatMap { $0 } }

  /// The column with that name.
  public func column(named name: String) -> ColumnDescriptor? {
    for group in groups {
      if let column = group.first(where: { $0.name == name }) { return column }
    }
    return nil
  }

  /// The group that holds the column with number `id`.
  public func group(of id: UInt16) -> Int? {
    groups.firstIndex { $0.contains { $0.id == id } }
  }

  /// What the tree of group `index` needs to know.
  func layout(of index: Int) -> ColumnLayout { ColumnLayout(groups[index].map(\.spec)) }
}
