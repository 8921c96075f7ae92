/// A table within a write transaction: rows and columns can be changed.
///
/// Made by ``Transaction``; ends with it.
@safe public final class TableEditor {
  // Exclusivity of what every row touches is not checked: the editor has one user, and no access
  // to these calls out.
  /// Columns and numbers, as changed so far.
  @exclusivity(unchecked) public private(set) final var record: TableRecord
  @exclusivity(unchecked) private final var editors: [ColumnTreeEditor] {
    didSet { noteOnlyEditor() }
  }
  /// The editor of a table with one group, which `editors` keeps.
  @exclusivity(unchecked) private final var onlyEditor: Unmanaged<ColumnTreeEditor>?
  private let context: WriteContext
  @exclusivity(unchecked) private final var isRecordChanged: Bool
  private(set) var isDescriptionChanged: Bool
  /// What the catalog knows.
  @exclusivity(unchecked) private final var catalog: WrittenTable
  /// What follows from the columns; nil when they were changed.
  private var layouts: [ColumnLayout]?

  /// Edits a table that the catalog holds.
  convenience init(_ entry: TableCache.Entry, context: WriteContext) {
    self.init(
      State(
        record: entry.record, roots: entry.roots, layouts: entry.layouts,
        isRecordChanged: false, isDescriptionChanged: false,
        catalog: WrittenTable(roots: entry.roots, nextKey: entry.record.nextKey)),
      context: context)
  }

  /// Where an editor stands; its roots may be dirty.
  struct State {
    fileprivate let record: TableRecord
    fileprivate let roots: [TreeRoot]
    fileprivate let layouts: [ColumnLayout]?
    fileprivate let isRecordChanged: Bool
    fileprivate let isDescriptionChanged: Bool
    fileprivate let catalog: WrittenTable
  }

  /// Lets go of all pages; returns where the editor stands, with every change in its trees.
  func settle() throws(StoreError) -> State {
    var roots: [TreeRoot] = []
    for editor in unsafe editors { roots.append(try editor.settle()) }
    return unsafe State(
      record: record, roots: roots, layouts: layouts, isRecordChanged: isRecordChanged,
      isDescriptionChanged: isDescriptionChanged, catalog: catalog)
  }

  /// Goes on where another editor stood.
  init(_ state: State, context: WriteContext) {
    unsafe record = state.record
    self.context = context
    let layouts = state.layouts ?? state.record.groups.indices.map { state.record.layout(of: $0) }
    unsafe editors = zip(layouts, state.roots).map { layout, root in
      ColumnTreeEditor(root: root, layout: layout, context: context)
    }
    self.layouts = state.layouts
    unsafe isRecordChanged = state.isRecordChanged
    isDescriptionChanged = state.isDescriptionChanged
    unsafe catalog = state.catalog
    noteOnlyEditor()
  }

  /// Edits a table without rows that the catalog does not hold yet.
  convenience init(newTable record: TableRecord, context: WriteContext) {
    let groups = record.groups.indices
    self.init(
      TableCache.Entry(
        record: record, layouts: groups.map { record.layout(of: $0) },
        roots: groups.map { _ in .empty(.column) }),
      context: context)
    markDescriptionChanged()
  }

  /// The table as it was written last.
  var written: TableCache.Entry {
    unsafe TableCache.Entry(
      record: record, layouts: layouts ?? editors.map(\.layout), roots: catalog.roots)
  }

  private func noteOnlyEditor() {
    unsafe onlyEditor = unsafe editors.count == 1 ? Unmanaged.passUnretained(editors[0]) : nil
  }

  /// Counted up whenever a row of the first group that was located may lie elsewhere or be gone; see
  /// ``ColumnTreeEditor/locate(_:)``.
  package var rowGeneration: UnsafeMutablePointer<UInt64>? {
    get { unsafe editors[0].rowGeneration }
    set { for editor in unsafe editors { unsafe editor.rowGeneration = unsafe newValue } }
  }

