import CambiumCore

/// What every access to a property asks of it, without its names.
struct PropertyShape {
  /// The type of the value, or of a collection's elements.
  let type: PropertyType
  /// How the value, or a collection's elements, are stored.
  let elementType: ColumnType
  /// Whether it is a set.
  var isSet: Bool
  /// Whether it is a map.
  var isMap: Bool

  init(_ property: Property) {
    type = property.type
    elementType = property.elementColumnType
    isSet = property.isSet
    isMap = property.isMap
  }

  /// Whether the value, or elements, may be objects.
  var holdsLinks: Bool { type == .object || type == .any }
}
