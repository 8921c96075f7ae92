import Cambium
import CambiumToolKit

/// Values as the page shows and edits them: texts, since JavaScript rounds large numbers.
///
/// Belongs to its Realm's context.
struct CellEncoder {
  private let realm: Realm
  private let encoder: ObjectEncoder
  /// Longer texts are cut, in characters.
  private let textLimit: Int

  /// What fits into a table.
  static let rowTextLimit = 1000
  /// What is shown of one object.
  static let objectTextLimit = 64 << 10
  /// So many elements of a collection are shown in a table, and are edited as one text.
  static let elementLimit = 20

  init(_ realm: Realm, textLimit: Int) {
    self.realm = realm
    self.textLimit = textLimit
    encoder = ObjectEncoder(realm)
  }

  /// What one property of an object holds.
  func cell(of object: DynamicObject, _ index: Int, _ property: Property) -> JSONValue {
    if property.isCollection {
      let count = object.elementCount(at: index)
      let json = encoder.value(of: object, index, property, elements: 0..<Self.elementLimit)
      guard count > Self.elementLimit else { return text(json.line) }
      return Self.cut(String(json.line.unicodeScalars.prefix(textLimit)), count)
    }
    guard property.type == .object else {
      return text(Self.text(encoder.value(of: object, index, property), of: property))
    }
    guard case .value(.link(let link)) = object.storedContent(at: index) else { return .null }
    return self.link(link)
  }

  /// The elements of a collection at `bounds`, and the keys of a map's.
  func elements(
    of object: DynamicObject, _ index: Int, _ property: Property, _ bounds: Range<Int>
  ) -> (keys: [JSONValue]?, cells: [JSONValue]) {
    let json = encoder.value(of: object, index, property, elements: bounds)
    switch object.storedContent(at: index, elements: bounds) {
    case .value: return (nil, [])
    case .elements(let values):
      return (nil, zip(values, json.elements ?? []).map { cell($0, $1, of: property) })
    case .entries(let entries):
      let members = json.members ?? []
      return (
        members.map { .string($0.name) },
        zip(entries, members).map { cell($0.value, $1.value, of: property) }
      )
    }
  }

  /// The text of an object where others link to it.
  func name(of object: DynamicObject) -> String { encoder.reference(object).cell }

  private func cell(_ value: StoredAny, _ json: JSONValue, of property: Property) -> JSONValue {
    if case .link(let link) = value { return self.link(link) }
    return text(Self.text(json, of: property))
  }

  private func link(_ link: StoredAnyLink) -> JSONValue {
    guard let className = realm.className(ofTable: link.table),
      let target = realm.dynamicObject(ofType: className, rowKey: link.key)
    else { return .null }
    let text = target.objectSchema.isEmbedded ? encoder.document(target).line : name(of: target)
    let place: [JSONValue.Member] = [
      .init("class", .string(className)), .init("row", .string("\(link.key)")),
    ]
    let whole = self.text(text)
    return .object((whole.members ?? [.init("text", whole)]) + place)
  }

  private func text(_ text: String?) -> JSONValue {
    guard let text else { return .null }
    // By scalars: one character may have any number of them.
    guard text.utf8.count > textLimit, text.unicodeScalars.count > textLimit else {
      return .string(text)
    }
    return Self.cut(
      String(text.unicodeScalars.prefix(textLimit)), text.unicodeScalars.count)
  }

  /// A part of something that has so many characters or elements.
  private static func cut(_ text: String, _ count: Int) -> JSONValue {
    .object([
      .init("text", .string(text)), .init("cut", .bool(true)),
      .init("count", .integer(Int64(count))),
    ])
  }

  /// A value that is no link as a text, which `ObjectDecoder` reads back; nil for null.
  private static func text(_ json: JSONValue, of property: Property) -> String? {
    if json == .null { return nil }
    return property.type == .any ? json.line : json.cell
  }
}