  /// The table with all changes; valid until the next change.
  public var table: Table { unsafe Table(record: record, groups: editors.map(\.tree)) }

  /// The number of rows.
  public var count: Int { unsafe editors[0].count }

  // MARK: Rows

  /// A key that no row has or ever had, unless the caller chose it; ascending from 0.
  ///
  /// Throws ``StoreError/exhausted(what:limit:)`` when keys were given or chosen up to the largest
  /// integer. Rows can then be inserted only under keys of the caller's.
  public func generateKey() throws(StoreError) -> Int64 {
    guard unsafe record.nextKey < .max else {
      throw .exhausted(what: "keys of a table", limit: Int(Int64.max))
    }
    unsafe isRecordChanged = true
    unsafe catalog.noteKeyTaken()
    defer { unsafe record.nextKey += 1 }
    return unsafe record.nextKey
  }

  /// Whether `key` is above all keys that rows have or had, so that nobody has to look for it.
  public func isUnused(_ key: Int64) -> Bool { unsafe key >= record.nextKey && key < .max }

  /// Adds a row; `values` has one value per column, in the order of ``TableRecord/columns``.
  ///
  /// Returns false, changing nothing, when a row with that key exists. A key at or above
  /// ``TableRecord/nextKey`` moves that on.
  @discardableResult
  public func insert(
    key: Int64, values: UnsafeBufferPointer<ColumnValue>
  ) throws(StoreError) -> Bool {
    unsafe isRecordChanged = true
    if let onlyEditor = unsafe onlyEditor {
      let isNew = unsafe onlyEditor._withUnsafeGuaranteedRef { editor in
        Result<Bool, StoreError> { () throws(StoreError) in
          try unsafe editor.insert(key: key, values: values)
        }
      }
      guard try isNew.get() else { return false }
    } else {
      var start = 0
      for (group, editor) in unsafe editors.enumerated() {
        let width = unsafe record.groups[group].count
        let part = unsafe UnsafeBufferPointer(rebasing: values[start..<start + width])
        guard try unsafe editor.insert(key: key, values: part) else { return false }
        start += width
      }
    }
    let movesNextKey = unsafe key < .max && key + 1 >= record.nextKey
    if movesNextKey { unsafe record.nextKey = key + 1 }
    unsafe catalog.noteAdded(movesNextKey: movesNextKey)
    return true
  }

  /// Adds a row from `values`; columns that are not named get their defaults.
  ///
  /// Returns false, changing nothing, when a row with that key exists.
  @discardableResult
  public func insert(
    key: Int64, values: [(column: UInt16, value: ColumnValue)]
  ) throws(StoreError) -> Bool {
    var row = unsafe record.columns.map(\.spec.defaultValue)
    let ids = unsafe record.columns.map(\.id)
    for (column, value) in values {
      guard let index = ids.firstIndex(of: column) else {
        preconditionFailure("The table has no column \(column).")
      }
      row[index] = value
    }
    return try unsafe row.withUnsafeBufferPointer { buffer throws(StoreError) in
      try unsafe insert(key: key, values: buffer)
    }
  }

  /// Changes one value; false when there is no row with that key.
  @discardableResult
  public func update(
    key: Int64, column: UInt16, value: ColumnValue
  ) throws(StoreError) -> Bool {
    unsafe isRecordChanged = true
    guard let onlyEditor = unsafe onlyEditor else {
      return try editor(of: column).update(key: key, column: column, value: value)
    }
    let result = unsafe onlyEditor._withUnsafeGuaranteedRef { editor in
      Result<Bool, StoreError> { () throws(StoreError) in
        try editor.update(key: key, column: column, value: value)
      }
    }
    return try result.get()
  }

