/// The rules that hold between classes.
enum SchemaValidation {
  /// A rule that is broken.
  struct Problem: Error {
    var message: String
  }

  /// No class has a longer name, in bytes of UTF-8.
  private static let longestClassName = 57
  /// No property has a longer name.
  private static let longestPropertyName = 63

  /// Stops where a rule is broken, which is a mistake of the program.
  static func check(_ schema: Schema) {
    do { try validate(schema) } catch { fatalError(error.message) }
  }

  /// Stops at a class's name that is too long.
  static func check(className: String) {
    do { try validate(className, of: "class", longestClassName) } catch {
      fatalError(error.message)
    }
  }

  /// Stops at a property's name that is too long.
  static func check(propertyName: String) {
    do { try validate(propertyName, of: "property", longestPropertyName) } catch {
      fatalError(error.message)
    }
  }

  /// Throws where a rule is broken by classes that come from elsewhere than the program.
  static func validateNamed(_ schema: Schema) throws(Problem) {
    for type in schema.objectSchema {
      try validate(type.className, of: "class", longestClassName)
      if type.isEmbedded, type.primaryKeyProperty != nil {
        throw Problem(
          message: "Embedded object type '\(type.className)' cannot have a primary key.")
      }
      for property in type.properties {
        try validate(property.columnName, of: "property", longestPropertyName)
      }
    }
    try validate(schema)
  }

  private static func validate(
    _ name: String, of kind: String, _ limit: Int
  ) throws(Problem) {
    if name.utf8.count > limit {
      throw Problem(
        message:
          "Name too long: the \(kind) name '\(name)' has \(name.utf8.count) bytes, the limit is "
          + "\(limit).")
    }
    // A class's name is a part of those of its trees.
    if name.isEmpty || name.utf8.contains(where: { $0 < 0x20 })
      || kind == "class" && name.contains("/")
    {
      throw Problem(message: "No \(kind) can have the name '\(name)'.")
    }
  }

  private static func validate(_ schema: Schema) throws(Problem) {
    for objectSchema in schema.objectSchema {
      for property in objectSchema.allProperties where property.objectClassName != nil {
        try validate(property, of: objectSchema, in: schema)
      }
    }
    var walk = EmbeddingWalk(schema: schema)
    for objectSchema in schema.objectSchema where objectSchema.isEmbedded {
      try walk.visit(objectSchema)
    }
  }

  /// Finds embedded classes that may hold objects of their own, which could never end.
  private struct EmbeddingWalk {
    private let embedded: [String: ObjectSchema]
    /// The classes from which no way leads back to them.
    private var sound: Set<String> = []
    /// The way to the class that is looked at: classes, and the properties that lead on.
    private var classes: [String] = []
    private var names: [String] = []

    init(schema: Schema) {
      embedded = Dictionary(
        schema.objectSchema.filter(\.isEmbedded).map { ($0.className, $0) },
        uniquingKeysWith: { first, _ in first })
    }

    mutating func visit(_ objectSchema: ObjectSchema) throws(Problem) {
      if sound.contains(objectSchema.className) { return }
      classes.append(objectSchema.className)
      for property in objectSchema.allProperties where property.type == .object {
        guard let target = property.objectClassName.flatMap({ embedded[$0] }) else { continue }
        names.append(property.name)
        if classes.contains(target.className) {
          let path = ([classes[0]] + names).joined(separator: ".")
          throw Problem(
            message: "Cycles containing embedded objects are not currently supported: '\(path)'")
        }
        try visit(target)
        names.removeLast()
      }
      classes.removeLast()
      sound.insert(objectSchema.className)
    }
  }

  private static func validate(
    _ property: Property, of objectSchema: ObjectSchema, in schema: Schema
  ) throws(Problem) {
    let name = "\(objectSchema.className).\(property.name)"
    guard let targetName = property.objectClassName, let target = schema[targetName] else {
      throw Problem(
        message:
          "Invalid class subset list: '\(name)' links to class '\(property.objectClassName ?? "")', "
          + "which is missing from the list of classes managed by the Realm")
    }
    if property.isSet, target.isEmbedded {
      throw Problem(
        message: "Set property '\(name)' cannot contain embedded object type '\(targetName)'.")
    }
    guard property.type == .linkingObjects, let originName = property.originPropertyName else {
      return
    }
    let origin =
      "Property '\(targetName).\(originName)' declared as origin of linking objects "
      + "property '\(name)'"
    guard let originProperty = target[originName] else {
      throw Problem(message: "\(origin) does not exist")
    }
    guard originProperty.type == .object else { throw Problem(message: "\(origin) is not a link") }
    guard originProperty.objectClassName == objectSchema.className else {
      throw Problem(message: "\(origin) links to type '\(originProperty.objectClassName ?? "")'")
    }
  }
}
