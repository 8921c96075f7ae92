import CambiumCore
import Synchronization

/// A class in one Realm instance: where its rows are now, and accessors of them.
///
/// Belongs to its Realm's context, except in a frozen Realm, where all that happens after the Realm was
/// made is that its table is found, once. What is the same in all Realms is the class's ``ClassLayout``.
@safe final class ClassAccess {
  // Exclusivity is not checked, as in the Realm's instance.
  // The Realm owns its classes, and every accessor that leads here keeps the Realm.
  unowned(unsafe) let realm: RealmInstance
  /// What the class is, as the Realm's schema has it.
  let layout: ClassLayout
  /// The class's place among the Realm's classes.
  let index: Int
  /// What all accessors look at before they trust the row they remember.
  let header: UnsafeMutablePointer<AccessHeader>
  /// The running transaction's editor of the class, while assignments may go past everything else to it.
  @exclusivity(unchecked) var nearEditor: Unmanaged<ClassEditor>?
  @exclusivity(unchecked) private var writePlan: WritePlan?
  /// Nil until a row was looked for, and in frozen Realms, which several threads may read.
  @exclusivity(unchecked) private var lastLeaf: RememberedLeaf?
  @exclusivity(unchecked) private var table: Table?
  /// The generation in which ``table`` was read; 0 for never.
  ///
  /// Several threads may read a frozen Realm: they see the table that was noted before.
  private let tableGeneration = Atomic<UInt64>(0)

  /// The Realm keeps the memory of `header`.
  init(
    realm: RealmInstance, layout: ClassLayout, header: UnsafeMutablePointer<AccessHeader>
  ) {
    unsafe self.realm = realm
    self.layout = layout
    unsafe self.header = unsafe header
    index = layout.index
  }

  /// The class as the program declares it.
  var description: ClassDescription { layout.description }

  /// How it is stored.
  var stored: StoredClass { layout.stored }

  /// The class that each property links to, if it does.
  var targets: [Int?] { layout.targets }

  /// The class that a property links to; nil when it is no link.
  @inline(__always) func target(_ propertyIndex: Int) -> ClassAccess? {
    guard let target = layout.targets[propertyIndex] else { return nil }
    return unsafe realm.classes[target]
  }

  /// What writing objects into a table like `record` needs to know.
  func writePlan(for record: TableRecord) -> WritePlan {
    if let writePlan = unsafe writePlan, writePlan.fits(record) { return writePlan }
    let plan = WritePlan(layout, record)
    unsafe writePlan = plan
    return plan
  }

  // MARK: Rows

  /// The class's table at the Realm's version or in its transaction; nil when the file has no such
  /// class (possible when it is only read).
  @inline(__always) func currentTable() -> Table? {
    if unsafe tableGeneration.load(ordering: .acquiring) == header.pointee.generation {
      return unsafe table
    }
    return findTable()
  }

  @inline(never) private func findTable() -> Table? {
    let found = unsafe realm.readTable(stored.tableName)
    if unsafe realm.isFrozen {
      unsafe realm.frozenTables.withLock { _ in note(found) }
    } else {
      note(found)
    }
    return found
  }

  private func note(_ table: Table?) {
    // In a frozen Realm another thread may have been faster. Reading may have moved a live one.
    let generation = unsafe header.pointee.generation
    if tableGeneration.load(ordering: .relaxed) == generation { return }
    unsafe self.table = table
    tableGeneration.store(generation, ordering: .releasing)
  }

  /// Forgets where rows were, whose values are as before.
  @inline(__always) func invalidateRows() {
    unsafe header.pointee.generation &+= 1
  }

  /// What has changed since the Realm was opened.
  @exclusivity(unchecked) private(set) var touched = TouchedSet()

  /// Forgets where rows were, because of a change.
  func noteChange(_ change: TouchedSet.Change) {
    invalidateRows()
    unsafe touched.insert(change)
  }

  /// Notes that a single value changed: the transaction's editor has said whether rows have moved.
  func noteAssignment(_ column: UInt16) { unsafe touched.insert(.column(column)) }

  /// Whether the running transaction has changed the class, so that single cells are read through
  /// its editor instead of packed leaves.
  var isTouched: Bool { unsafe realm.session?.editor(ifOpen: self) != nil }

  /// How many objects there are.
  var count: Int {
    unsafe realm.session?.editor(ifOpen: self)?.table.count ?? currentTable()?.count ?? 0
  }

  /// Where the object with that key and creation is; nil when it is gone.
  ///
  /// Not for touched classes.
  func locate(_ key: Int64, _ created: Int64) -> RowPosition? {
    guard let position = seek(key), creation(at: position) == created else { return nil }
    return position
  }

  /// Where the row with that key is; nil when there is none.
  func seek(_ key: Int64) -> RowPosition? {
    if let lastLeaf = unsafe lastLeaf,
      let row = unsafe lastLeaf.find(key, header.pointee.generation)
    {
      return RowPosition(leaf: lastLeaf.value, row: row, index: -1)
    }
    return search(key)
  }

