import CambiumCore

/// Copies the values of a property that a class has lost to one that it has gained.
struct PropertyRenaming {
  // Exclusivity is not checked: a migration has one user, and each access to an object ends before the
  // next.
  private let migration: Migration
  private let oldAccess: ClassAccess
  private let newAccess: ClassAccess
  private let oldIndex: Int
  private let newIndex: Int

  /// Stops when the properties are not such a pair.
  init(_ migration: Migration, _ typeName: String, from oldName: String, to newName: String) {
    self.migration = migration
    guard let oldAccess = migration.old.access(named: typeName) else {
      fatalError("Cannot rename properties for type '\(typeName)' because it does not exist.")
    }
    guard let newAccess = migration.new.access(named: typeName) else {
      fatalError(
        "Cannot rename properties for type '\(typeName)' because it has been removed from the Realm."
      )
    }
    let renaming = "Cannot rename property '\(typeName).\(oldName)'"
    guard let oldIndex = Self.index(oldName, oldAccess) else {
      fatalError("\(renaming) because it does not exist.")
    }
    guard Self.index(oldName, newAccess) == nil else {
      fatalError("\(renaming) to '\(newName)' because the source property still exists.")
    }
    guard let newIndex = Self.index(newName, newAccess) else {
      fatalError("Renamed property '\(typeName).\(newName)' does not exist.")
    }
    self.oldAccess = oldAccess
    self.newAccess = newAccess
    self.oldIndex = oldIndex
    self.newIndex = newIndex
    let old = oldAccess.description.properties[oldIndex].property
    let new = newAccess.description.properties[newIndex].property
    guard old.type == new.type, old.isCollection == new.isCollection, old.isSet == new.isSet,
      old.isMap == new.isMap, old.objectClassName == new.objectClassName
    else {
      fatalError(
        "\(renaming) to '\(newName)' because it would change from type '\(old.typeText)' to "
          + "'\(new.typeText)'.")
    }
    guard new.isOptional || !old.isOptional else {
      fatalError(
        "\(renaming) to '\(newName)' because it would change from optional to required.")
    }
  }

  private static func index(_ column: String, _ access: ClassAccess) -> Int? {
    access.description.properties.firstIndex {
      $0.property.columnName == column && !$0.property.isComputed
    }
  }

  func run() {
    let session = migration.session
    let property = newAccess.description.properties[newIndex].property
    // What these hold is looked through for objects that are gone.
    let isConverted = property.isCollection || property.type == .any
    migration.enumerateObjects(ofType: oldAccess.stored.name) { oldObject, newObject in
      guard let oldObject, let newObject else { return }
      if isConverted {
        newObject.setValue(oldObject.value(at: oldIndex), at: newIndex)
      } else {
        unsafe migration.old.withCell(oldAccess, oldObject.key, oldIndex) { cell in
          unsafe session.update(
            newObject.key, newAccess, newIndex, leadsToSame(cell) ? cell : .null)
        }
      }
    }
  }

  /// Whether what a link leads to was not deleted meanwhile, by the same migration; true for what is no link.
  private func leadsToSame(_ cell: ColumnValue) -> Bool {
    guard case .int(let key) = cell, let before = oldAccess.target(oldIndex),
      let now = newAccess.target(newIndex)
    else { return true }
    return before.creation(of: key) == now.creation(of: key)
  }
}
