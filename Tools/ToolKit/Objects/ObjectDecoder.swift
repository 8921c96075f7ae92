import Cambium
import Foundation

/// JSON, or the cells of a CSV file, as values of properties: the other direction of ``ObjectEncoder``.
package struct ObjectDecoder {
  /// The classes, by name.
  package let classes: [String: ObjectSchema]
  /// Finds the object that a document refers to; nil where links are only looked at.
  package var find:
    ((_ className: String, _ reference: JSONValue) throws(TransferError) -> DynamicObject?)?

  package init(_ classes: [ObjectSchema]) {
    self.classes = Dictionary(classes.map { ($0.className, $0) }, uniquingKeysWith: { $1 })
  }

  /// Whether a property leads to objects, which have to be there before it is assigned.
  package static func isLinking(_ property: Property) -> Bool {
    property.type == .object || property.type == .any
  }

  // MARK: Properties

  /// The value that `json` stands for; nil for null.
  package func value(_ json: JSONValue, of property: Property) throws(TransferError) -> Any? {
    guard property.isCollection else { return try single(json, of: property) }
    if property.isMap {
      guard let members = json.members else {
        throw Self.mismatch(json, "an object of values by keys")
      }
      var values: [String: Any] = [:]
      for member in members {
        try checkKey(member.name)
        values[member.name] = Self.boxed(try single(member.value, of: property))
      }
      return values
    }
    guard let elements = json.elements else { throw Self.mismatch(json, "an array") }
    var values: [Any?] = []
    for element in elements {
      let value = try single(element, of: property)
      if property.isSet, let value = value as? AnyRealmValue {
        switch value {
        case .list, .dictionary:
          throw TransferError("a set cannot contain a list or a dictionary")
        default: break
        }
      }
      values.append(value)
    }
    return values
  }

  /// A value of a dictionary, which stays in it where it is nil.
  private static func boxed(_ value: Any?) -> Any {
    if let value { value } else { Any?.none as Any }
  }

  private func checkKey(_ key: String) throws(TransferError) {
    if Map<String, AnyRealmValue>.refusal(of: key) != nil {
      throw TransferError("a map takes no key that has a point or begins with '$': '\(key)'")
    }
  }

  private func single(_ json: JSONValue, of property: Property) throws(TransferError) -> Any? {
    switch property.type {
    case .any: return try anyValue(json)
    case .object: return try object(json, property)
    default:
      guard json != .null else {
        if property.isOptional { return nil }
        throw TransferError("it cannot be null")
      }
      return try scalar(json, property.type)
    }
  }

  private func object(_ json: JSONValue, _ property: Property) throws(TransferError) -> Any? {
    guard json != .null else {
      if property.isCollection, !property.isMap { throw TransferError("an element cannot be null") }
      return nil
    }
    guard let name = property.objectClassName, let target = classes[name] else {
      throw TransferError(
        "it links to the class '\(property.objectClassName ?? "")', which is not there")
    }
    guard target.isEmbedded else { return try linked(name, json) }
    guard let members = json.members else { throw Self.mismatch(json, "an embedded object") }
    return try values(members, of: target)
  }

  /// The properties of an object, by their names.
  package func values(
    _ members: [JSONValue.Member], of type: ObjectSchema
  ) throws(TransferError) -> [String: Any] {
    var values: [String: Any] = [:]
    for member in members {
      guard let property = type[member.name], !property.isComputed else {
        throw TransferError("'\(type.className)' has no property '\(member.name)'")
      }
      do throws(TransferError) {
        values[member.name] = Self.boxed(try value(member.value, of: property))
      } catch {
        throw TransferError("'\(type.className).\(member.name)': \(error)")
      }
    }
    return values
  }

  private func linked(_ className: String, _ json: JSONValue) throws(TransferError) -> Any? {
    guard let target = classes[className] else {
      throw TransferError("there is no class '\(className)'")
    }
    guard !target.isEmbedded else {
      throw TransferError(
        "an object of '\(className)' lives inside of another, and is not linked to")
    }
    let json = Self.reference(json, target.primaryKeyProperty)
    if let key = target.primaryKeyProperty, json["$key"] == nil {
      _ = try single(json, of: key)
    } else if json["$key"]?.integer == nil {
      throw Self.mismatch(json, "an object's row, {\"$key\": 1}")
    }
    guard let find else { return nil }
    guard let object = try find(className, json) else {
      throw TransferError(
        "there is no '\(className)' with the key \(json["$key"]?.line ?? json.line)")
    }
    return object
  }

  /// What a reference is to an object of a class with that primary key: the text of a cell may be a number, or a row
  /// ('#12').
  private static func reference(_ json: JSONValue, _ key: Property?) -> JSONValue {
    switch (json, key?.type) {
    case (.integer(let digits), .string): return .string("\(digits)")
    case (.string, .string): return json
    case (.string(let text), .int):
      if let number = Int64(text) { return .integer(number) }
      fallthrough
    case (.string(let text), _):
      guard text.hasPrefix("#"), let row = Int64(text.dropFirst()) else { return json }
      return .object([JSONValue.Member("$key", .integer(row))])
    default: return json
    }
  }

  // MARK: Values

  private func scalar(_ json: JSONValue, _ type: PropertyType) throws(TransferError) -> Any {
    switch (type, json) {
    case (.int, .integer(let value)): return Int(value)
    case (.int, .number(let text)):
      if let value = Double(text), let integer = Int(exactly: value) { return integer }
    case (.bool, .bool(let value)): return value
    case (.string, .string(let text)): return text
    case (.data, .string(let text)):
      if let data = Data(base64Encoded: text) { return data }
    case (.date, .string(let text)):
      if let date = DateText.date(text) { return date }
    case (.double, _):
      if let value = Self.double(json) { return value }
    case (.float, .number(let text)):
      // Not by way of a double, which would be rounded twice.
      if let value = Float(text), value.isFinite { return value }
    case (.float, _):
      if let value = Self.double(json) { return Float(value) }
    case (.decimal128, .string(let text)), (.decimal128, .number(let text)):
      if let value = try? Decimal128(string: text) { return value }
    case (.decimal128, .integer(let value)): return Decimal128(integerLiteral: value)
    case (.objectId, .string(let text)):
      if let value = try? ObjectId(string: text) { return value }
    case (.UUID, .string(let text)):
      if let value = UUID(uuidString: text) { return value }
    default: break
    }
    throw Self.mismatch(json, Self.article(type))
  }

  private static func double(_ json: JSONValue) -> Double? {
    switch json {
    case .integer(let value): Double(value)
    case .number(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    case .string("NaN"): .nan
    case .string("Infinity"): .infinity
    case .string("-Infinity"): -.infinity
    default: nil
    }
  }

  /// A value that is `depth` levels deep in another one.
  private func anyValue(
    _ json: JSONValue, depth: Int = 0
  ) throws(TransferError) -> AnyRealmValue {
    guard depth < StoredAny.depthLimit else {
      throw TransferError("a value is nested deeper than \(StoredAny.depthLimit) levels")
    }
    switch json {
    case .null: return .none
    case .bool(let value): return .bool(value)
    case .integer(let value): return .int(Int(value))
    case .number(let text):
      guard let value = Self.double(json) else {
        throw TransferError("\(text) is no number that a double can hold")
      }
      return .double(value)
    case .string(let text): return .string(text)
    case .array(let values):
      var elements: [AnyRealmValue] = []
      for value in values { elements.append(try anyValue(value, depth: depth + 1)) }
      return .fromArray(elements)
    case .object(let members):
      if members.count == 1, members[0].name.hasPrefix("$") {
        return try tagged(members[0].name, members[0].value, depth)
      }
      return .fromDictionary(try entries(members, depth))
    }
  }

  private func entries(
    _ members: [JSONValue.Member], _ depth: Int
  ) throws(TransferError) -> [String: AnyRealmValue] {
    var entries: [String: AnyRealmValue] = [:]
    for member in members {
      try checkKey(member.name)
      entries[member.name] = try anyValue(member.value, depth: depth + 1)
    }
    return entries
  }

  private func tagged(
    _ tag: String, _ json: JSONValue, _ depth: Int
  ) throws(TransferError) -> AnyRealmValue {
    let types: [String: PropertyType] = [
      "$double": .double, "$float": .float, "$data": .data, "$date": .date,
      "$decimal": .decimal128, "$objectId": .objectId, "$uuid": .UUID,
    ]
    switch tag {
    case "$dictionary":
      guard let members = json.members else { throw Self.mismatch(json, "a dictionary") }
      return .fromDictionary(try entries(members, depth))
    case "$link":
      guard let name = json["class"]?.text, let key = json["key"] else {
        throw Self.mismatch(json, "a link, {\"class\": …, \"key\": …}")
      }
      return (try linked(name, key) as? DynamicObject).map { .object($0) } ?? .none
    case _ where types[tag] != nil:
      switch try scalar(json, types[tag] ?? .double) {
      case let value as Double: return .double(value)
      case let value as Float: return .float(value)
      case let value as Data: return .data(value)
      case let value as Date: return .date(value)
      case let value as Decimal128: return .decimal128(value)
      case let value as ObjectId: return .objectId(value)
      case let value as UUID: return .uuid(value)
      default: return .none
      }
    default:
      throw TransferError("'\(tag)' marks no type that is known")
    }
  }

  // MARK: Cells

  /// What a cell of a CSV file stands for as a value of `property`; nil is a cell with nothing in it.
  package static func json(_ cell: String?, of property: Property) throws(TransferError)
    -> JSONValue
  {
    guard let cell else { return .null }
    if property.isCollection || property.type == .any {
      // Whatever is no JSON is a text.
      if let value = try? JSONReader.value(of: cell) { return value }
      if property.isCollection { throw mismatch(.string(cell), "JSON") }
      return .string(cell)
    }
    switch property.type {
    case .int, .float, .double:
      let text = cell.trimmingCharacters(in: .whitespaces)
      if let value = try? JSONReader.value(of: text) { return value }
      return .string(text)
    case .bool:
      switch cell.lowercased() {
      case "true", "t", "yes", "y", "1": return .bool(true)
      case "false", "f", "no", "n", "0": return .bool(false)
      default: return .string(cell)
      }
    case .object:
      // What a text is the key of, its target tells.
      return (try? JSONReader.value(of: cell)).flatMap { $0.members == nil ? nil : $0 }
        ?? .string(cell)
    default: return .string(cell)
    }
  }

  // MARK: Errors

  private static func mismatch(_ json: JSONValue, _ wanted: String) -> TransferError {
    let found: String
    switch json {
    case .string, .integer, .number, .bool:
      found = json.line.count > 40 ? "\(json.line.prefix(40))…" : json.line
    default: found = json.kind
    }
    return TransferError("expected \(wanted) instead of \(found)")
  }

  private static func article(_ type: PropertyType) -> String {
    switch type {
    case .int: "an integer"
    case .data: "data in base64"
    case .date: "a date, such as 2024-02-29T12:00:00Z"
    case .objectId: "an object identifier of 24 hexadecimal digits"
    case .UUID: "a UUID"
    case .bool: "true or false"
    case .string: "a text"
    default: "a number"
    }
  }
}