  /// Changes a value near the last change; see ``ColumnTreeEditor/updateNearby(_:_:value:)``.
  ///
  /// False in tables with several column groups.
  public func updateNearby(
    _ row: ColumnTreeEditor.NearbyRow, _ column: ColumnTreeEditor.PlacedColumn, value: ColumnValue
  ) -> Bool {
    unsafe onlyEditor?._withUnsafeGuaranteedRef { editor in
      editor.updateNearby(row, column, value: value)
    } ?? false
  }

  /// A value near the last change; see ``ColumnTreeEditor/valueNearby(_:_:)``.
  ///
  /// Nil in tables with several column groups.
  public func valueNearby(
    _ row: ColumnTreeEditor.NearbyRow, _ column: ColumnTreeEditor.PlacedColumn
  ) -> ColumnValue? {
    unsafe onlyEditor?._withUnsafeGuaranteedRef { editor in editor.valueNearby(row, column) }
  }

  /// Removes a row; false when there is none with that key.
  @discardableResult
  public func remove(key: Int64) throws(StoreError) -> Bool {
    unsafe isRecordChanged = true
    var isFound = false
    for editor in unsafe editors { isFound = try editor.remove(key: key) }
    return isFound
  }

  /// The same for keys that are lent as a pointer.
  @discardableResult
  package func remove(keys: UnsafeBufferPointer<Int64>) throws(StoreError) -> Int {
    unsafe isRecordChanged = true
    var count = 0
    for editor in unsafe editors { count = try unsafe editor.remove(keys: keys) }
    return count
  }

  /// Removes the rows with `keys`, which ascend; returns how many there were.
  ///
  /// For many rows this takes a tenth of the time of as many calls of ``remove(key:)``. A key may
  /// occur twice and need not exist.
  @discardableResult
  public func remove(keys: [Int64]) throws(StoreError) -> Int {
    try unsafe keys.withUnsafeBufferPointer { keys throws(StoreError) in
      try unsafe remove(keys: keys)
    }
  }

  /// Gives the rows with `keys`, which ascend, one value in a column; see
  /// ``ColumnTreeEditor/update(keys:column:value:)``.
  public func update(
    keys: ArraySlice<Int64>, column: UInt16, value: ColumnValue
  ) throws(StoreError) {
    unsafe isRecordChanged = true
    try editor(of: column).update(keys: keys, column: column, value: value)
  }

  /// Removes all rows; keys and column numbers are not used again.
  public func removeAll() throws(StoreError) {
    unsafe isRecordChanged = true
    for editor in unsafe editors { try editor.removeAll() }
  }

  /// The tree editor that holds the column with number `id`, for point reads and bulk work.
  public func editor(of id: UInt16) -> ColumnTreeEditor {
    if unsafe editors.count == 1 { return unsafe editors[0] }
    guard let group = unsafe record.group(of: id) else {
      preconditionFailure("The table has no column \(id).")
    }
    unsafe isRecordChanged = true
    return unsafe editors[group]
  }

  /// Adds all rows of `table`, which has the same columns, behind the rows there are.
  ///
  /// `copy` gives for each tree that a row owns the root of its copy.
  func append(
    contentsOf table: Table, copy: (TreeRoot) throws(StoreError) -> TreeRoot,
    progress: (Int) -> Void
  ) throws(StoreError) {
    unsafe isRecordChanged = true
    for (editor, group) in unsafe zip(editors, table.groups) {
      try editor.append(contentsOf: group, mapping: copy, progress: progress)
    }
  }

  // MARK: Columns

  /// Adds a column and returns its number; rows that exist read as its default, nothing is
  /// rewritten.
  ///
  /// Throws ``StoreError/exhausted(what:limit:)`` when the table can have no more columns, and
  /// ``StoreError/tooLarge(what:byteCount:limit:)`` for a name or attributes of more than 65,535
  /// bytes; nothing has changed then.
  @discardableResult
  public func addColumn(
    name: String, type: ColumnType, isNullable: Bool, attributes: [UInt8] = []
  ) throws(StoreError) -> UInt16 {
    let groupCount = unsafe record.groups.count
    let id = try unsafe record.append(
      ColumnDescriptor(type: type, isNullable: isNullable, name: name, attributes: attributes))
    markDescriptionChanged()
    if unsafe record.groups.count > groupCount {
      unsafe editors.append(
        try context.change { () throws(StoreError) in try makeGroup(groupCount) })
    } else {
      unsafe editors[groupCount - 1].layout = unsafe record.layout(of: groupCount - 1)
    }
    return id
  }

