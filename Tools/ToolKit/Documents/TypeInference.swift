import Cambium
import Foundation

/// Finds the types of properties from values: for documents that do not describe their class.
///
/// Whole numbers are integers, numbers among which one has a point are doubles; `true` and `false` truth values;
/// texts that are all dates of ISO 8601 dates, all UUIDs UUIDs; arrays of one such type lists; everything else
/// in JSON values of any type. A value that is missing or null makes a property optional.
package struct TypeInference {
  /// What the values of a property have in common.
  private struct Column {
    var name: String
    var type: PropertyType?
    var isList = false
    /// How many objects have a value that is not null.
    var count = 0
  }

  private var columns: [Column] = []
  private var places: [String: Int] = [:]
  private var objectCount = 0
  private let format: DocumentFormat

  package init(_ format: DocumentFormat) { self.format = format }

  /// Looks at an object.
  package mutating func add(_ members: [JSONValue.Member]) {
    objectCount += 1
    for member in members {
      let place: Int
      if let known = places[member.name] {
        place = known
      } else {
        place = columns.count
        places[member.name] = place
        columns.append(Column(name: member.name))
      }
      guard member.value != .null else { continue }
      columns[place].count += 1
      note(member.value, &columns[place])
    }
  }

  /// The class that was found.
  ///
  /// - Throws: `TransferError` when `primaryKey` is no property that can be one, or there is no property.
  package func type(
    named name: String, primaryKey: String?
  ) throws(TransferError) -> ObjectSchema {
    guard !columns.isEmpty else {
      throw TransferError("The document has nothing to learn a class from.")
    }
    var properties: [Property] = []
    for column in columns {
      guard !column.name.isEmpty, !column.name.hasPrefix("$") else {
        throw TransferError("No property can have the name '\(column.name)'.")
      }
      var property = Property(name: column.name, type: column.type ?? .string)
      property.isArray = column.isList
      property.isOptional =
        !column.isList && (property.type == .any || column.count < objectCount)
      properties.append(property)
    }
    if let primaryKey {
      guard let place = properties.firstIndex(where: { $0.name == primaryKey }) else {
        throw TransferError("The document has no property '\(primaryKey)' for a primary key.")
      }
      guard [.int, .string, .objectId, .UUID].contains(properties[place].type),
        !properties[place].isArray, !properties[place].isOptional
      else {
        throw TransferError(
          "'\(primaryKey)' cannot be a primary key: it has to be an integer, a text or a UUID that is never "
            + "missing.")
      }
      properties[place].isPrimaryKey = true
      properties[place].isIndexed = true
    }
    return ObjectSchema(className: name, objectClass: DynamicObject.self, properties: properties)
  }

  // MARK: Parts

  private func note(_ value: JSONValue, _ column: inout Column) {
    guard let elements = value.elements else {
      let type = type(of: value)
      if column.isList { (column.isList, column.type) = (false, .any) }
      column.type = column.type.map { joined($0, type) } ?? type
      return
    }
    let hasValues = column.count > 1
    if hasValues, !column.isList {
      column.type = .any
      return
    }
    column.isList = true
    for element in elements {
      let type = element.elements == nil && element != .null ? type(of: element) : .any
      column.type = column.type.map { joined($0, type) } ?? type
    }
  }

  private func type(of value: JSONValue) -> PropertyType {
    switch value {
    case .bool: .bool
    case .integer: .int
    case .number: .double
    case .string(let text): format == .csv ? type(ofCell: text) : type(ofText: text)
    case .null, .array, .object: .any
    }
  }

  private func type(ofCell text: String) -> PropertyType {
    switch try? JSONReader.value(of: text) {
    case .integer?: .int
    case .number?: .double
    case .bool?: .bool
    // Numbers with zeros before them, such as postal codes, are texts.
    default: type(ofText: text)
    }
  }

  private func type(ofText text: String) -> PropertyType {
    guard let first = text.utf8.first, first < 0x80, text.utf8.count >= 10 else { return .string }
    if DateText.date(text) != nil { return .date }
    if text.utf8.count == 36, UUID(uuidString: text) != nil { return .UUID }
    return .string
  }

  private func joined(_ first: PropertyType, _ second: PropertyType) -> PropertyType {
    if first == second { return first }
    let both: Set = [first, second]
    if both == [.int, .double] { return .double }
    // In a file of texts everything is one.
    if format == .csv { return .string }
    return both.isSubset(of: [.string, .date, .UUID]) ? .string : .any
  }
}