  private func search(_ key: Int64) -> RowPosition? {
    guard let tree = currentTable()?.groups.first else { return nil }
    let position = unsafe realm.reading { () throws(StoreError) in try tree.seek(key) }
    if let position, unsafe !realm.isFrozen { remember(position.leaf) }
    return position
  }

  private func remember(_ leaf: ColumnLeaf) {
    let lastLeaf = unsafe lastLeaf ?? RememberedLeaf()
    unsafe lastLeaf.set(leaf, header.pointee.generation)
    unsafe self.lastLeaf = lastLeaf
  }

  /// When the object at `position` was created.
  func creation(at position: RowPosition) -> Int64 {
    withExtendedLifetime(position.leaf.page.owner) {
      creation(LeafRow(position.leaf, position.row))
    }
  }

  private func creation(_ row: LeafRow) -> Int64 {
    row.cell(layout.createdHead.column, hint: layout.createdHead.place)?.int ?? 0
  }

  /// When the object with that key was created; nil when there is none.
  ///
  /// Works in touched classes.
  func creation(of key: Int64) -> Int64? {
    if let editor = unsafe realm.session?.editor(ifOpen: self) { return editor.creation(of: key) }
    return seek(key).map { creation(at: $0) }
  }

  /// When the object with that key was created, in the newest version; nil when it is gone.
  ///
  /// May be asked from any thread.
  func newestCreation(of key: Int64) -> Int64? {
    unsafe realm.reading { () throws(StoreError) in
      let snapshot = try unsafe realm.coordinator.database.snapshot()
      defer { withExtendedLifetime(snapshot) {} }
      guard let position = try snapshot.table(stored.tableName)?.seek(key) else { return nil }
      return creation(at: position)
    }
  }

  // MARK: Accessors

  // Accessors of all layouts remember rows by the one header.

  /// The layout of accessors of type `type`.
  func layout(for type: Any.Type) -> ClassLayout { layout.layout(for: type) }

  /// A new accessor of the row at `position`.
  func object(at position: RowPosition, as layout: ClassLayout) -> ObjectBase {
    object(
      at: LeafRow(position.leaf, position.row), key: position.leaf.key(at: position.row),
      owner: position.leaf.page.owner, as: layout)
  }

  /// A new accessor of a row whose bytes `owner`, or else the snapshot, keeps alive.
  @inline(__always) func object(
    at row: LeafRow, key: Int64, owner: AnyObject?, as layout: ClassLayout
  ) -> ObjectBase {
    let object = layout.newAccessor()
    complete(object, key: key, created: creation(row))
    unsafe object.row = row
    if let owner { unsafe object.rowOwner = owner }
    unsafe object.generation = unsafe header.pointee.generation
    return object
  }

  /// Lets an accessor remember where its row is.
  func stand(_ object: ObjectBase, at position: RowPosition) {
    unsafe object.row = LeafRow(position.leaf, position.row)
    unsafe object.rowOwner = position.leaf.page.owner
    unsafe object.generation = unsafe header.pointee.generation
  }

  /// A new accessor of the object with that key; nil when there is none.
  func object(forKey key: Int64) -> ObjectBase? { object(forKey: key, as: layout) }

  /// A new accessor of type `type` of the object with that key; nil when there is none.
  @inline(__always) func object(forKey key: Int64, of type: Any.Type) -> ObjectBase? {
    if type == layout.type { return object(forKey: key, as: layout) }
    return object(forKey: key, as: layout(for: type))
  }

  /// A new accessor, laid out by `layout`, of the object with that key; nil when there is none.
  func object(forKey key: Int64, as layout: ClassLayout) -> ObjectBase? {
    if let session = unsafe realm.session, let editor = session.editor(ifOpen: self) {
      guard let created = editor.creation(of: key) else { return nil }
      let object = layout.newAccessor()
      complete(object, key: key, created: created)
      if Incarnation.isOf(session.transaction.version, created) { session.markAsNew(object) }
      return object
    }
    if let lastLeaf = unsafe lastLeaf,
      let row = unsafe lastLeaf.find(key, header.pointee.generation)
    {
      return object(at: lastLeaf.row(row), key: key, owner: lastLeaf.owner, as: layout)
    }
    return search(key).map { object(at: $0, as: layout) }
  }

  /// An accessor of an object that was deleted.
  func goneObject(_ key: Int64, as layout: ClassLayout) -> ObjectBase {
    let object = layout.type.init()
    bind(object, key: key, created: ObjectBase.deletedCreation)
    return object
  }

  /// Turns `object` into an accessor.
  func bind(_ object: ObjectBase, key: Int64, created: Int64) {
    complete(object, key: key, created: created)
    unsafe layout(for: Swift.type(of: object)).writeHeads(object.storage)
    if let session = unsafe realm.session, Incarnation.isOf(session.transaction.version, created) {
      session.markAsNew(object)
    }
  }

  @inline(__always) private func complete(_ object: ObjectBase, key: Int64, created: Int64) {
    unsafe object.instance = unsafe realm
    unsafe object.access = unsafe Unmanaged.passUnretained(self)
    unsafe object.header = unsafe header
    unsafe object.key = key
    object.created = created
    unsafe object.epoch = unsafe realm.invalidations
  }
}
