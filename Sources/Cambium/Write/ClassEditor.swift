import CambiumCore

/// A class in a write transaction: its table, its indexes, and what an insertion needs to know.
final class ClassEditor {
  let access: ClassAccess
  let table: TableEditor
  /// Where each property's cell is among the table's columns; -1 for linking objects.
  let positions: [Int]
  /// Where the creation's cell is.
  let createdPosition: Int
  /// A row of defaults, in the order of the table's columns.
  let defaults: [ColumnValue]
  /// Which properties have an index: as the file says, where others may have added and dropped some.
  let isIndexed: [Bool]
  /// The properties with an index.
  let indexed: [Int]
  /// The columns of which the class knows nothing.
  let foreign: [ForeignColumn]
  /// The to-one links.
  let links: [Int]
  /// The properties of any type, and the collections of values of any type.
  let anyValues: [Int]
  @exclusivity(unchecked) private var indexes: [KeyTreeEditor?]
  private let transaction: Transaction
  /// How often keys of objects that this transaction created were used and deleted.
  private var incarnations: [Int64: Int] = [:]
  /// How often this transaction removed all objects at once.
  private var clearCount = 0

  init(access: ClassAccess, table: TableEditor, transaction: Transaction) {
    self.access = access
    self.table = table
    self.transaction = transaction
    let columns = table.record.columns
    let stored = access.stored
    positions = stored.columns.map { id in columns.firstIndex { $0.id == id } ?? -1 }
    createdPosition = columns.firstIndex { $0.id == stored.createdColumn } ?? 0
    defaults = columns.map(\.spec.defaultValue)
    let properties = access.description.properties
    let isIndexed = positions.map { position in
      position >= 0 && StoredProperty(attributes: columns[position].attributes)?.hasIndex ?? false
    }
    self.isIndexed = isIndexed
    indexed = properties.indices.filter { isIndexed[$0] }
    foreign = ForeignColumn.columns(of: columns, besides: stored)
    links = properties.indices.filter { properties[$0].property.isLink }
    anyValues = properties.indices.filter {
      properties[$0].property.type == .any && stored.columns[$0] != StoredClass.noColumn
    }
    indexes = Array(repeating: nil, count: properties.count)
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
    let type = access.description.properties[propertyIndex].property.type
    return IndexKey.form(of: cell, isSigned: type == .date)
  }
}
