import CambiumCore

/// A write transaction of a Realm: what has to change together when an object does.
///
/// Most of the interface that leads here cannot throw. The first failure of the store is kept, what
/// follows changes nothing more, and committing throws it.
final class WriteSession {
  // Exclusivity is not checked: the session has one user, and each access ends before the next.
  unowned(unsafe) let realm: RealmInstance
  let transaction: Transaction
  /// What happens to objects whose primary key is taken, while objects are being added.
  @exclusivity(unchecked) var policy = Realm.UpdatePolicy.error
  /// Whether assignments leave values that are equal alone.
  @exclusivity(unchecked) var skipsEqualValues = false
  /// Whether a migration runs, which may assign primary keys.
  @exclusivity(unchecked) var isMigrating = false
  /// In a migration, gives the objects that stand for what a link is assigned: dictionaries, arrays, old
  /// objects.
  @exclusivity(unchecked) var substitute: ((Any?, ClassAccess, Int) -> Any?)?
  /// Classes whose primary keys a migration assigned.
  @exclusivity(unchecked) var assignedKeys: Set<Int> = []
  /// Which properties count for objects that were made from values without all of them.
  @exclusivity(unchecked) var partials: [ObjectIdentifier: Set<Int>] = [:]
  /// Objects that have a key and wait for their row.
  @exclusivity(unchecked) var queue: [Adoption] = []
  /// Where ``queue`` goes on.
  @exclusivity(unchecked) var queueStart = 0
  /// The integer primary keys among the first ``notedCount`` of ``queue``.
  @exclusivity(unchecked) private var queuedKeys: Set<QueuedKey> = []
  @exclusivity(unchecked) private var notedCount = 0
  /// Whether ``queue`` is being worked off further up the stack.
  @exclusivity(unchecked) var isDraining = false
  /// How many lists and dictionaries inside of values of any type were made here.
  @exclusivity(unchecked) private var collectionCount: UInt64 = 0
  /// Embedded objects that lost their places, by class.
  @exclusivity(unchecked) var orphans: [Int: [Int64]] = [:]
  /// Whether ``orphans`` are being deleted further up the stack.
  @exclusivity(unchecked) var isDeletingOrphans = false
  @exclusivity(unchecked) private(set) var failure: StoreError?
  @exclusivity(unchecked) private var editors: [ClassEditor?]
  /// By class; empty before the first is opened.
  @exclusivity(unchecked) private var backlinks: [BacklinkEditor?] = []
  @exclusivity(unchecked) private var trees: [TreeKey: CollectionTreeEditor] = [:]
  /// The one that was asked for last.
  @exclusivity(unchecked) private var lastTree: (key: TreeKey, tree: CollectionTreeEditor)?
  @exclusivity(unchecked) private var tableNames: [UInt32: String]?
  /// What is touched, for those who are told of it; nil while nobody is.
  @exclusivity(unchecked) var touches: TransactionTouches?
  /// Whether somebody in this process is.
  @exclusivity(unchecked) private var isObserved: Bool
  /// Gather the cells of new rows and primary keys; nil before the first object is added.
  @exclusivity(unchecked) private var writers: (row: _RowWriter, key: _RowWriter)?
  /// What the objects that are made here are known by until the transaction ends; nil before the first.
  @exclusivity(unchecked) private var newborn: (birth: Birth, extra: ObjectExtra)?
  /// What is known of the blocks that share the transaction; nil where it has one user.
  @exclusivity(unchecked) var group: Group?

  /// An object on its way into the Realm.
  struct Adoption {
    var object: ObjectBase
    var access: ClassAccess
    var isNew: Bool
  }

  /// An integer primary key of an object that has no row yet.
  private struct QueuedKey: Hashable {
    var classIndex: Int
    var key: Int64
  }

  /// Names a collection of one object.
  struct TreeKey: Hashable {
    var table: UInt32
    var column: UInt16
    var key: Int64
  }

