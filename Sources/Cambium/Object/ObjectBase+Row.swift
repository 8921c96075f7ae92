import CPlatform
import CambiumCore

extension ObjectBase {
  /// Calls `body` with the cell of a property, finding the object's row first when it may have
  /// moved.
  ///
  /// Stops outside of the Realm's context, and when the object is gone.
  @usableFromInline @inline(never)
  final func readCell(_ head: _PersistedHead, _ body: (ColumnValue) -> Void) {
    if let cell = nearby(or: nil, { $0.valueNearby(self, Int(head.index)) }) { return body(cell) }
    let access = classAccess
    let realm = unsafe access.realm
    realm.verify()
    if access.isTouched {
      requireRow(access)
      unsafe realm.withCell(access, key, Int(head.index), body)
      return
    }
    if head.flags & _PersistedHead.laterGroup != 0 {
      requireRow(access)
      unsafe realm.withCell(access, key, Int(head.index), body)
      return
    }
    findRow(access)
    guard let tree = access.currentTable()?.groups.first else { stopAsGone() }
    let property = access.description.properties[Int(head.index)].property
    realm.reading { () throws(StoreError) in
      try unsafe row.withCell(
        head.column, hint: head.place, property.columnType, tree,
        isNullable: property.isColumnNullable, body)
    }
  }

  /// Stores the cell of a property; needs a write transaction.
  final func writeCell(_ head: _PersistedHead, _ cell: ColumnValue) {
    if nearby(or: false, { $0.assignNearby(self, Int(head.index), cell) }) { return }
    let (access, session) = prepareToWrite()
    let index = Int(head.index)
    if index == access.stored.primaryKeyIndex {
      guard unsafe session.isMigrating else {
        fatalError("Primary key can't be changed after an object is inserted.")
      }
      unsafe session.assignedKeys.insert(access.index)
    }
    unsafe session.update(key, access, index, cell, skippingEqual: session.skipsEqualValues)
    session.spillIfNeeded()
  }

  /// Asks the running transaction's editor of the class, if that may be done here and now without asking
  /// anything else.
  @inline(__always) private final func nearby<Value>(
    or other: Value, _ body: (ClassEditor) -> Value
  ) -> Value {
    guard let access = unsafe access else { return other }
    return unsafe access._withUnsafeGuaranteedRef { access in
      guard let editor = unsafe access.nearEditor,
        unsafe header.pointee.thread == cambium_thread_pointer() || isInContext
      else { return other }
      return unsafe editor._withUnsafeGuaranteedRef(body)
    }
  }

  /// The class and the running transaction; stops when the object may not be changed.
  final func prepareToWrite() -> (ClassAccess, WriteSession) {
    let access = classAccess
    let realm = unsafe access.realm
    realm.verify()
    guard !realm.isFrozen else {
      fatalError(
        "Attempting to modify a frozen object - call thaw on the Object instance first.")
    }
    requireRow(access)
    guard let session = unsafe realm.session else {
      fatalError(
        "Attempting to modify object outside of a write transaction - call beginWriteTransaction "
          + "on an RLMRealm instance first.")
    }
    return (access, session)
  }

  /// Makes ``row`` current; stops when the object is gone.
  private final func findRow(_ access: ClassAccess) {
    if unsafe access.header.pointee.generation == generation { return }
    guard let position = managedRow(in: access).position else { stopAsGone() }
    // Frozen accessors find their row when they are made.
    access.stand(self, at: position)
  }

  /// Stops when the object is gone.
  final func requireRow(_ access: ClassAccess) {
    if unsafe access.header.pointee.generation == generation { return }
    guard managedRow(in: access).mayBePresent else { stopAsGone() }
    guard let editor = unsafe access.realm.session?.editor(ifOpen: access) else {
      if !managedRow(in: access).isPresent { stopAsGone() }
      return
    }
    if unsafe !access.realm.reading({ () throws(StoreError) in try editor.find(self) }) {
      stopAsGone()
    }
  }

  final func stopAsGone() -> Never {
    fatalError("Object has been deleted or invalidated.")
  }

  /// Whether the object was deleted, or its Realm invalidated.
  ///
  /// Checks no context: from elsewhere it answers for the newest version.
  final var isGone: Bool {
    if created == ObjectBase.unmanagedCreation { return false }
    guard let access = unsafe access else { return true }
    return unsafe managedRow(in: access._withUnsafeGuaranteedRef { $0 }).isGone
  }

  /// What the accessor is about.
  @inline(__always) final func managedRow(in access: ClassAccess) -> ManagedRow {
    unsafe ManagedRow(
      access: access, key: key, created: created, epoch: epoch, birth: extra?.birth)
  }

  /// Stops at a stored raw value that no case of an enumeration has.
  @usableFromInline
  final func stopAtUnknownCase(_ head: _PersistedHead, _ raw: String, _ type: String) -> Never {
    let access = classAccess
    fatalError(
      "Failed to convert persisted value '\(raw)' to type '\(type)' in a non-optional context "
        + "(property '\(access.stored.name).\(access.description.properties[Int(head.index)].property.name)')."
    )
  }
}
