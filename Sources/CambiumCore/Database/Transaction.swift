/// The running change of a database.
///
/// One that is released without having ended rolls back.
public final class Transaction: WriteTransaction {
  let database: Database
  let writer: any PageWriter
  /// What it began at.
  let base: Head
  /// Where trees that rows own are edited, besides the tables and key trees named in the catalog.
  package let context: WriteContext
  var names: KeyTreeEditor
  // Exclusivity is not checked: a transaction has one user, and no access to these calls out.
  @exclusivity(unchecked) var tables = NameList<TableEditor>()
  @exclusivity(unchecked) var droppedTables: [ExactText] = []
  @exclusivity(unchecked) var keyTrees = NameList<KeyTreeEditor>()
  /// Whether this transaction has raised the layout's generation.
  @exclusivity(unchecked) var hasNewLayout = false
  /// What the catalog says of the key trees that are being edited.
  @exclusivity(unchecked) var writtenRoots: [ExactText: TreeRoot] = [:]
  /// What callers hold for this transaction beside its pages, in bytes; the budget counts it.
  @exclusivity(unchecked) package var heldByteCount = 0
  /// Whether all pages are to go to the store, however few were changed.
  var storesPages = false
  @exclusivity(unchecked) private var hasEnded = false
  /// Whether neither commit nor rollback has ended it.
  public var isActive: Bool { unsafe !hasEnded }

  init(database: Database, writer: any PageWriter, source: PageSource) {
    self.database = database
    self.writer = writer
    base = writer.base
    context = WriteContext(
      source: source, writer: writer, codec: database.codec, store: database.identity,
      residence: base.residence)
    names = Self.names(root: base.root, context)
  }

  /// An editor of the catalog at `root`.
  static func names(root: TreeRoot, _ context: WriteContext) -> KeyTreeEditor {
    let names = KeyTreeEditor(root: root, context: context)
    if context.source.mayHaveUnstoredRoots { names.checkStored = Catalog.checkStored }
    return names
  }

  deinit { rollback() }

  /// The version that committing makes.
  public var version: Version { writer.version }

  /// The version it began from.
  public var baseVersion: Version { base.version }

  /// Whether the store has all pages of that version; otherwise some lie in memory.
  package var beganWithAllPagesStored: Bool { base.residence == nil }

  // MARK: Reading

  /// Reads committed pages and this transaction's own.
  public var source: PageSource { context.source }

  /// The names, with this transaction's changes; the roots of trees that are being edited are those
  /// that were flushed last.
  public var catalog: Catalog { Catalog(tree: names.tree) }

  /// The table under `name` with this transaction's changes; nil when there is none.
  public func table(_ name: String) throws(StoreError) -> Table? {
    if let editor = unsafe tables[name] { return editor.table }
    if unsafe droppedTables.isEmpty { return try knownTable(name)?.table(source) }
    return try catalog.table(name)
  }

  /// The key tree under `name` with this transaction's changes; nil when there is none.
  public func keyTree(_ name: String) throws(StoreError) -> KeyTree? {
    if let editor = unsafe keyTrees[name] { return editor.tree }
    return try catalog.keyTree(name)
  }

  // MARK: Changing

  /// Makes an empty table under a name that no table has; columns get their numbers in order.
  ///
  /// Throws ``StoreError/damaged(_:)`` when the name stands for something else.
  /// Throws ``StoreError/exhausted(what:limit:)`` for more than
  /// ``TableRecord/maximumGroupCount`` × ``TableRecord/maximumGroupWidth`` columns.
  public func createTable(
    _ name: String, columns: [ColumnDescriptor], attributes: [UInt8] = []
  ) throws(StoreError) -> TableEditor {
    try checkNew(name)
    var record = TableRecord(
      id: try takeTableNumber(), nextKey: 0, nextColumn: 1, groups: [[]], attributes: attributes)
    for column in columns { try record.append(column) }
    let editor = TableEditor(newTable: record, context: context)
    unsafe tables[name] = editor
    try write(editor, name)
    return editor
  }

  /// The table under `name`, to change it; nil when there is none.
  ///
  /// Always the same editor.
  public func editTable(_ name: String) throws(StoreError) -> TableEditor? {
    precondition(isActive, "The transaction has ended; begin another one.")
    if let editor = unsafe tables[name] { return editor }
    let entry: TableCache.Entry?
    if unsafe droppedTables.isEmpty {
      entry = try knownTable(name)
    } else {
      entry = try catalog.table(name).map { TableCache.Entry($0) }
    }
    guard let entry else { return nil }
    let editor = TableEditor(entry, context: context)
    unsafe tables[name] = editor
    return editor
  }

  /// A table that this transaction has neither changed nor dropped, as its base has it.
  private func knownTable(_ name: String) throws(StoreError) -> TableCache.Entry? {
    if let known = database.tables.entry(name, in: base) { return known }
    guard let table = try catalog.table(name) else { return nil }
    let entry = TableCache.Entry(table)
    database.tables.note(entry, name, in: base)
    return entry
  }

  /// The key tree under `name`, to change it; made empty when there is none.
  ///
  /// Always the same editor. Throws ``StoreError/damaged(_:)`` when the name stands for something else.
  public func editKeyTree(_ name: String) throws(StoreError) -> KeyTreeEditor {
    precondition(isActive, "The transaction has ended; begin another one.")
    if let editor = unsafe keyTrees[name] { return editor }
    let root: TreeRoot
    if let tree = try catalog.keyTree(name) {
      root = tree.root
    } else {
      try checkNew(name, isTable: false)
      root = .empty(.key)
      try put(.keyTree(root), Catalog.key(name))
    }
    let editor = KeyTreeEditor(root: root, context: context)
    unsafe keyTrees[name] = editor
    unsafe writtenRoots[ExactText(name)] = root
    return editor
  }