  init(realm: RealmInstance, transaction: Transaction) {
    unsafe self.realm = realm
    self.transaction = transaction
    unsafe editors = unsafe Array(repeating: nil, count: realm.classes.count)
    unsafe isObserved = realm.coordinator.notifier.isObserved
    if unsafe isObserved {
      unsafe touches = TransactionTouches()
    } else if realm.coordinator.recordsTouches {
      unsafe touches = TransactionTouches(limit: TouchRecord.largestCount)
    }
  }

  var row: _RowWriter { unsafe writers?.row ?? makeWriters().row }
  var keyRow: _RowWriter { unsafe writers?.key ?? makeWriters().key }

  @inline(never) private func makeWriters() -> (row: _RowWriter, key: _RowWriter) {
    let made = unsafe (row: _RowWriter(realm: realm), key: _RowWriter(realm: realm))
    unsafe writers = made
    return made
  }

  /// Whether an object of the class is queued under an integer primary key.
  func isQueued(_ key: Int64, _ access: ClassAccess) -> Bool {
    // Who adds one object at a time never gets further: nothing is queued then.
    while unsafe notedCount < queue.count {
      let adoption = unsafe queue[notedCount]
      unsafe notedCount += 1
      if adoption.isNew, adoption.access.stored.isKeyPrimaryKey {
        unsafe queuedKeys.insert(
          QueuedKey(classIndex: adoption.access.index, key: adoption.object.key))
      }
    }
    return unsafe queuedKeys.contains(QueuedKey(classIndex: access.index, key: key))
  }

  /// Forgets what was queued.
  func clearQueue() {
    unsafe queue.removeAll(keepingCapacity: true)
    unsafe queueStart = 0
    if unsafe notedCount > 0 {
      unsafe notedCount = 0
      unsafe queuedKeys.removeAll(keepingCapacity: queuedKeys.count <= 64)
    }
  }

  /// Makes room for classes that the Realm has met since.
  func makeRoom(for count: Int) {
    unsafe editors += Array(repeating: nil, count: count - editors.count)
    if unsafe !backlinks.isEmpty {
      unsafe backlinks += Array(repeating: nil, count: count - backlinks.count)
    }
  }

  /// Notes all that is touched from now on, which is nothing yet.
  func noteTouches() {
    if unsafe isObserved { return }
    unsafe isObserved = true
    unsafe touches = TransactionTouches()
  }

  /// An identifier that no other list or dictionary inside of a value has.
  func newIdentifier() -> UInt64 {
    unsafe collectionCount += 1
    return unsafe UInt64(transaction.version) << 24 + collectionCount
  }

  /// Notes what is touched of a table, for those who are told of it.
  @inline(__always) func touch(_ table: UInt32, _ body: (inout TouchedRows) -> Void) {
    if unsafe touches != nil { unsafe touches?.change(table, body) }
  }

  /// Whether anything was changed.
  var hasChanged: Bool {
    unsafe editors.contains { $0 != nil } || backlinks.contains { $0 != nil } || !trees.isEmpty
  }

  /// Lets an accessor of an object that this transaction has made end with it when it is cancelled.
  func markAsNew(_ object: ObjectBase) {
    let newborn = unsafe newborn ?? makeNewborn()
    if let extra = unsafe object.extra {
      extra.birth = newborn.birth
    } else {
      unsafe object.extra = newborn.extra
    }
  }

  @inline(never) private func makeNewborn() -> (birth: Birth, extra: ObjectExtra) {
    let birth = Birth()
    let made = (birth: birth, extra: ObjectExtra(birth: birth))
    unsafe newborn = made
    return made
  }

  // MARK: Failures

  /// Runs `body`; after a failure, now or before, returns `fallback`.
  func attempt<Value>(_ fallback: Value, _ body: () throws(StoreError) -> Value) -> Value {
    if unsafe failure != nil { return fallback }
    do throws(StoreError) {
      return try body()
    } catch {
      unsafe failure = error
      return fallback
    }
  }

  /// Whether assigned values are written, without a look at what they replace.
  @inline(__always) var writesWhatIsAssigned: Bool { unsafe failure == nil && !skipsEqualValues }

  /// Runs `body`; does nothing after a failure.
  func attempt(_ body: () throws(StoreError) -> Void) { attempt((), body) }

