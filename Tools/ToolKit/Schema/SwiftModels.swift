import Cambium

/// Classes as Swift source: what a program declares to open a store that it has no model of.
package enum SwiftModels {
  /// A source file with all classes of a schema.
  package static func text(of schema: Schema) -> String {
    var text = "import Cambium\nimport Foundation\n"
    for type in schema.objectSchema { text += "\n" + self.text(of: type) }
    return text
  }

  /// One class.
  package static func text(of type: ObjectSchema) -> String {
    var text =
      "class \(identifier(type.className)): \(type.isEmbedded ? "EmbeddedObject" : "Object") {"
      + "\(remark(on: type.className))\n"
    for property in type.properties {
      text += "  \(declaration(of: property))\n"
    }
    return text + "}\n"
  }

  /// A property, with its wrapper.
  private static func declaration(of property: Property) -> String {
    let wrapper =
      property.isPrimaryKey
      ? "@Persisted(primaryKey: true)"
      : property.isIndexed ? "@Persisted(indexed: true)" : "@Persisted"
    return "\(wrapper) var \(identifier(property.name)): \(typeName(of: property))"
      + remark(on: property.name)
  }

  /// The Swift type of a property.
  package static func typeName(of property: Property) -> String {
    var name = valueName(of: property)
    let mayBeNull = property.type != .any && property.isOptional
    if !property.isCollection { return property.type == .object || mayBeNull ? name + "?" : name }
    if property.isMap, property.type == .object || mayBeNull { name += "?" }
    if !property.isMap, property.type != .object, mayBeNull { name += "?" }
    if property.isSet { return "MutableSet<\(name)>" }
    if property.isMap { return "Map<String, \(name)>" }
    return "List<\(name)>"
  }

  private static func valueName(of property: Property) -> String {
    switch property.type {
    case .int: "Int"
    case .bool: "Bool"
    case .string: "String"
    case .data: "Data"
    case .date: "Date"
    case .float: "Float"
    case .double: "Double"
    case .object, .linkingObjects: identifier(property.objectClassName ?? "Object")
    case .any: "AnyRealmValue"
    case .objectId: "ObjectId"
    case .decimal128: "Decimal128"
    case .UUID: "UUID"
    }
  }

  private static let reserved: Set<String> = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do",
    "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
    "if", "import",
    "in", "init", "inout", "internal", "is", "let", "nil", "operator", "private", "precedencegroup",
    "protocol",
    "public", "repeat", "rethrows", "return", "self", "Self", "static", "struct", "subscript",
    "super", "switch",
    "throw", "throws", "true", "try", "typealias", "var", "where", "while", "Any", "Type",
    "Protocol",
  ]

  /// A name as an identifier: in backticks where the language has it, or it is none.
  private static func identifier(_ name: String) -> String {
    let isPlain =
      name.unicodeScalars.first.map { $0.properties.isXIDStart || $0 == "_" } ?? false
      && name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue }
    return isPlain && !reserved.contains(name) ? name : "`\(quotable(name))`"
  }

  /// What a name really is, where its identifier does not say it.
  private static func remark(on name: String) -> String {
    if quotable(name) == name { return "" }
    return "  // '\(name.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())' in the store"
  }

  /// A name as backticks hold it: what would end them, or does not show, becomes '_'.
  ///
  /// A store may come from anybody, and its names shall not be code.
  static func quotable(_ name: String) -> String {
    var quotable = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
        quotable.append("_")
      default: quotable.append(scalar == "`" || scalar == "\\" ? "_" : scalar)
      }
    }
    return String(quotable)
  }
}
