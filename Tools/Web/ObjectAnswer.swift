import Cambium
import CambiumToolKit

/// One object: its properties, or one of them, and who links to it.
struct ObjectAnswer {
  let json: JSONValue

  /// So many elements of a collection are told at once.
  private static let elementCount = 100
  /// So many of the objects that link to one are named.
  private static let sourceCount = 20

  init(_ realm: Realm, _ parameters: [String: String]) throws(WebRefusal) {
    let (type, object) = try Self.object(realm, parameters["class"], parameters["row"])
    let from = try WebParameter.count(parameters, "from", 0)
    let encoder = CellEncoder(realm, textLimit: CellEncoder.objectTextLimit)
    let wanted = parameters["property"]
    if let wanted, type[wanted] == nil {
      throw WebRefusal(404, "'\(type.className)' has no property '\(wanted)'.")
    }
    var properties: [JSONValue] = []
    for (index, property) in type.allProperties.enumerated() where !property.isComputed {
      guard property.name == wanted ?? property.name else { continue }
      properties.append(Self.property(object, index, property, wanted == nil ? 0 : from, encoder))
    }
    var members: [JSONValue.Member] = [
      .init("class", .string(type.className)), .init("row", .string("\(object.rowKey)")),
      .init("version", .integer(Int64(realm.version))),
      .init("key", type.primaryKeyProperty == nil ? .null : .string(encoder.name(of: object))),
      .init("properties", .array(properties)),
    ]
    if wanted == nil {
      members.append(.init("backlinks", .array(Self.backlinks(object, realm, encoder))))
    }
    json = .object(members)
  }

  /// The object in that row of that class.
  static func object(
    _ realm: Realm, _ className: String?, _ row: String?
  ) throws(WebRefusal) -> (type: ObjectSchema, object: DynamicObject) {
    guard let className, let type = realm.schema[className] else {
      throw WebRefusal(404, "There is no class '\(className ?? "")'.")
    }
    let row = try WebParameter.row(row)
    guard let object = realm.dynamicObject(ofType: className, rowKey: row) else {
      throw WebRefusal(404, "The object is gone: '\(className)' has no row \(row).")
    }
    return (type, object)
  }

  private static func property(
    _ object: DynamicObject, _ index: Int, _ property: Property, _ from: Int, _ encoder: CellEncoder
  ) -> JSONValue {
    guard property.isCollection else {
      return .object([
        .init("name", .string(property.name)),
        .init("cell", encoder.cell(of: object, index, property)),
      ])
    }
    let (keys, cells) = encoder.elements(of: object, index, property, from..<(from + elementCount))
    let count = object.elementCount(at: index)
    var members: [JSONValue.Member] = [
      .init("name", .string(property.name)), .init("count", .integer(Int64(count))),
      .init("from", .integer(Int64(from))),
    ]
    // What is short can be edited as one text.
    if count <= CellEncoder.elementLimit {
      members.append(.init("cell", encoder.cell(of: object, index, property)))
    }
    if let keys { members.append(.init("keys", .array(keys))) }
    return .object(members + [.init("cells", .array(cells))])
  }

  private static func backlinks(
    _ object: DynamicObject, _ realm: Realm, _ encoder: CellEncoder
  ) -> [JSONValue] {
    let target = object.objectSchema.className
    var found: [JSONValue] = []
    for origin in realm.schema.objectSchema {
      for property in origin.allProperties
      where property.type == .any
        || (property.type == .object && property.objectClassName == target)
      {
        let rows = realm.rowKeys(linkingTo: object, from: origin.className, by: property.name)
        if rows.isEmpty { continue }
        let named = rows.prefix(sourceCount).compactMap { row in
          realm.dynamicObject(ofType: origin.className, rowKey: row).map { source in
            JSONValue.object([
              .init("row", .string("\(row)")), .init("text", .string(encoder.name(of: source))),
            ])
          }
        }
        found.append(
          .object([
            .init("class", .string(origin.className)), .init("property", .string(property.name)),
            .init("count", .integer(Int64(rows.count))), .init("rows", .array(named)),
          ]))
      }
    }
    return found
  }
}