  /// Keeps `bytes` under `name`, or forgets what was kept there.
  ///
  /// Throws ``StoreError/damaged(_:)`` when the name stands for something else.
  public func setValue(_ name: String, _ bytes: [UInt8]?) throws(StoreError) {
    precondition(isActive, "The transaction has ended; begin another one.")
    checkName(name)
    let entry = try catalog.writtenEntry(Catalog.key(name))
    switch entry {
    case nil, .value: break
    default: throw Self.namesAnother(name)
    }
    if let bytes {
      try put(.value(bytes), Catalog.key(name))
    } else if entry != nil {
      try remove(Catalog.key(name))
    }
  }

  /// Drops the table, key tree or value under `name`; false when there is none.
  ///
  /// The pages of a dropped tree are freed by this and later commits, a bounded number each.
  @discardableResult
  public func drop(_ name: String) throws(StoreError) -> Bool {
    precondition(isActive, "The transaction has ended; begin another one.")
    checkName(name)
    guard let entry = try catalog.writtenEntry(Catalog.key(name)) else { return false }
    switch entry {
    case .table:
      guard let editor = try editTable(name) else { return false }
      for root in try editor.flush() { context.abandon(root: root) }
      unsafe tables[name] = nil
      unsafe droppedTables.append(ExactText(name))
      try remove(Catalog.descriptionKey(name))
      try raiseLayoutGeneration()
    case .keyTree:
      context.abandon(root: try editKeyTree(name).flush())
      unsafe keyTrees[name] = nil
      unsafe writtenRoots[ExactText(name)] = nil
    case .value, .deadRoot, .tableDescription:
      break
    }
    try remove(Catalog.key(name))
    return true
  }

  /// Whether changed pages take more memory than the transaction's budget.
  package var isOverBudget: Bool {
    let budget = database.options.transactionBudgetByteCount
    // Whoever holds more than half of it would write ahead after each change.
    return unsafe context.dirty.byteCount > budget - min(heldByteCount, budget / 2)
  }

  /// Writes changed pages ahead of the commit when they outgrow the transaction's budget.
  ///
  /// Callers that change much call it now and then; pages obtained before are no longer valid.
  public func spillIfNeeded() throws(StoreError) {
    try context.checkChanges()
    guard isOverBudget else { return }
    try flushTrees()
  }

  // MARK: Ending

  /// Makes the changes the newest version and returns it.
  ///
  /// When it throws the transaction is rolled back and the old version is intact; only after
  /// ``StoreError/indeterminate(path:)`` nobody knows, and the next snapshot or transaction shows whether
  /// the changes are there. Throws the error of a change that failed before, whether or not it was caught.
  public func commit(
    durability: Durability = .full, metadata: [UInt8] = []
  ) throws(StoreError) -> Snapshot {
    database.adopt(try publish(durability, metadata))
  }

  /// Publishes what was changed and ends the transaction; `isAwaited` says that somebody will wait until it is
  /// durable.
  func publish(
    _ durability: Durability, isAwaited: Bool = false, _ metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    precondition(isActive, "The transaction has ended; begin another one.")
    let start = DatabaseEvents.now
    do throws(StoreError) {
      try context.checkChanges()
      context.dropMark()
      var deadRoots = database.deadRoots.withLock { $0 }
      let pin =
        if let pin = try publishInMemory(
          durability, isAwaited: isAwaited, metadata, &deadRoots)
        { pin } else {
          try publishStored(durability, metadata, &deadRoots)
        }
      deadRoots.advance(from: base, to: pin.head)
      database.deadRoots.withLock { $0 = deadRoots }
      database.supersede(by: pin.head.version)
      end()
      // It may be the same version with its pages stored.
      if pin.head.version == base.version { return pin }
      if !database.watchers.isEmpty { database.watchers.tell(pin.head.version) }
      DatabaseEvents.tell(since: start, database.identity.path) {
        unsafe .committed(
          version: pin.head.version, byteCount: context.writtenByteCount, durability: durability,
          nanoseconds: $0)
      }
      return pin
    } catch {
      if case .indeterminate = error { endUnknown() } else { rollback() }
      throw error
    }
  }

  /// Ends after a publication that may have taken place.
  ///
  /// Its pages may be those of the newest version, so that none is dropped. Whoever waits for a commit is
  /// told of what the store shows now.
  private func endUnknown() {
    end()
    if let newest = try? database.store.newestHead(), newest.version > base.version {
      database.watchers.tell(newest.version)
    }
  }

  /// Drops all changes.
  public func rollback() {
    guard isActive else { return }
    context.restoreResidentPages()
    writer.abort()
    end()
  }

  private func end() {
    unsafe hasEnded = true
    unsafe tables = NameList()
    unsafe keyTrees = NameList()
    context.source.end()
  }

  /// Notes what the tables that were touched have become; of a name that was dropped and given again,
  /// the new table.
  func noteTables(_ known: inout [ExactText: TableCache.Entry]) {
    for name in unsafe droppedTables { known[name] = nil }
    for (name, editor) in unsafe tables.entries { known[ExactText(name)] = editor.written }
  }
}
