import CambiumCore

/// What writing objects of a class needs to know of its properties and columns, put together once for a
/// table's description.
///
/// Pointers: two addresses are compared; nothing is read there.
final class WritePlan {
  /// The table's columns, by group, as they were.
  private var groups: [[ColumnDescriptor]]
  /// The properties that have a cell, for who walks them with every object: plain values, so that no
  /// references are counted.
  let takers: [Taker]
  /// The one of these that is the primary key, if there is one.
  let primaryKey: Taker?
  /// Where each property's cell is among the table's columns; -1 for linking objects.
  let positions: [Int]
  /// Where the creation's cell is.
  let createdPosition: Int
  let created: ColumnTreeEditor.PlacedColumn
  /// A row of defaults, in the order of the table's columns.
  let defaults: [ColumnValue]
  /// Which properties have an index: as the file says, where others may have added and dropped some.
  let isIndexed: [Bool]
  /// The properties with an index.
  let indexed: [Int]
  /// Which properties have wide values whose high word is signed.
  let isSigned: [Bool]
  /// The columns of which the class knows nothing.
  let foreign: [ForeignColumn]
  /// What else changes with each property.
  let effects: [Effect]
  /// The to-one links.
  let links: [Int]
  /// The properties of any type, and the collections of values of any type.
  let anyValues: [Int]

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

  init(_ layout: ClassLayout, _ record: TableRecord) {
    groups = record.groups
    let columns = record.columns
    let stored = layout.stored
    let positions = stored.columns.map { id in columns.firstIndex { $0.id == id } ?? -1 }
    self.positions = positions
    createdPosition = columns.firstIndex { $0.id == stored.createdColumn } ?? 0
    created = ColumnTreeEditor.PlacedColumn(id: stored.createdColumn, place: createdPosition)
    defaults = columns.map(\.spec.defaultValue)
    let properties = layout.description.properties
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
  }

  /// Whether the columns of `record` are those that this was made for.
  func fits(_ record: TableRecord) -> Bool {
    // They are nearly always the same array, of which this keeps the memory.
    let isSame = unsafe groups.withUnsafeBufferPointer { known in
      unsafe record.groups.withUnsafeBufferPointer { unsafe $0.baseAddress == known.baseAddress }
    }
    if isSame { return true }
    guard groups == record.groups else { return false }
    groups = record.groups
    return true
  }
}
