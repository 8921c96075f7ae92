/// Objects that lists of a user interface can tell apart.
public protocol ObjectKeyIdentifiable: Identifiable {
  // Exclusivity is not checked: an object's key is loaded, and loading it calls nothing.

  /// The row of a managed object, stable for the life of the row but not across classes; a number of
  /// its own for an unmanaged one.
  var id: UInt64 { get }
}

/// The old, misspelled name.
public typealias ObjectKeyIdentifable = ObjectKeyIdentifiable

extension ObjectKeyIdentifiable where Self: ObjectBase {
  /// The row of a managed object; a number of its own for an unmanaged one.
  public var id: UInt64 {
    unsafe isManaged
      ? UInt64(bitPattern: key) : UInt64(UInt(bitPattern: ObjectIdentifier(self).hashValue))
  }
}
