/// A public column of a class table, as its values are read.
struct Column {
  let name: String
  let key: ColumnKey
  let storage: ColumnKey.Storage
  let collection: RealmFileProperty.Collection
  /// Whether it is a dictionary with integer keys.
  let hasIntegerKeys: Bool
  let isIndexed: Bool
  let isFullTextIndexed: Bool
  /// The class that links lead to; known once all classes are.
  var target: Int?
  /// The table key that stands for it in the file.
  let targetKey: Int64
  /// Where the list of distinct texts lies; nil when there is none.
  let enumeration: Int?

  var isNullable: Bool { key.isNullable }
  var leafIndex: Int { key.leafIndex }
}
