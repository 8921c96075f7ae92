import Cambium
import Foundation

/// Classes as a JSON Schema (2020-12) of what ``Export`` writes.
package enum JSONSchema {
  /// A schema with a definition for each class; a document is an object of any of them.
  package static func document(of schema: Schema) -> JSONValue {
    let roots = schema.objectSchema.filter { !$0.isEmbedded }
    return .object([
      JSONValue.Member("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
      JSONValue.Member("anyOf", .array(roots.map { reference($0.className) })),
      JSONValue.Member(
        "$defs",
        .object(schema.objectSchema.map { JSONValue.Member($0.className, definition($0, schema)) })),
    ])
  }

  /// A JSON pointer in the fragment of a URI.
  private static func reference(_ name: String) -> JSONValue {
    let token = name.replacing("~", with: "~0").replacing("/", with: "~1")
    let fragment = token.addingPercentEncoding(withAllowedCharacters: .urlFragmentAllowed) ?? token
    return .object([JSONValue.Member("$ref", .string("#/$defs/\(fragment)"))])
  }

  private static func definition(_ type: ObjectSchema, _ schema: Schema) -> JSONValue {
    let stored = type.properties
    var properties = stored.map { JSONValue.Member($0.name, value($0, schema)) }
    if !type.isEmbedded, type.primaryKeyProperty == nil {
      properties.insert(JSONValue.Member("$key", typed("integer")), at: 0)
    }
    return .object([
      JSONValue.Member("type", .string("object")),
      JSONValue.Member("properties", .object(properties)),
      JSONValue.Member("required", .array(stored.map { .string($0.name) })),
      JSONValue.Member("additionalProperties", .bool(false)),
    ])
  }

  private static func value(_ property: Property, _ schema: Schema) -> JSONValue {
    let single = single(property, schema)
    guard property.isCollection else { return single }
    if property.isMap {
      return .object([
        JSONValue.Member("type", .string("object")),
        JSONValue.Member("additionalProperties", single),
      ])
    }
    var members = [JSONValue.Member("type", .string("array")), JSONValue.Member("items", single)]
    if property.isSet { members.append(JSONValue.Member("uniqueItems", .bool(true))) }
    return .object(members)
  }

  private static func single(_ property: Property, _ schema: Schema) -> JSONValue {
    let value: JSONValue
    switch property.type {
    case .any: return .object([])
    case .int: value = typed("integer")
    case .bool: value = typed("boolean")
    case .float, .double: value = either([typed("number"), special])
    case .string: value = typed("string")
    case .data: value = typed("string", JSONValue.Member("contentEncoding", .string("base64")))
    case .date: value = typed("string", JSONValue.Member("format", .string("date-time")))
    case .UUID: value = typed("string", JSONValue.Member("format", .string("uuid")))
    case .objectId: value = typed("string", JSONValue.Member("pattern", .string("^[0-9a-f]{24}$")))
    case .decimal128: value = typed("string")
    case .object, .linkingObjects: value = link(property, schema)
    }
    let mayBeNull =
      property.type == .object ? !property.isCollection || property.isMap : property.isOptional
    return mayBeNull ? either([value, typed("null")]) : value
  }

  private static let special = JSONValue.object([
    JSONValue.Member("enum", .array([.string("NaN"), .string("Infinity"), .string("-Infinity")]))
  ])

  /// An embedded object, or what names one of a class: its primary key or its row.
  private static func link(_ property: Property, _ schema: Schema) -> JSONValue {
    guard let target = property.objectClassName.flatMap({ schema[$0] }) else { return .object([]) }
    if target.isEmbedded { return reference(target.className) }
    if let key = target.primaryKeyProperty { return single(key, schema) }
    return .object([
      JSONValue.Member("type", .string("object")),
      JSONValue.Member("properties", .object([JSONValue.Member("$key", typed("integer"))])),
      JSONValue.Member("required", .array([.string("$key")])),
    ])
  }

  private static func typed(_ name: String, _ rest: JSONValue.Member...) -> JSONValue {
    .object([JSONValue.Member("type", .string(name))] + rest)
  }

  private static func either(_ values: [JSONValue]) -> JSONValue {
    .object([JSONValue.Member("anyOf", .array(values))])
  }
}