  // MARK: Editors

  /// The class's editor if the transaction has opened it.
  @inline(__always) func editor(ifOpen access: ClassAccess) -> ClassEditor? {
    unsafe editors[access.index]
  }

  /// The class's editor.
  func editor(_ access: ClassAccess) throws(StoreError) -> ClassEditor {
    if let editor = unsafe editors[access.index] { return editor }
    guard let table = try transaction.editTable(access.stored.tableName) else {
      throw .damaged(Damage(.catalog, "the table of class '\(access.stored.name)' is gone"))
    }
    let editor = ClassEditor(
      access: access, table: table, session: self, uses: unsafe group?.uses[access.index] ?? .init()
    )
    unsafe editors[access.index] = editor
    if unsafe !isMigrating { unsafe access.nearEditor = unsafe Unmanaged.passUnretained(editor) }
    access.invalidateRows()
    return editor
  }

  /// How often keys of the classes were used that have an editor.
  var keyUses: [(access: ClassAccess, uses: ClassEditor.KeyUses)] {
    unsafe editors.compactMap { $0.map { ($0.access, $0.uses) } }
  }

  /// Forgets all editors, of which nothing is to be kept, and what has failed in them.
  func forgetEditors() {
    releaseRows()
    unsafe editors = unsafe Array(repeating: nil, count: editors.count)
    unsafe (backlinks, trees, lastTree, tableNames) = ([], [:], nil, nil)
    unsafe (orphans, failure) = ([:], nil)
    clearQueue()
  }

  /// The links that lead to a class.
  func backlinks(to classIndex: Int) throws(StoreError) -> BacklinkEditor {
    if unsafe backlinks.isEmpty {
      unsafe backlinks = unsafe Array(repeating: nil, count: realm.classes.count)
    }
    if let editor = unsafe backlinks[classIndex] { return editor }
    let editor = try unsafe BacklinkEditor(
      transaction, toClass: realm.classes[classIndex].stored.name)
    unsafe backlinks[classIndex] = editor
    return editor
  }

  /// Whether anything ever linked to objects of a class, which otherwise has no such tree.
  func hasBacklinks(to classIndex: Int) throws(StoreError) -> Bool {
    if unsafe !backlinks.isEmpty, unsafe backlinks[classIndex] != nil { return true }
    let name = unsafe StoredName.backlinks(realm.classes[classIndex].stored.name)
    guard try transaction.keyTree(name) != nil else { return false }
    _ = try backlinks(to: classIndex)
    return true
  }

  /// A collection's own tree, when the transaction has opened it.
  func tree(ifOpen key: TreeKey) -> CollectionTreeEditor? {
    if let lastTree = unsafe lastTree, lastTree.key == key { return lastTree.tree }
    guard unsafe !trees.isEmpty, let tree = unsafe trees[key] else { return nil }
    unsafe lastTree = (key, tree)
    return tree
  }

  /// The same for the collection at `place`.
  func tree(ifOpen place: CollectionPlace) -> CollectionTreeEditor? {
    if unsafe trees.isEmpty { return nil }
    return tree(
      ifOpen: TreeKey(table: place.access.stored.tableID, column: place.column, key: place.key))
  }

  /// Opens a collection's own tree.
  func openTree(
    _ key: TreeKey, root: TreeRoot, type: ColumnType, hasKeys: Bool
  ) -> CollectionTreeEditor {
    if let tree = unsafe trees[key] { return tree }
    let tree = CollectionTreeEditor(
      root: root, type: type, hasKeys: hasKeys, context: transaction.context)
    unsafe trees[key] = tree
    return tree
  }

  /// Forgets a collection's own tree, after it was written or its content dropped.
  func closeTree(_ key: TreeKey) {
    unsafe trees[key] = nil
    unsafe lastTree = nil
  }

  /// Puts the open trees of collections back into their rows: of all, or of those of a class.
  func closeTrees(ofTable table: UInt32? = nil) throws(StoreError) {
    for (key, tree) in unsafe trees where table == nil || key.table == table {
      if tree.isChanged { try write(tree, key) }
      closeTree(key)
    }
  }

