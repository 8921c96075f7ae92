import Cambium
import CambiumCore
import Foundation

/// A column of a query's answer: a property, or one behind to-one links, and what is inside of it.
package struct ColumnPath {
  /// The path, as it was written.
  package let text: String
  /// The properties on the way; all but the last are to-one links.
  private let hops: [Int]
  private let property: Property
  private let key: String?

  /// Reads `text` for objects of `type`.
  ///
  /// - Throws: `QueryError` when a name is not there.
  package init(_ text: String, of type: ObjectSchema, in schema: Schema) throws(QueryError) {
    self.text = text
    let path = try PredicateParser.parsePath(text)
    var (place, hops, key) = (type, [Int](), String?.none)
    var last: Property?
    for step in path.steps {
      guard key == nil else { throw Self.refusal(text, "nothing may follow a key") }
      switch step {
      case .property(let name):
        if let link = last {
          guard link.isLink, let target = link.objectClassName.flatMap({ schema[$0] }) else {
            throw Self.refusal(text, "'\(place.className).\(link.name)' is no to-one link")
          }
          place = target
        }
        guard let index = place.allProperties.firstIndex(where: { $0.name == name }) else {
          throw Self.refusal(text, "'\(place.className)' has no property '\(name)'")
        }
        last = place.allProperties[index]
        hops.append(index)
      case .key(let name):
        guard let map = last, map.isMap else { throw Self.refusal(text, "only maps have keys") }
        key = name
      default: throw Self.refusal(text, "a column is a property")
      }
    }
    guard let last else { throw Self.refusal(text, "a column is a property") }
    (self.hops, property, self.key) = (hops, last, key)
  }

  /// A property itself, whatever its name would be as a path.
  private init(_ property: Property, at index: Int) {
    (text, hops, self.property, key) = (property.name, [index], property, nil)
  }

  /// All stored properties of a class.
  package static func all(of type: ObjectSchema) -> [ColumnPath] {
    type.allProperties.enumerated().compactMap { index, property in
      property.isComputed ? nil : ColumnPath(property, at: index)
    }
  }

  private static func refusal(_ text: String, _ reason: String) -> QueryError {
    QueryError("The column '\(text)' cannot be shown: \(reason).")
  }

  /// Whether its values are numbers, which stand to the right.
  package var isNumber: Bool {
    guard !property.isCollection || key != nil else { return false }
    return [.int, .float, .double, .decimal128].contains(property.type)
  }

  /// The value of `object`; null behind a null link.
  package func value(of object: DynamicObject, _ encoder: ObjectEncoder) -> JSONValue {
    var object = object
    for hop in hops.dropLast() {
      guard case .value(.link(let link)) = object.storedContent(at: hop),
        let name = encoder.realm.className(ofTable: link.table),
        let next = encoder.realm.dynamicObject(ofType: name, rowKey: link.key)
      else { return .null }
      object = next
    }
    let value = encoder.value(of: object, hops[hops.count - 1], property)
    return key.map { value[$0] ?? .null } ?? value
  }
}

extension JSONValue {
  /// The value in a table or a CSV cell: texts as they are, nothing for null, JSON for the rest.
  package var cell: String {
    switch self {
    case .null: ""
    case .string(let text): text
    case .bool, .integer, .number, .array: line
    case .object(let members):
      members.count == 1 && members[0].name == "$key" ? "#\(members[0].value.line)" : line
    }
  }
  /// The field of a CSV record: nothing for null, apart from an empty text.
  package var csvField: String? { self == .null ? nil : cell }
}
