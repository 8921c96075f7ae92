import CambiumCore

/// A class in a write transaction: its table, its indexes, and what an insertion needs to know.
final class ClassEditor {
  let access: ClassAccess
  let table: TableEditor
  private let tableID: UInt32
  /// How often the Realm was invalidated before, see ``ManagedRow/epoch``.
  private let epoch: UInt64
  /// The properties that have a cell, for who walks them with every object: plain values, so that no
  /// references are counted.
  let takers: [Taker]
  /// The one of these that is the primary key, if there is one.
  let primaryKey: Taker?
  /// Where each property's cell is among the table's columns; -1 for linking objects.
  let positions: [Int]
  /// Where the creation's cell is.
  let createdPosition: Int
  private let created: ColumnTreeEditor.PlacedColumn
  /// A row of defaults, in the order of the table's columns.
  let defaults: [ColumnValue]
  /// Which properties have an index: as the file says, where others may have added and dropped some.
  let isIndexed: [Bool]
  /// The properties with an index.
  let indexed: [Int]
  /// Which properties have wide values whose high word is signed.
  private let isSigned: [Bool]
  /// The columns of which the class knows nothing.
  let foreign: [ForeignColumn]
  /// What else changes with each property.
  private let effects: [Effect]
  /// The to-one links.
  let links: [Int]
  /// The properties of any type, and the collections of values of any type.
  let anyValues: [Int]
  @exclusivity(unchecked) private var indexes: [KeyTreeEditor?]
  private let transaction: Transaction
  /// The session, which has the editor.
  private let session: Unmanaged<WriteSession>
  /// How often keys of objects that this transaction created were used and deleted.
  private var incarnations: [Int64: Int] = [:]
  /// How often this transaction removed all objects at once.
  private var clearCount = 0

  /// Takes a property's value out of an object that is added.
  struct Taker {
    var property: Int
    /// Where its cell is among the table's columns.
    var position: Int
    /// Where the property lies in the object, in bytes.
    var offset: Int
    var wrapper: any PersistedWrapper.Type
  }

  /// What changes when a property is assigned, besides its cell.
  struct Effect {
    var column: UInt16
    /// The column where the table has it.
    var placed: ColumnTreeEditor.PlacedColumn
    var isIndexed: Bool
    var isLink: Bool
    var isAny: Bool
    /// Whether nothing does, and the cell holds a single value.
    var isNone: Bool
    /// Whether nothing ever stands in the way of an assignment either.
    var isPlain: Bool
  }

  init(access: ClassAccess, table: TableEditor, session: WriteSession) {
    self.access = access
    self.table = table
    transaction = session.transaction
    self.session = Unmanaged.passUnretained(session)
    let columns = table.record.columns
    let stored = access.stored
    tableID = stored.tableID
    epoch = access.realm.invalidations
    let positions = stored.columns.map { id in columns.firstIndex { $0.id == id } ?? -1 }
    self.positions = positions
    createdPosition = columns.firstIndex { $0.id == stored.createdColumn } ?? 0
    created = ColumnTreeEditor.PlacedColumn(id: stored.createdColumn, place: createdPosition)
    defaults = columns.map(\.spec.defaultValue)
    let properties = access.description.properties
    let isIndexed = positions.map { position in
      position >= 0 && StoredProperty(attributes: columns[position].attributes)?.hasIndex ?? false
    }
    self.isIndexed = isIndexed
    effects = properties.enumerated().map { index, property in
      let (property, isIndexed) = (property.property, isIndexed[index])
      let isNone =
        !isIndexed && !property.isLink && property.type != .any && !property.isCollection
      return Effect(
        column: stored.columns[index],
        placed: ColumnTreeEditor.PlacedColumn(
          id: stored.columns[index], place: max(positions[index], 0)),
        isIndexed: isIndexed, isLink: property.isLink,
        isAny: property.type == .any, isNone: isNone,
        isPlain: isNone && positions[index] >= 0 && index != stored.primaryKeyIndex)
    }
    let takers: [Taker] = properties.indices.compactMap { index in
      positions[index] < 0
        ? nil
        : Taker(
          property: index, position: positions[index], offset: properties[index].offset,
          wrapper: properties[index].wrapper)
    }
    self.takers = takers
    primaryKey = takers.first { $0.property == stored.primaryKeyIndex }
    indexed = properties.indices.filter { isIndexed[$0] }
    isSigned = properties.map { $0.property.type == .date }
    foreign = ForeignColumn.columns(of: columns, besides: stored)
    links = properties.indices.filter { properties[$0].property.isLink }
    anyValues = properties.indices.filter {
      properties[$0].property.type == .any && stored.columns[$0] != StoredClass.noColumn
    }
    indexes = Array(repeating: nil, count: properties.count)
    // Accessors trust the rows that they remember until the editor moves one.
    table.rowGeneration = withUnsafeMutablePointer(to: &access.header.pointee.generation) { $0 }
  }

