import CambiumCore

/// A class in a write transaction: its table, its indexes, and what an insertion needs to know.
///
/// Pointers: the session has this editor and lasts longer. The generation lies in the class's header,
/// which the Realm frees; the table refers to it until `release()`, with which each session ends.
@safe final class ClassEditor {
  // Exclusivity is not checked: the session has one user, and no access to these calls out.
  let access: ClassAccess
  let table: TableEditor
  private let tableID: UInt32
  /// How often the Realm was invalidated before, see ``ManagedRow/epoch``.
  private let epoch: UInt64
  /// What follows from the class and the table's description.
  let plan: WritePlan
  /// What else changes with each property.
  private let effects: [WritePlan.Effect]
  /// By property; empty before one is opened.
  @exclusivity(unchecked) private var indexes: [KeyTreeEditor?] = []
  private let transaction: Transaction
  /// The session, which has the editor.
  private let session: Unmanaged<WriteSession>
  /// How often keys were used in this transaction.
  private(set) var uses: KeyUses

  /// How often keys of a class were used by objects that a transaction created and deleted.
  struct KeyUses {
    var counts: [Int64: Int] = [:]
    /// How often that may have happened to any key besides: all objects were deleted, or changes undone.
    var ofAll = 0
  }

  init(access: ClassAccess, table: TableEditor, session: WriteSession, uses: KeyUses) {
    self.access = access
    self.table = table
    self.uses = uses
    transaction = session.transaction
    unsafe self.session = unsafe Unmanaged.passUnretained(session)
    tableID = access.stored.tableID
    epoch = unsafe access.realm.invalidations
    plan = access.writePlan(for: table.record)
    effects = plan.effects
    // Accessors trust the rows that they remember until the editor moves one.
    unsafe table.rowGeneration = unsafe withUnsafeMutablePointer(
      to: &access.header.pointee.generation
    ) { unsafe $0 }
  }

  /// What changes with the property, besides its cell.
  @inline(__always) func effect(_ propertyIndex: Int) -> WritePlan.Effect { effects[propertyIndex] }

  /// Ends the transaction's part in what accessors remember.
  func release() {
    unsafe table.rowGeneration = nil
    unsafe access.nearEditor = nil
  }

  /// Gives a property of an object near the last change a value; false, and nothing changed, where that
  /// takes more than replacing a cell.
  func assignNearby(_ object: ObjectBase, _ propertyIndex: Int, _ cell: ColumnValue) -> Bool {
    let effect = effects[propertyIndex]
    guard effect.isPlain, mayBePresent(object) else { return false }
    return unsafe session._withUnsafeGuaranteedRef { session in
      guard session.writesWhatIsAssigned,
        table.updateNearby(nearby(object), effect.placed, value: cell)
      else { return false }
      access.noteAssignment(effect.column)
      session.touch(tableID) { unsafe $0.assign(effect.column, object.key) }
      return true
    }
  }

  /// The cell of a property of an object near the last change; nil elsewhere.
  func valueNearby(_ object: ObjectBase, _ propertyIndex: Int) -> ColumnValue? {
    guard mayBePresent(object) else { return nil }
    return table.valueNearby(nearby(object), effects[propertyIndex].placed)
  }

  /// Whether nothing says that the object is gone for good; see ``ManagedRow``.
  @inline(__always) private func mayBePresent(_ object: ObjectBase) -> Bool {
    unsafe object.epoch == epoch
      && (object.extra == nil || object.extra?.birth?.isCancelled != true)
  }

  @inline(__always) private func nearby(_ object: ObjectBase) -> ColumnTreeEditor.NearbyRow {
    unsafe ColumnTreeEditor.NearbyRow(key: object.key, plan.created, is: object.created)
  }

  /// Lets an accessor remember where its row is, if that can be; false when the object is gone.
  func find(_ object: ObjectBase) throws(StoreError) -> Bool {
    let column = access.stored.createdColumn
    let editor = table.editor(of: column)
    switch try unsafe editor.locate(object.key) {
    case .absent: return false
    case .packed(let position):
      guard access.creation(at: position) == object.created else { return false }
      access.stand(object, at: position)
      return true
    case .unpacked:
      guard case .int(let created)? = try unsafe editor.value(key: object.key, column: column)
      else {
        return false
      }
      return created == object.created
    }
  }

  /// When the object with that key was created; nil when there is none.
  func creation(of key: Int64) -> Int64? {
    unsafe access.realm.reading { () throws(StoreError) in
      let column = access.stored.createdColumn
      guard case .int(let created)? = try table.editor(of: column).value(key: key, column: column)
      else { return nil }
      return created
    }
  }

  /// The creation of an object that is made now under `key`.
  func newCreation(of key: Int64) -> Int64 {
    Incarnation.value(
      version: transaction.version,
      count: uses.ofAll + (uses.counts.isEmpty ? 0 : uses.counts[key] ?? 0))
  }

  /// Notes that an object was deleted, so that its key's next user differs from it.
  func noteDeletion(of key: Int64, created: Int64) {
    if Incarnation.isOf(transaction.version, created) {
      uses.counts[key, default: 0] += 1
    }
  }

  /// Notes that all objects were deleted, so that the next users of their keys differ from them.
  func noteClearing() { uses.ofAll += 1 }

  /// The index of a property.
  func index(_ propertyIndex: Int) throws(StoreError) -> KeyTreeEditor {
    if unsafe indexes.isEmpty { unsafe indexes = Array(repeating: nil, count: effects.count) }
    if let index = unsafe indexes[propertyIndex] { return index }
    let index = try transaction.editKeyTree(access.stored.indexName(propertyIndex))
    unsafe indexes[propertyIndex] = index
    return index
  }

  /// The index form of a property's cell.
  func indexForm(_ propertyIndex: Int, _ cell: ColumnValue) -> [UInt8]? {
    IndexKey.form(of: cell, isSigned: plan.isSigned[propertyIndex])
  }

  /// Enters an object into the index of a property.
  func insertEntry(
    _ propertyIndex: Int, _ cell: ColumnValue, _ key: Int64
  ) throws(StoreError) {
    try index(propertyIndex).insertEntry(of: cell, isSigned: plan.isSigned[propertyIndex], key)
  }

  /// Takes an object out of the index of a property, where it stands under the value `cell`.
  func removeEntry(
    _ propertyIndex: Int, _ cell: ColumnValue, _ key: Int64
  ) throws(StoreError) {
    try index(propertyIndex).removeEntry(of: cell, isSigned: plan.isSigned[propertyIndex], key)
  }
}
