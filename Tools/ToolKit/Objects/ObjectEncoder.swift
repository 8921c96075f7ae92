import Cambium
import Foundation

/// Objects as JSON, without loss: what ``ObjectDecoder`` reads.
///
/// Belongs to its Realm's context.
package struct ObjectEncoder {
  let realm: Realm
  let schema: Schema

  package init(_ realm: Realm) {
    self.realm = realm
    schema = realm.schema
  }

  /// An object with all its properties.
  ///
  /// One without a primary key begins with `$key`, the number of its row.
  package func document(_ object: DynamicObject) -> JSONValue {
    let type = object.objectSchema
    var members: [JSONValue.Member] = []
    if type.primaryKeyProperty == nil, !type.isEmbedded {
      members.append(JSONValue.Member("$key", .integer(object.rowKey)))
    }
    for (index, property) in type.properties.enumerated() where !property.isComputed {
      members.append(JSONValue.Member(property.name, value(of: object, index, property)))
    }
    return .object(members)
  }

  /// What one property holds; of a collection only the elements at `bounds`, where they are given.
  package func value(
    of object: DynamicObject, _ index: Int, _ property: Property, elements bounds: Range<Int>? = nil
  ) -> JSONValue {
    switch object.storedContent(at: index, elements: bounds) {
    case .value(let value): self.value(value, of: property.type)
    case .elements(let values): .array(values.map { value($0, of: property.type) })
    case .entries(let entries):
      .object(
        entries.map {
          JSONValue.Member(
            String(decoding: $0.key, as: UTF8.self), value($0.value, of: property.type))
        })
    }
  }

  /// How other documents refer to an object: by its primary key, or by the number of its row.
  package func reference(_ object: DynamicObject) -> JSONValue {
    let type = object.objectSchema
    for (index, property) in type.properties.enumerated() where property.isPrimaryKey {
      return value(of: object, index, property)
    }
    return .object([JSONValue.Member("$key", .integer(object.rowKey))])
  }

  private func value(_ value: StoredAny, of type: PropertyType) -> JSONValue {
    if type == .any { return anyValue(value) }
    switch value {
    case .none: return .null
    case .bool(let value): return .bool(value)
    case .int(let value): return .integer(value)
    case .float(let value):
      return value.isFinite ? .number("\(value)") : .string(Self.special(Double(value)))
    case .double(let value): return value.isFinite ? .number(value) : .string(Self.special(value))
    case .string(let bytes): return .string(String(decoding: bytes, as: UTF8.self))
    case .data(let bytes): return .string(Data(bytes).base64EncodedString())
    case .date(let date): return .string(DateText.text(date))
    case .decimal, .objectId, .uuid: return .string(value.identifierText)
    case .link(let link):
      return linked(link).map { $0.isEmbedded ? document($0.object) : reference($0.object) }
        ?? .null
    case .list, .dictionary: return anyValue(value)
    }
  }

  /// A value of any type tells its own, unless JSON does.
  private func anyValue(_ value: StoredAny) -> JSONValue {
    func tagged(_ tag: String) -> JSONValue {
      .object([JSONValue.Member("$\(tag)", self.value(value, of: .string))])
    }
    switch value {
    case .none, .bool, .int, .string: return self.value(value, of: .string)
    case .double(let number): return number.isFinite ? .number(number) : tagged("double")
    case .float: return tagged("float")
    case .data: return tagged("data")
    case .date: return tagged("date")
    case .decimal: return tagged("decimal")
    case .objectId: return tagged("objectId")
    case .uuid: return tagged("uuid")
    case .link(let link):
      guard let target = linked(link) else { return .null }
      return .object([
        JSONValue.Member(
          "$link",
          .object([
            JSONValue.Member("class", .string(target.object.className)),
            JSONValue.Member("key", reference(target.object)),
          ]))
      ])
    case .list(_, let values): return .array(values.map(anyValue))
    case .dictionary(_, let entries):
      let members = entries.map {
        JSONValue.Member(String(decoding: $0.key, as: UTF8.self), anyValue($0.value))
      }
      // A name like that of a tag would be taken for one.
      let isAmbiguous = members.contains { $0.name.hasPrefix("$") }
      return isAmbiguous
        ? .object([JSONValue.Member("$dictionary", .object(members))]) : .object(members)
    }
  }

  private func linked(_ link: StoredAnyLink) -> (object: DynamicObject, isEmbedded: Bool)? {
    guard let name = realm.className(ofTable: link.table),
      let object = realm.dynamicObject(ofType: name, rowKey: link.key)
    else { return nil }
    return (object, object.objectSchema.isEmbedded)
  }

  static func special(_ value: Double) -> String {
    value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
  }
}
