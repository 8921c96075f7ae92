/// One class of a schema: its name and its properties in order of declaration.
@frozen public struct ObjectSchema: Equatable {
  /// The properties that are kept, those of superclasses first; not those that are computed from others' links.
  public var properties: [Property] { allProperties.filter { !$0.isComputed } }
  /// The same with those that are computed.
  package var allProperties: [Property]
  /// The class's name without its module.
  public var className: String
  /// The Swift class.
  public var objectClass: AnyClass
  /// Whether its objects live inside of one parent object.
  public var isEmbedded = false
  /// Whether its objects can only be written; never true for a local database.
  public var isAsymmetric = false

  /// Describes a class.
  package init(
    className: String, objectClass: AnyClass, properties: [Property], isEmbedded: Bool = false
  ) {
    self.className = className
    self.objectClass = objectClass
    allProperties = properties
    self.isEmbedded = isEmbedded
  }

  /// The primary key, if the class has one.
  public var primaryKeyProperty: Property? { allProperties.first { $0.isPrimaryKey } }

  /// The property with that name, or nil.
  public subscript(propertyName: String) -> Property? {
    allProperties.first { $0.name == propertyName }
  }

  /// Whether both describe the same class with the same properties.
  public static func == (lhs: ObjectSchema, rhs: ObjectSchema) -> Bool {
    lhs.className == rhs.className && lhs.objectClass == rhs.objectClass
      && lhs.isEmbedded == rhs.isEmbedded && lhs.allProperties == rhs.allProperties
  }
}

// A class reference is a pointer to constant metadata; `AnyClass` merely does not say so.
extension ObjectSchema: @unchecked Sendable {}

extension ObjectSchema: CustomStringConvertible {
  /// The class's name and its properties, indented.
  public var description: String {
    let body = allProperties.map { property in
      property.description.split(separator: "\n").map { "\t\($0)\n" }.joined()
    }
    return "\(className)\(isEmbedded ? " (embedded)" : "") {\n\(body.joined())}"
  }
}