  /// The name of the table with that number, of any class in the file.
  func tableName(_ id: UInt32) throws(StoreError) -> String? {
    if unsafe tableNames == nil {
      var names: [UInt32: String] = [:]
      for name in try transaction.names(withPrefix: StoredName.tablePrefix) {
        if let table = try transaction.table(name) { names[table.record.id] = name }
      }
      unsafe tableNames = names
    }
    return unsafe tableNames?[id]
  }

  // MARK: Budget

  /// Writes what was changed ahead of the commit when it outgrows the transaction's budget.
  ///
  /// Whatever changes objects calls it when it is done. Pages of the transaction must not be held over
  /// the call.
  func spillIfNeeded() {
    // Objects are being added further up the stack, which looks after each of them.
    if unsafe !isDraining { spill() }
  }

  func spill() {
    guard transaction.isOverBudget else { return }
    attempt { () throws(StoreError) in
      try closeTrees()
      try transaction.spillIfNeeded()
      for access in unsafe realm.classes { access.invalidateRows() }
    }
  }

  // MARK: Ending

  /// Brings the transaction's trees up to date with everything gathered here, so that they can be
  /// read as a whole.
  func settle() {
    attempt { () throws(StoreError) in
      for editor in unsafe backlinks { try editor?.settle() }
      for (key, tree) in unsafe trees where tree.isChanged { try write(tree, key) }
    }
  }

  /// Writes a collection's own tree and lets its owner's row name the new root.
  func write(_ tree: CollectionTreeEditor, _ key: TreeKey) throws(StoreError) {
    guard let name = try tableName(key.table), let table = try transaction.editTable(name) else {
      return
    }
    let root = try tree.flush()
    try table.update(key: key.key, column: key.column, value: .tree(root))
    for access in unsafe realm.classes where access.stored.tableID == key.table {
      access.invalidateRows()
    }
  }

  /// Makes the changes the newest version, by `publish`.
  func commit(
    _ publish: (Transaction, _ metadata: [UInt8]) throws(StoreError) -> Snapshot
  ) throws(StoreError) -> Snapshot {
    settle()
    if let failure = unsafe failure {
      rollback()
      throw failure
    }
    let version = transaction.version
    let notifier = unsafe realm.coordinator.notifier
    releaseRows()
    // Before others see the version: they ask what it has touched.
    notifier.expect(version)
    if let touches = unsafe touches, unsafe isObserved { notifier.history.add(version, touches) }
    do throws(StoreError) {
      return try publish(transaction, touchRecord)
    } catch {
      notifier.history.remove(version)
      notifier.forget(version)
      unsafe newborn?.birth.cancel()
      throw error
    }
  }

  /// What the commit keeps, for others; empty where the store keeps nothing.
  private var touchRecord: [UInt8] {
    guard let touches = unsafe touches, unsafe realm.coordinator.recordsTouches else { return [] }
    var deleted: [UInt32: Set<ObjectKey>] = [:]
    let hasDeleted = touches.tables.values.contains { !$0.deletedKeys.isEmpty }
    if !hasDeleted { return TouchRecord(touches, deleted: deleted).bytes }
    var before: RealmInstance?
    for access in unsafe realm.declaredClasses where access.stored.primaryKeyIndex != nil {
      guard let rows = touches.tables[access.stored.tableID], !rows.isMany,
        !rows.deletedKeys.isEmpty,
        rows.deleted.count <= TouchRecord.largestCount
      else { continue }
      // Their values are in the version at which the transaction began.
      before = unsafe before ?? realm.frozenBase
      guard let base = before?.access(named: access.stored.name) else { return [] }
      deleted[access.stored.tableID] = base.objectKeys(of: rows.deleted)
    }
    return TouchRecord(touches, deleted: deleted).bytes
  }

  /// Ends that the trees, which may outlive the Realm, tell its accessors of rows that move.
  func releaseRows() {
    for editor in unsafe editors { editor?.release() }
  }

  /// Undoes the changes.
  func rollback() {
    unsafe newborn?.birth.cancel()
    releaseRows()
    transaction.rollback()
  }
}
