#if RealmFile
  import CambiumCore
  internal import CambiumRealmFile

  /// A property of a class, in a `.realm` file and here.
  ///
  /// A class, so that each value passes one reference.
  final class RealmFileColumn {
    /// Its place among the properties here.
    let index: Int
    /// Its place among the properties in the file.
    let source: Int
    let property: Property
    // What of the property each value asks for: reading it from there would count references.
    let type: PropertyType
    let isCollection: Bool
    let columnType: ColumnType
    let elementType: ColumnType
    let isColumnNullable: Bool
    /// Whether a value, or an element, may be null.
    let allowsNull: Bool
    /// The class in the file to which it links.
    let target: Int?
    private let className: String
    private let path: String

    private init(
      _ index: Int, _ source: Int, _ property: Property, _ type: RealmFileClass, _ path: String
    ) {
      self.index = index
      self.source = source
      self.property = property
      self.type = property.type
      isCollection = property.isCollection
      columnType = property.columnType
      elementType = property.elementColumnType
      isColumnNullable = property.isColumnNullable
      allowsNull = property.isOptional || property.type == .object
      target = type.properties[source].target
      className = type.name
      self.path = path
    }

    /// The properties of a class of the file, in its order.
    static func columns(
      _ access: ClassAccess, _ type: RealmFileClass, _ file: RealmFile
    ) -> [RealmFileColumn] {
      type.properties.indices.compactMap { source in
        let name = type.properties[source].name
        guard let index = access.description.propertyIndex(name) else { return nil }
        return RealmFileColumn(
          index, source, access.description.properties[index].property, type, file.path)
      }
    }

    /// Says that a value of the property in the file is wrong.
    func damage(_ what: String) -> RLMError {
      RLMError(damageIn: "\(className).\(property.name)", what, path: path)
    }
  }

  extension RLMError {
    /// Says what is wrong in a class or property of the `.realm` file at `path`.
    init(damageIn place: String, _ what: String, path: String) {
      self.init(
        .invalidDatabase,
        "The Realm file '\(path)' is damaged: in '\(place)' \(what). Use a backup, or a copy that Realm "
          + "itself has opened and written.", path: path)
    }
  }
#endif
