import CambiumCore

extension Realm {
  /// The number that the database got when it was made, which copies of its file have, too.
  package var databaseNumber: [UInt64] {
    let (high, low) = instance.coordinator.database.identity.uuid
    return [high, low]
  }

  /// The rows of a class that are not the same here and in `old`, by their keys: those there and those here,
  /// each ascending.
  ///
  /// For copies of one file, whose common pages are stepped over: what it costs follows what differs. Of other
  /// databases every row may be named. Both Realms have the class.
  package func differingRows(
    from old: Realm, ofType typeName: String
  ) throws(RLMError) -> (old: [Int64], new: [Int64]) {
    let (before, after) = (
      old.instance.requiredAccess(named: typeName).currentTable()?.groups ?? [],
      instance.requiredAccess(named: typeName).currentTable()?.groups ?? []
    )
    let result = catching { () throws(StoreError) in
      var rows: (old: Set<Int64>, new: Set<Int64>) = ([], [])
      for group in 0..<min(before.count, after.count) {
        let keys = try ColumnTree.diff(old: before[group], new: after[group])
        rows.old.formUnion(keys.removed + keys.modified)
        rows.new.formUnion(keys.inserted + keys.modified)
      }
      // Columns beyond the first groups are there or not: then every row differs.
      for group in before.dropFirst(after.count) { try rows.old.formUnion(group.allKeys()) }
      for group in after.dropFirst(before.count) { try rows.new.formUnion(group.allKeys()) }
      return (rows.old.sorted(), rows.new.sorted())
    }
    switch result {
    case .success(let rows): return rows
    case .failure(let error): throw RLMError(error, path: instance.configuration.path)
    }
  }

  /// The objects that hold an embedded one, however deep: one, or none where the store is damaged.
  package func owner(ofEmbedded object: DynamicObject) -> DynamicObject? {
    var object = object
    // In a crafted file objects may live in one another.
    var seen: Set<String> = []
    while object.objectSchema.isEmbedded {
      guard seen.insert("\(object.className) \(object.rowKey)").inserted,
        let owner = holder(of: object)
      else { return nil }
      object = owner
    }
    return object
  }

  private func holder(of object: DynamicObject) -> DynamicObject? {
    let name = object.className
    for type in schema.objectSchema {
      for property in type.properties where property.objectClassName == name {
        guard property.type == .object,
          let key = rowKeys(linkingTo: object, from: type.className, by: property.name).first
        else { continue }
        return dynamicObject(ofType: type.className, rowKey: key)
      }
    }
    return nil
  }
}

extension ColumnTree {
  fileprivate func allKeys() throws(StoreError) -> [Int64] {
    var keys: [Int64] = []
    var cursor = leafCursor()
    var isValid = try cursor.first()
    while isValid {
      for row in 0..<cursor.leaf.rowCount { keys.append(cursor.leaf.key(at: row)) }
      isValid = try cursor.next()
    }
    return keys
  }
}
