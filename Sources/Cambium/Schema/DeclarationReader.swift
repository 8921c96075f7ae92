@preconcurrency @unsafe @_spi(Reflection) import Swift

/// Reads the `@Persisted` properties of a class: names, offsets and wrapper types from the type's
/// metadata, everything else from a sample instance.
///
/// Pointers: the sample is kept, and its properties lie where the metadata says. A field's name is
/// copied while the runtime lends it.
struct DeclarationReader {
  /// The stored properties, those of superclasses first.
  let properties: [ClassDescription.PropertyDescription]
  /// An instance with the class's default values.
  let sample: ObjectBase
  /// Whether instances also hold values that are not stored.
  let hasTransientProperties: Bool

  /// Reads `type`; stops at declarations that break a rule.
  init(_ type: ObjectBase.Type, named className: String) {
    SchemaValidation.check(className: className)
    let (fields, hasTransientProperties) = Self.fields(of: type)
    self.hasTransientProperties = hasTransientProperties
    guard !fields.isEmpty else { fatalError("No properties are defined for '\(className)'.") }
    let mapping = type.propertiesMapping()
    let columnNames = mapping.isEmpty ? type._realmColumnNames() : mapping
    let sample = Sampling.instance(of: type)
    var properties: [ClassDescription.PropertyDescription] = []
    for field in fields {
      var property = Property(name: field.name, type: .int)
      if let columnName = columnNames[field.name] { property.columnName = columnName }
      SchemaValidation.check(propertyName: property.columnName)
      unsafe field.wrapper.describe(sample.storage + field.offset, &property)
      if properties.contains(where: { $0.property.name == property.name }) {
        fatalError(
          "Property '\(property.name)' is declared multiple times in the class hierarchy of "
            + "'\(className)'")
      }
      Self.check(property, of: className)
      properties.append(
        ClassDescription.PropertyDescription(
          property: property, offset: field.offset, wrapper: field.wrapper))
    }
    Self.check(properties.map(\.property), of: className)
    if type is EmbeddedObject.Type, properties.contains(where: \.property.isPrimaryKey) {
      fatalError("Embedded object type '\(className)' cannot have a primary key.")
    }
    self.properties = properties
    self.sample = sample
  }

  private struct Field {
    var name: String
    var offset: Int
    var wrapper: any PersistedWrapper.Type
  }

  private static func fields(of type: ObjectBase.Type) -> ([Field], hasTransient: Bool) {
    var fields: [Field] = []
    var hasTransient = false
    let ownByteCount = BlankInstance.byteCount(of: ObjectBase.self)
    // `_EachFieldOptions.classType`, which is a static variable and so out of reach in Swift 6 mode.
    let options = unsafe unsafeBitCast(UInt32(1), to: _EachFieldOptions.self)
    unsafe _forEachField(of: type, options: options) { name, offset, fieldType, _ in
      if let wrapper = fieldType as? any PersistedWrapper.Type {
        let label = unsafe String(cString: name)
        fields.append(
          Field(
            name: label.hasPrefix("_") ? String(label.dropFirst()) : label, offset: offset,
            wrapper: wrapper))
      } else if offset >= ownByteCount {
        hasTransient = true
      }
      return true
    }
    return (fields, hasTransient)
  }

  private static func check(_ property: Property, of className: String) {
    let name = property.name
    let target = property.objectClassName ?? ""
    if property.type == .object {
      if property.isArray || property.isSet {
        if property.isOptional {
          fatalError(
            "\(property.isSet ? "MutableSet" : "List")<\(target)> property '\(name)' must not be "
              + "marked as optional.")
        }
      } else if property.isMap {
        if !property.isOptional {
          fatalError("Map<String, \(target)> property '\(name)' must be marked as optional.")
        }
      } else if !property.isOptional {
        fatalError("Object property '\(name)' must be marked as optional.")
      }
    }
    if property.type == .linkingObjects, property.originPropertyName == nil {
      fatalError(
        "LinkingObjects<\(target)> property '\(name)' must set the origin property name with "
          + "@Persisted(originProperty: \"name\").")
    }
    if property.isPrimaryKey, !primaryKeyTypes.contains(property.type) || property.isCollection {
      fatalError(
        "Property '\(name)' cannot be made the primary key of '\(className)' because it is not a "
          + "'string', 'int', 'objectId', or 'uuid' property.")
    }
  }

  private static let primaryKeyTypes: Set<PropertyType> = [.string, .int, .objectId, .UUID]

  private static func check(_ properties: [Property], of className: String) {
    let keys = properties.filter(\.isPrimaryKey)
    if keys.count > 1 {
      fatalError(
        "Properties '\(keys[0].name)' and '\(keys[1].name)' are both marked as the primary key of "
          + "'\(className)'")
    }
    var columns: [String: String] = [:]
    for property in properties {
      if property.columnName != property.name,
        let other = properties.first(where: { $0.name == property.columnName })
      {
        fatalError(
          "Property '\(property.name)' of '\(className)' has the name of the property "
            + "'\(other.name)' as its column name.")
      }
      if let other = columns.updateValue(property.name, forKey: property.columnName) {
        fatalError(
          "Properties '\(other)' and '\(property.name)' of '\(className)' have the same column name "
            + "'\(property.columnName)'.")
      }
    }
  }
}

/// Makes sample instances, and knows that it does: a class whose initialiser reads its own schema
/// would never end.
enum Sampling {
  @TaskLocal private static var types: [ObjectIdentifier] = []

  static func instance(of type: ObjectBase.Type) -> ObjectBase {
    let identifier = ObjectIdentifier(type)
    guard !types.contains(identifier) else {
      fatalError(
        "Illegal recursive call of schema discovery: the initialiser of '\(type)' uses a Realm. "
          + "Default values and initialisers of model classes must not.")
    }
    return $types.withValue(types + [identifier]) { type.init() }
  }
}