  /// What changes with the property, besides its cell.
  @inline(__always) func effect(_ propertyIndex: Int) -> Effect { effects[propertyIndex] }

  /// Ends the transaction's part in what accessors remember.
  func release() {
    table.rowGeneration = nil
    access.nearEditor = nil
  }

  /// Gives a property of an object near the last change a value; false, and nothing changed, where that
  /// takes more than replacing a cell.
  func assignNearby(_ object: ObjectBase, _ propertyIndex: Int, _ cell: ColumnValue) -> Bool {
    let effect = effects[propertyIndex]
    guard effect.isPlain, mayBePresent(object) else { return false }
    return session._withUnsafeGuaranteedRef { session in
      guard session.writesWhatIsAssigned,
        table.updateNearby(nearby(object), effect.placed, value: cell)
      else { return false }
      access.noteAssignment(effect.column)
      session.touch(tableID) { $0.assign(effect.column, object.key) }
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
    object.epoch == epoch && (object.extra == nil || object.extra?.birth?.isCancelled != true)
  }

  @inline(__always) private func nearby(_ object: ObjectBase) -> ColumnTreeEditor.NearbyRow {
    ColumnTreeEditor.NearbyRow(key: object.key, created, is: object.created)
  }

  /// Lets an accessor remember where its row is, if that can be; false when the object is gone.
  func find(_ object: ObjectBase) throws(StoreError) -> Bool {
    let column = access.stored.createdColumn
    let editor = table.editor(of: column)
    switch try editor.locate(object.key) {
    case .absent: return false
    case .packed(let position):
      guard access.creation(at: position) == object.created else { return false }
      access.stand(object, at: position)
      return true
    case .unpacked:
      guard case .int(let created)? = try editor.value(key: object.key, column: column) else {
        return false
      }
      return created == object.created
    }
  }

  /// When the object with that key was created; nil when there is none.
  func creation(of key: Int64) -> Int64? {
    access.realm.reading { () throws(StoreError) in
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
      count: clearCount + (incarnations.isEmpty ? 0 : incarnations[key] ?? 0))
  }

  /// Notes that an object was deleted, so that its key's next user differs from it.
  func noteDeletion(of key: Int64, created: Int64) {
    if Incarnation.isOf(transaction.version, created) {
      incarnations[key, default: 0] += 1
    }
  }

  /// Notes that all objects were deleted, so that the next users of their keys differ from them.
  func noteClearing() { clearCount += 1 }

  /// The index of a property.
  func index(_ propertyIndex: Int) throws(StoreError) -> KeyTreeEditor {
    if let index = indexes[propertyIndex] { return index }
    let index = try transaction.editKeyTree(access.stored.indexName(propertyIndex))
    indexes[propertyIndex] = index
    return index
  }

  /// The index form of a property's cell.
  func indexForm(_ propertyIndex: Int, _ cell: ColumnValue) -> [UInt8]? {
    IndexKey.form(of: cell, isSigned: isSigned[propertyIndex])
  }

  /// Enters an object into the index of a property.
  func insertEntry(
    _ propertyIndex: Int, _ cell: ColumnValue, _ key: Int64
  ) throws(StoreError) {
    try index(propertyIndex).insertEntry(of: cell, isSigned: isSigned[propertyIndex], key)
  }

  /// Takes an object out of the index of a property, where it stands under the value `cell`.
  func removeEntry(
    _ propertyIndex: Int, _ cell: ColumnValue, _ key: Int64
  ) throws(StoreError) {
    try index(propertyIndex).removeEntry(of: cell, isSigned: isSigned[propertyIndex], key)
  }
}
