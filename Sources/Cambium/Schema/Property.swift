/// One property of a class, as its objects are stored.
@frozen public struct Property: Equatable, Sendable {
  /// The name in the Swift class.
  public var name: String
  /// The name of the stored column.
  public var columnName: String
  /// The type of the value, or of a collection's elements.
  public var type: PropertyType
  /// Whether it holds an ordered collection; also true for linking objects.
  public var isArray = false
  /// Whether it holds a set.
  public var isSet = false
  /// Whether it holds a map with string keys.
  public var isMap = false
  /// Whether an index serves queries on it.
  public var isIndexed = false
  /// Whether the value, or a collection's element, may be null.
  public var isOptional = false
  /// Whether it is the class's primary key.
  package var isPrimaryKey = false
  /// The class that a link, a collection of links or linking objects refer to.
  public var objectClassName: String?
  /// For linking objects, the property of the other class whose links are followed backwards.
  package var originPropertyName: String?

  /// Describes a property that is neither a collection nor optional.
  package init(name: String, type: PropertyType) {
    self.name = name
    columnName = name
    self.type = type
  }

  /// Whether it holds a list, a set or a map; linking objects do not count.
  package var isCollection: Bool { (isArray || isSet || isMap) && type != .linkingObjects }

  /// Whether it is derived from other properties and has no column.
  package var isComputed: Bool { type == .linkingObjects }

  /// Whether it is a to-one link.
  package var isLink: Bool { type == .object && !isCollection }

  /// The type as migration messages write it, such as `int`, `array<Dog>` or `string?`.
  var typeText: String {
    var text = objectClassName.map { "\($0)" } ?? type.description
    if isOptional, type != .object { text += "?" }
    if isSet { return "set<\(text)>" }
    if isMap { return "dictionary<string, \(text)>" }
    if isArray { return "array<\(text)>" }
    return text
  }
}

extension Property: CustomStringConvertible {
  /// The name and, one per line, what is known of the property.
  public var description: String {
    var lines = ["\(name) {", "\ttype = \(type);"]
    if let objectClassName { lines.append("\tobjectClassName = \(objectClassName);") }
    if let originPropertyName { lines.append("\tlinkOriginPropertyName = \(originPropertyName);") }
    lines.append("\tcolumnName = \(columnName);")
    lines.append("\tindexed = \(isIndexed ? "YES" : "NO");")
    lines.append("\tisPrimary = \(isPrimaryKey ? "YES" : "NO");")
    lines.append("\tarray = \(isArray ? "YES" : "NO");")
    lines.append("\tset = \(isSet ? "YES" : "NO");")
    lines.append("\tdictionary = \(isMap ? "YES" : "NO");")
    lines.append("\toptional = \(isOptional ? "YES" : "NO");")
    lines.append("}")
    return lines.joined(separator: "\n")
  }
}
