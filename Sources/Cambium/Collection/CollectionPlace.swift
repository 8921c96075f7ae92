import CambiumCore

/// Which collection property of which object.
struct CollectionPlace {
  let access: ClassAccess
  let key: Int64
  let index: Int

  var property: Property { access.description.properties[index].property }
  var elementType: ColumnType { property.elementColumnType }
  var column: UInt16 { access.stored.columns[index] }
  /// The class of the elements; nil when they are values.
  var target: ClassAccess? { access.target(index) }

  /// The link from the collection to an object.
  func backlink(to target: Int64) -> BacklinkKey {
    BacklinkKey(target: target, table: access.stored.tableID, column: column, source: key)
  }

  /// The elements as they are now: in the row, in a tree of their own, or in one that the running
  /// transaction has changed.
  func content() -> CollectionContent {
    let realm = access.realm
    let treeKey = WriteSession.TreeKey(table: access.stored.tableID, column: column, key: key)
    if let tree = realm.session?.tree(ifOpen: treeKey) {
      return CollectionContent(tree.tree, elementType)
    }
    return realm.withCell(access, key, index) {
      CollectionContent($0, elementType, realm.source)
    }
  }
}
