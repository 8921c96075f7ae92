import Cambium

/// A class in a document: its name, and its properties one by one.
///
/// ```
/// {"name": "Person", "properties": [
///   {"name": "id", "type": "int", "primaryKey": true},
///   {"name": "dogs", "type": "object", "class": "Dog", "collection": "list"}]}
/// ```
package enum ClassDocument {
  private static let typeNames: [(type: PropertyType, name: String)] = [
    (.int, "int"), (.bool, "bool"), (.string, "string"), (.data, "data"), (.date, "date"),
    (.float, "float"), (.double, "double"), (.object, "object"), (.any, "any"),
    (.objectId, "objectId"), (.decimal128, "decimal"), (.UUID, "uuid"),
  ]

  /// What documents call a type.
  package static func name(of type: PropertyType) -> String {
    typeNames.first { $0.type == type }?.name ?? "\(type)"
  }

  /// The description of a class, without what is derived from others.
  package static func json(_ type: ObjectSchema) -> JSONValue {
    var members = [JSONValue.Member("name", .string(type.className))]
    if type.isEmbedded { members.append(JSONValue.Member("embedded", .bool(true))) }
    let properties = type.properties.filter { !$0.isComputed }.map(json)
    members.append(JSONValue.Member("properties", .array(properties)))
    return .object(members)
  }

  private static func json(_ property: Property) -> JSONValue {
    var members = [
      JSONValue.Member("name", .string(property.name)),
      JSONValue.Member("type", .string(name(of: property.type))),
    ]
    if let target = property.objectClassName {
      members.append(JSONValue.Member("class", .string(target)))
    }
    if let collection = collection(of: property) {
      members.append(JSONValue.Member("collection", .string(collection)))
    }
    // Links may always be null, and so may values of any type.
    if property.isOptional, property.type != .any, property.type != .object || property.isMap {
      members.append(JSONValue.Member("optional", .bool(true)))
    }
    if property.isPrimaryKey {
      members.append(JSONValue.Member("primaryKey", .bool(true)))
    } else if property.isIndexed {
      members.append(JSONValue.Member("indexed", .bool(true)))
    }
    return .object(members)
  }

  /// What kind of collection a property holds; nil when it holds none.
  package static func collection(of property: Property) -> String? {
    guard property.isCollection else { return nil }
    return property.isSet ? "set" : property.isMap ? "map" : "list"
  }

  /// The class that a document describes.
  package static func type(_ json: JSONValue) throws(TransferError) -> ObjectSchema {
    guard let name = json["name"]?.text, !name.isEmpty else {
      throw TransferError("The document describes a class that has no name.")
    }
    var properties: [Property] = []
    for part in json["properties"]?.elements ?? [] {
      let property = try property(part, of: name)
      guard !properties.contains(where: { $0.name == property.name }) else {
        throw TransferError("The document has the property '\(name).\(property.name)' twice.")
      }
      properties.append(property)
    }
    guard properties.filter(\.isPrimaryKey).count < 2 else {
      throw TransferError("The document gives the class '\(name)' two primary keys.")
    }
    return ObjectSchema(
      className: name, objectClass: DynamicObject.self, properties: properties,
      isEmbedded: json["embedded"] == .bool(true))
  }

  private static func property(
    _ json: JSONValue, of className: String
  ) throws(TransferError) -> Property {
    guard let name = json["name"]?.text, !name.isEmpty else {
      throw TransferError("The document describes a property of '\(className)' that has no name.")
    }
    func refusal(_ reason: String) -> TransferError {
      TransferError("The document's property '\(className).\(name)' \(reason).")
    }
    guard let type = typeNames.first(where: { $0.name == json["type"]?.text })?.type else {
      throw refusal("has no type that is known: \(json["type"]?.line ?? "none")")
    }
    var property = Property(name: name, type: type)
    property.objectClassName = json["class"]?.text
    guard (property.objectClassName != nil) == (type == .object) else {
      throw refusal("must name a class exactly if it is an object")
    }
    switch json["collection"] {
    case nil: break
    case .string("list"): property.isArray = true
    case .string("set"): property.isSet = true
    case .string("map"): property.isMap = true
    default: throw refusal("is no collection that is known")
    }
    property.isOptional =
      json["optional"] == .bool(true) && type != .any
      || type == .object && (!property.isCollection || property.isMap)
    property.isPrimaryKey = json["primaryKey"] == .bool(true)
    property.isIndexed = property.isPrimaryKey || json["indexed"] == .bool(true)
    try check(property, refusal)
    return property
  }

  private static func check(
    _ property: Property, _ refusal: (String) -> TransferError
  ) throws(TransferError) {
    let keyTypes: [PropertyType] = [.int, .string, .objectId, .UUID]
    if property.isPrimaryKey, property.isCollection || !keyTypes.contains(property.type) {
      throw refusal("cannot be a primary key")
    }
    let indexed = keyTypes + [.bool, .date, .any]
    if property.isIndexed, property.isCollection || !indexed.contains(property.type) {
      throw refusal("cannot have an index")
    }
  }
}