  /// A new group's tree, with a row for every key.
  private func makeGroup(_ group: Int) throws(StoreError) -> ColumnTreeEditor {
    let layout = unsafe record.layout(of: group)
    let editor = ColumnTreeEditor(root: .empty(.column), layout: layout, context: context)
    let defaults = layout.columns.map(\.defaultValue)
    var cursor = unsafe editors[0].tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      for row in 0..<cursor.leaf.rowCount {
        try editor.insert(key: cursor.leaf.key(at: row), values: defaults)
      }
      isValid = try cursor.next()
    }
    return editor
  }

  /// Removes a column with its values; its number is not used again.
  public func removeColumn(_ id: UInt16) throws(StoreError) {
    markDescriptionChanged()
    guard let group = unsafe record.group(of: id) else {
      preconditionFailure("The table has no column \(id).")
    }
    try context.change { () throws(StoreError) in try unsafe editors[group].clearColumn(id) }
    if let emptied = unsafe record.remove(id) {
      try unsafe editors[emptied].removeAll()
      unsafe editors.remove(at: emptied)
    } else {
      unsafe editors[group].layout = unsafe record.layout(of: group)
    }
  }

  /// Gives a column another name of at most 65,535 bytes; its values stay.
  public func renameColumn(_ id: UInt16, to name: String) {
    precondition(
      name.utf8.count <= TableRecord.maximumNameByteCount,
      "A column's name has at most 65,535 bytes.")
    markDescriptionChanged()
    unsafe record.withColumn(id) { $0.name = name }
  }

  /// Changes what a layer above remembers of a column, at most 65,535 bytes.
  public func setAttributes(_ attributes: [UInt8], ofColumn id: UInt16) {
    precondition(
      attributes.count <= TableRecord.maximumNameByteCount,
      "A column's attributes have at most 65,535 bytes.")
    markDescriptionChanged()
    unsafe record.withColumn(id) { $0.attributes = attributes }
  }

  /// What a layer above remembers of the table.
  public var attributes: [UInt8] {
    get { unsafe record.attributes }
    set {
      markDescriptionChanged()
      unsafe record.attributes = newValue
    }
  }

  private func markDescriptionChanged() {
    unsafe isRecordChanged = true
    isDescriptionChanged = true
    layouts = nil
  }

  // MARK: Writing

  /// Whether the catalog has to hear of anything once all pages are written.
  var isChanged: Bool {
    unsafe isRecordChanged || !editors.lazy.map(unsafe \.root).elementsEqual(catalog.roots)
      || catalog.roots.contains { $0.reference.isDirty }
  }

  /// The roots as they are, one for each group, if the catalog has to hear of anything; pages stay unwritten.
  func keepRoots() -> [TreeRoot]? {
    let roots = unsafe editors.map(unsafe \.root)
    let isKnown = unsafe !isDescriptionChanged && catalog.says(roots, nextKey: record.nextKey)
    unsafe catalog.roots = roots
    return isKnown ? nil : roots
  }

  /// Writes all dirty pages; returns one root per group.
  func flush() throws(StoreError) -> [TreeRoot] {
    var roots: [TreeRoot] = []
    for editor in unsafe editors { roots.append(try editor.flush()) }
    unsafe catalog.roots = roots
    return roots
  }

  /// Notes that the catalog says what this editor says.
  func markWritten() {
    unsafe isRecordChanged = false
    isDescriptionChanged = false
    unsafe catalog.noteWritten(nextKey: record.nextKey)
  }
}
