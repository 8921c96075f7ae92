import CambiumCore

/// A list property of one object, wherever its elements are: in the row, in a tree of its own, or in
/// a tree that the running transaction has changed.
struct StoredListAccess {
  let access: ClassAccess
  let key: Int64
  let index: Int

  /// What a list's elements were found as; valid until the class's rows move.
  enum Content {
    case small([UInt8])
    case tree(ColumnTree)
  }

  var property: Property { access.description.properties[index].property }
  var elementType: ColumnType { property.elementColumnType }
  var column: UInt16 { access.stored.columns[index] }
  var listKey: WriteSession.ListKey {
    WriteSession.ListKey(table: access.stored.tableID, column: column, key: key)
  }

  /// The elements as they are now.
  func content(in realm: RealmInstance) -> Content {
    if let list = realm.session?.list(ifOpen: listKey) { return .tree(list.tree) }
    return realm.withCell(access, key, index) { cell in
      switch cell {
      case .bytes(let bytes): .small(Array(bytes))
      case .tree(let root): .tree(ColumnTree(root: root, source: realm.source))
      default: .small([])
      }
    }
  }

  /// The targets of a list of links.
  func links(in realm: RealmInstance) -> [Int64] {
    var links: [Int64] = []
    content(in: realm).forEach(elementType, realm) { if let link = $0.link { links.append(link) } }
    return links
  }

  /// Ends the editing of the list's own tree, so that its owner's row names it as it is now.
  ///
  /// The tree goes with the row or with the cell.
  func closeTree(in session: WriteSession) throws(StoreError) {
    guard let list = session.list(ifOpen: listKey) else { return }
    try session.write(list, listKey)
    session.closeList(listKey)
  }

  /// Takes every link to one of `targets` out of a list of any class in the file.
  static func removeAll(
    _ targets: Set<Int64>, key: Int64, column: UInt16, table: TableEditor, in session: WriteSession
  ) throws(StoreError) {
    let listKey = WriteSession.ListKey(table: table.record.id, column: column, key: key)
    var list = session.list(ifOpen: listKey)
    if list == nil {
      switch try table.editor(of: column).value(key: key, column: column) {
      case .tree(let root)?: list = session.openList(listKey, root: root, type: .int)
      case .bytes(let bytes)?:
        let kept = StoredList.elements(of: bytes, .int).filter { element in
          !(element.link.map { targets.contains($0) } ?? false)
        }
        let form = StoredList.form(kept, .int) ?? []
        let result = form.withUnsafeBytes { bytes in
          catching { () throws(StoreError) in
            try table.update(key: key, column: column, value: .bytes(bytes))
          }
        }
        _ = try result.get()
        return
      default: return
      }
    }
    guard let list else { return }
    var positions: [Int] = []
    try StoredElements.tree(list.tree, .int).forEach { element, position in
      if let link = element.link, targets.contains(link) { positions.append(position) }
      return true
    }
    for position in positions.reversed() { try list.remove(at: position) }
  }
}

extension StoredListAccess.Content {
  /// Lends the elements to `body`; none where they break the format.
  @inline(__always) func withElements<Result>(
    _ type: ColumnType, _ body: (StoredElements) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    switch self {
    case .small(let bytes):
      return try bytes.withBytes { bytes throws(StoreError) in
        try body(.small(StoredList(bytes, type) ?? StoredList(emptyOf: type)))
      }
    case .tree(let tree): return try body(.tree(tree, type))
    }
  }

  /// How many elements there are.
  func count(_ type: ColumnType) -> Int {
    switch self {
    case .small(let bytes): bytes.withUnsafeBytes { StoredList($0, type)?.count ?? 0 }
    case .tree(let tree): tree.count
    }
  }

  /// Calls `body` with every element in order.
  func forEach(_ type: ColumnType, _ realm: RealmInstance, _ body: (ColumnValue) -> Void) {
    forEach(type, realm) { element, _ in
      body(element)
      return true
    }
  }

  /// Calls `body` with each element and its position in order, until it returns false.
  func forEach(
    _ type: ColumnType, _ realm: RealmInstance, _ body: (ColumnValue, Int) -> Bool
  ) {
    realm.reading { () throws(StoreError) in
      try withElements(type) { elements throws(StoreError) in try elements.forEach(body) }
    }
  }

  /// Calls `body` with the element at `index`, which exists.
  func withElement<Result>(
    _ index: Int, _ type: ColumnType, _ realm: RealmInstance, _ body: (ColumnValue) -> Result
  ) -> Result {
    realm.reading { () throws(StoreError) in
      try withElements(type) { elements throws(StoreError) in
        try elements.withElement(at: index, body)
      }
    }
  }
}

extension StoredList {
  /// The elements of a small form.
  ///
  /// Bytes stay valid as long as the form.
  static func elements(of bytes: UnsafeRawBufferPointer, _ type: ColumnType) -> [ColumnValue] {
    guard let list = StoredList(bytes, type) else { return [] }
    return (0..<list.count).map { list[$0] }
  }
}
