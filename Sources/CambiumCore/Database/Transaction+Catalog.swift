/// What a transaction tells the catalog: which name stands for what, and what has become of it.
///
/// Pointers: roots and records are those of editors of this transaction.
extension Transaction {
  /// Tells the catalog what has become of a key tree.
  func note(_ root: TreeRoot, keyTree name: String) throws(StoreError) {
    if let written = unsafe writtenRoots[ExactText(name)], root.isNamed(by: written) { return }
    try put(.keyTree(root), Catalog.key(name))
    unsafe writtenRoots[ExactText(name)] = root
  }

  func write(_ editor: TableEditor, _ name: String) throws(StoreError) {
    guard editor.isChanged else { return }
    try note(editor, name, roots: try editor.flush())
  }

  /// Tells the catalog what has become of a table; nil where its roots are what it says.
  func note(
    _ editor: TableEditor, _ name: String, roots: [TreeRoot]?
  ) throws(StoreError) {
    guard let roots else { return }
    let record = unsafe editor.record
    try put(
      .table(
        CatalogEntry.TableRoots(
          id: record.id, nextKey: record.nextKey, nextColumn: record.nextColumn, roots: roots)),
      Catalog.key(name))
    if editor.isDescriptionChanged {
      try put(
        .tableDescription(
          CatalogEntry.TableDescription(groups: record.groups, attributes: record.attributes)),
        Catalog.descriptionKey(name))
      try raiseLayoutGeneration()
    }
    editor.markWritten()
  }

  func raiseLayoutGeneration() throws(StoreError) {
    if unsafe hasNewLayout { return }
    try put(.value(try layoutGeneration() &+ 1), Catalog.layoutGenerationKey)
    unsafe hasNewLayout = true
  }

  func put(_ entry: CatalogEntry, _ key: [UInt8]) throws(StoreError) {
    _ = try names.set(key, entry.bytes)
  }

  func remove(_ key: [UInt8]) throws(StoreError) { _ = try names.remove(key) }

  func checkName(_ name: String) {
    precondition(
      !name.isEmpty && !name.utf8.contains(0),
      "A name has at least one character, none of them zero.")
  }

  /// Throws when a name is too long for the key behind its own, that of a description.
  private func checkLength(_ name: String) throws(StoreError) {
    let limit = KeyNode.maximumKeyByteCount - 1
    guard name.utf8.count <= limit else {
      throw .tooLarge(what: "A name", byteCount: name.utf8.count, limit: limit)
    }
  }

  func checkNew(_ name: String, isTable: Bool = true) throws(StoreError) {
    precondition(isActive, "The transaction has ended; begin another one.")
    checkName(name)
    try checkLength(name)
    switch try catalog.writtenEntry(Catalog.key(name)) {
    case nil: break
    case .table where isTable: preconditionFailure("There is a table '\(name)'; drop it first.")
    default: throw Self.namesAnother(name)
    }
  }

  /// What a name has that stands for something of another kind: a crafted file, or an earlier program, may have given
  /// it to that.
  static func namesAnother(_ name: String) -> StoreError {
    .damaged(Damage(.encoding, "the name '\(name)', which stands for something of another kind"))
  }

  // MARK: Copying

  /// Makes a table like `table`, of another database, with all its rows.
  func adoptTable(
    _ name: String, _ table: Table, progress: (Int) -> Void
  ) throws(StoreError) {
    try checkNew(name)
    let editor = TableEditor(newTable: table.record, context: context)
    unsafe tables[name] = editor
    try editor.append(
      contentsOf: table,
      copy: { root throws(StoreError) in
        try OwnedTreeCopy(source: table.groups[0].source, context: context).copy(root)
      }, progress: progress)
    try write(editor, name)
  }

  /// Makes an empty table as `record` describes it.
  func adoptTable(_ name: String, _ record: TableRecord) throws(StoreError) -> TableEditor {
    try checkNew(name)
    let editor = TableEditor(newTable: record, context: context)
    unsafe tables[name] = editor
    try write(editor, name)
    return editor
  }

  /// Gives the next table the number `next`.
  func adoptNextTableNumber(_ next: UInt32) throws(StoreError) {
    var writer = ByteWriter()
    writer.put(next)
    try put(.value(writer.bytes), Catalog.nextTableKey)
  }

  func takeTableNumber() throws(StoreError) -> UInt32 {
    let next = try catalog.nextTableNumber()
    guard next < .max else {
      throw .exhausted(what: "numbers of tables", limit: Int(next))
    }
    try adoptNextTableNumber(next + 1)
    return next
  }
}
