import CambiumCore

/// Sorts all objects of a class by columns of their own: the engine reads them leaf by leaf, and no value
/// is taken out of its column first.
enum WholeTableSort {
  /// The keys of all objects in order, `limit` of them at most; nil when this is not the way to sort
  /// them.
  static func keys(
    _ sortKeys: [SortKey], _ reader: TableReader, limit: Int?,
    _ interruption: Interruption?
  ) throws(StoreError) -> [Int64]? {
    guard let first = sortKeys.first, let tree = reader.tree(of: first.column.id) else {
      return nil
    }
    var terms: [SortTerm] = []
    for key in sortKeys {
      guard let term = term(key), reader.tree(of: key.column.id)?.root == tree.root else {
        return nil
      }
      terms.append(term)
    }
    return try tree.keys(sortedBy: terms, limit: limit, interruption: interruption)
  }

  /// The column as the engine sorts it; nil when its order is another one.
  private static func term(_ key: SortKey) -> SortTerm? {
    guard key.links.isEmpty, !key.column.isKey, !key.column.isEntry else { return nil }
    switch key.column.property {
    case .int, .bool, .string, .data, .float, .double, .objectId, .UUID:
      let column = ColumnSpec(
        id: key.column.id, type: key.column.type, isNullable: key.column.isNullable)
      return SortTerm(column, isAscending: key.isAscending)
    case .date, .decimal128, .any, .object, .linkingObjects: return nil
    }
  }
}
