/// The classes that a Realm knows.
@frozen public struct Schema: Equatable, Sendable {
  /// The classes, sorted by name.
  public var objectSchema: [ObjectSchema]

  /// Describes a set of classes.
  package init(_ objectSchema: [ObjectSchema]) {
    self.objectSchema = objectSchema
  }

  /// The class with that name, or nil.
  public subscript(className: String) -> ObjectSchema? {
    objectSchema.first { $0.className == className }
  }
}

extension Schema: CustomStringConvertible {
  /// All classes with their properties, indented.
  public var description: String {
    let body = objectSchema.map { schema in
      schema.description.split(separator: "\n").map { "\t\($0)\n" }.joined()
    }
    return "Schema {\n\(body.joined())}"
  }
}
