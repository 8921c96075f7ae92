import CambiumCore

/// A model class as the program declares it, read from its metadata and one sample instance.
///
/// Pointers: a property lies at its offset in every object of the class, as the class's metadata says; the
/// caller has the object.
final class ClassDescription: Sendable {
  /// One `@Persisted` property.
  ///
  /// Sendable: the wrapper type is a pointer to constant metadata.
  struct PropertyDescription: @unchecked Sendable {
    /// What it holds.
    let property: Property
    /// Where it lies inside of its object, in bytes.
    let offset: Int
    /// Its `Persisted<…>`.
    let wrapper: any PersistedWrapper.Type
    /// The same if it is a collection.
    let collection: (any PersistedCollection.Type)?

    init(property: Property, offset: Int, wrapper: any PersistedWrapper.Type) {
      self.property = property
      self.offset = offset
      self.wrapper = wrapper
      collection = wrapper as? any PersistedCollection.Type
    }

    /// The property's value in `object`, nil for null.
    func dynamicValue(of object: ObjectBase) -> Any? {
      unsafe wrapper.dynamicValue(object.storage + offset, of: object)
    }

    /// Assigns the property; false when the value is of a wrong type.
    func setDynamicValue(
      _ value: Any?, of object: ObjectBase, _ conversion: _ValueConversion
    ) -> Bool {
      unsafe wrapper.setDynamicValue(value, object.storage + offset, of: object, conversion)
    }
  }

  /// The Swift class.
  let type: ObjectBase.Type
  /// The stored properties in order of declaration, those of superclasses first.
  let properties: [PropertyDescription]
  /// The class as users see it.
  let objectSchema: ObjectSchema
  /// Which property is the primary key, if one is.
  let primaryKeyIndex: Int?
  /// What accessors are copied from; nil when their initialiser has to run.
  let blank: BlankInstance?
  /// Whether its objects are ``DynamicObject``, which have no place for properties of their own.
  let isDynamic: Bool
  /// The places and names of the properties that have a column.
  let storedNames: [(index: Int, name: String)]
  private let indexByName: [String: Int]

  /// Describes a class whose properties are known by name only.
  init(dynamic name: String, _ properties: [Property], isEmbedded: Bool) {
    type = DynamicObject.self
    self.properties = properties.map {
      PropertyDescription(property: $0, offset: 0, wrapper: DynamicWrapper.wrapper(for: $0))
    }
    objectSchema = ObjectSchema(
      className: name, objectClass: DynamicObject.self, properties: properties,
      isEmbedded: isEmbedded)
    primaryKeyIndex = properties.firstIndex(where: \.isPrimaryKey)
    blank = nil
    isDynamic = true
    storedNames = Self.storedNames(of: properties)
    indexByName = Dictionary(
      properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Reads `type`; stops at declarations that break a rule.
  init(_ type: ObjectBase.Type) {
    self.type = type
    let name = type._realmObjectName() ?? type.className()
    let declaration = DeclarationReader(type, named: name)
    properties = declaration.properties
    blank =
      declaration.hasTransientProperties
      ? nil : BlankInstance(declaration.sample, declaration.properties)
    let schema = ObjectSchema(
      className: name, objectClass: type, properties: properties.map(\.property),
      isEmbedded: type is EmbeddedObject.Type)
    objectSchema = schema
    isDynamic = false
    primaryKeyIndex = properties.firstIndex { $0.property.isPrimaryKey }
    storedNames = Self.storedNames(of: properties.map(\.property))
    indexByName = Dictionary(
      properties.enumerated().map { ($1.property.name, $0) },
      uniquingKeysWith: { first, _ in first })
  }

  private static func storedNames(of properties: [Property]) -> [(index: Int, name: String)] {
    properties.enumerated().filter { !$1.isComputed }.map { ($0, $1.name) }
  }

  /// The class's name in the database.
  var name: String { objectSchema.className }

  /// The place of the property with that Swift name; nil if there is none.
  func propertyIndex(_ name: String) -> Int? { indexByName[name] }
}

extension ClassDescription {
  /// Describes the class that lies in the table `tableName`, as `record` says.
  convenience init(storedAs tableName: String, _ record: TableRecord) {
    let properties = record.columns.filter { $0.name != StoredProperty.createdName }
      .compactMap { column in
        StoredProperty(attributes: column.attributes)?.property(named: column.name)
      }
    self.init(
      dynamic: String(tableName.dropFirst(StoredName.tablePrefix.count)), properties,
      isEmbedded: StoredClassAttributes(attributes: record.attributes)?.isEmbedded ?? false)
  }
}
