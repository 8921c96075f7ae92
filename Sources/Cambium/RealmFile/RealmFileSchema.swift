#if RealmFile
  internal import CambiumRealmFile

  /// The classes of a `.realm` file as this database has them.
  ///
  /// Classes whose objects were only ever sent elsewhere have nothing in a file, and are left out.
  struct RealmFileSchema {
    /// The file's classes that are kept, by their numbers in the file, ascending.
    let places: [Int]
    /// What they are here, in the same order.
    let classes: [ObjectSchema]
    /// The names of those that are not kept.
    let leftOut: [String]

    init(_ file: RealmFile, includesAsymmetric: Bool = false) {
      let places = file.classes.indices.filter {
        includesAsymmetric || file.classes[$0].kind != .asymmetric
      }
      self.places = places
      classes = places.map { place in
        let type = file.classes[place]
        return ObjectSchema(
          className: type.name, objectClass: DynamicObject.self,
          properties: type.properties.indices.map { Self.property($0, of: type, in: file) },
          isEmbedded: type.kind == .embedded)
      }
      leftOut = file.classes.filter { $0.kind == .asymmetric }.map(\.name)
    }

    private static func property(
      _ index: Int, of type: RealmFileClass, in file: RealmFile
    ) -> Property {
      let source = type.properties[index]
      var property = Property(name: source.name, type: Self.type(source.type))
      property.isArray = source.collection == .list
      property.isSet = source.collection == .set
      property.isMap = source.collection == .dictionary
      property.isPrimaryKey = type.primaryKey == index
      property.isIndexed = property.isPrimaryKey || source.isIndexed && canHaveIndex(property)
      property.objectClassName = source.target.map { file.classes[$0].name }
      // As classes of a program describe them: only one link may be null by its declaration.
      property.isOptional =
        switch source.type {
        case .link: source.collection == .none || source.collection == .dictionary
        case .mixed: false
        default: source.isOptional
        }
      return property
    }

    private static func canHaveIndex(_ property: Property) -> Bool {
      if property.isCollection { return false }
      switch property.type {
      case .int, .bool, .string, .date, .objectId, .UUID: return true
      default: return false
      }
    }

    private static func type(_ type: RealmFileType) -> PropertyType {
      switch type {
      case .int: .int
      case .bool: .bool
      case .string: .string
      case .data: .data
      case .date: .date
      case .float: .float
      case .double: .double
      case .decimal128: .decimal128
      case .objectId: .objectId
      case .uuid: .UUID
      case .link: .object
      case .mixed: .any
      }
    }
  }
#endif
