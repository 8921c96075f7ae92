import Cambium
import Foundation

/// Values of a program's objects, written as ``ModelExpectation`` writes those of the JSON.
struct ModelContent {
  /// Tells objects apart.
  private struct Identity: Hashable {
    var className: String
    var number: UInt64

    init(_ object: Imported) {
      className = object.objectSchema.className
      number = object.id
    }
  }

  /// The old keys of all objects.
  private var keys: [Identity: Int64] = [:]
  private var embedded: [String: [[String: Any]]] = [:]

  /// Gives each object the key that the JSON has for it: in the order of keys, or by its integer primary key.
  init(_ realm: Realm, _ types: [ObjectBase.Type], _ expected: ExpectedContent) {
    for description in expected.classes {
      let name = description["name"] as? String ?? ""
      if description["kind"] as? String == "embedded" {
        embedded[name] = description["properties"] as? [[String: Any]] ?? []
      }
      guard let type = types.first(where: { ($0._realmObjectName() ?? $0.className()) == name }),
        let all = (type as? Imported.Type)?.all(in: realm)
      else { continue }
      let old = (description["keys"] as? [NSNumber] ?? []).map(\.int64Value)
      let primaryKey = description["primaryKey"] as? String
      let values = (description["columns"] as? [String: [Any]])?[primaryKey ?? ""]
      if let primaryKey, let values, all.first?[primaryKey] is NSNumber,
        !values.contains(where: { $0 is NSNull })
      {
        let byValue = Dictionary(
          zip(values.map { ($0 as? NSNumber)?.int64Value ?? 0 }, old), uniquingKeysWith: { $1 })
        for object in all { keys[Identity(object)] = byValue[Self.integer(object[primaryKey])] }
      } else {
        for (object, key) in zip(all, old) { keys[Identity(object)] = key }
      }
    }
  }

  /// The objects of a class in the order of their old keys.
  func objects(of type: Imported.Type, in realm: Realm) -> [(key: Int64, object: Imported)] {
    type.all(in: realm).map { (keys[Identity($0)] ?? -1, $0) }.sorted { $0.0 < $1.0 }
  }

  /// A property of an object; embedded objects with all that they hold.
  func describe(_ name: String, of object: ObjectBase, _ property: [String: Any]) -> String {
    // By its name a value of any type comes without what it was wrapped in.
    if name == "any", let object = object as? any HoldsAny { return describe(object.any) }
    return describe(object[name], property)
  }

  private func describe(_ value: Any?, _ property: [String: Any]) -> String {
    let type = property["type"] as? String ?? ""
    func one(_ value: Any?) -> String { describe(Self.unwrapped(value), type: type) }
    switch property["collection"] as? String {
    case "dictionary":
      guard let map = value as? any RealmKeyedCollection else { return "no map" }
      let entries = Self.entries(of: map).map { "string \($0.key): \(one($0.value))" }
      return "dictionary [" + entries.sorted().joined(separator: ", ") + "]"
    case let collection?:
      guard let sequence = value as? any Sequence else { return "no collection" }
      let texts = Self.elements(of: sequence).map(one)
      return "list ["
        + (collection == "list" ? texts : texts.sorted()).joined(separator: ", ") + "]"
    case nil: return one(value)
    }
  }

  private func describe(_ value: Any?, type: String) -> String {
    guard let value else { return "null" }
    switch (type, value) {
    case ("mixed", let value as AnyRealmValue): return describe(value)
    case ("int", _): return "int \(Self.integer(value))"
    case ("bool", let value as Bool): return "bool \(value)"
    case ("float", let value as Float): return "float " + Self.hex(value.bitPattern, 8)
    case ("double", let value as Double): return "double " + Self.hex(value.bitPattern, 16)
    case ("string", let value as String):
      return "string " + ExpectedContent.long(Array(value.utf8), value)
    case ("data", let value as Data):
      return "data " + ExpectedContent.long(Array(value), ExpectedContent.hex(Array(value)))
    case ("date", let value as Date): return Self.text(of: value)
    case ("decimal128", let value as Decimal128):
      return "decimal128 " + Self.hex(value.bits.high, 16) + Self.hex(value.bits.low, 16)
    case ("objectId", let value as ObjectId): return "objectId \(value.stringValue)"
    case ("uuid", let value as UUID):
      return "uuid "
        + value.uuidString.lowercased().replacingOccurrences(of: "-", with: "")
    case ("link", let value as ObjectBase):
      let name = value.objectSchema.className
      guard let properties = embedded[name] else { return "link \(name) \(key(of: value))" }
      let parts = properties.map { property -> String in
        let name = property["name"] as? String ?? ""
        return "\(name): \(describe(name, of: value, property))"
      }
      return "{" + parts.joined(separator: ", ") + "}"
    default: return "\(Swift.type(of: value)) where \(type) belongs"
    }
  }

  private func describe(_ value: AnyRealmValue) -> String {
    func one(_ value: Any, _ type: String) -> String { describe(value, type: type) }
    switch value {
    case .none: return "null"
    case .int(let value): return one(value, "int")
    case .bool(let value): return one(value, "bool")
    case .float(let value): return one(value, "float")
    case .double(let value): return one(value, "double")
    case .string(let value): return one(value, "string")
    case .data(let value): return one(value, "data")
    case .date(let value): return one(value, "date")
    case .objectId(let value): return one(value, "objectId")
    case .decimal128(let value): return one(value, "decimal128")
    case .uuid(let value): return one(value, "uuid")
    case .object(let value): return one(value, "link")
    case .list(let list):
      return "list [" + list.map { one($0, "mixed") }.joined(separator: ", ") + "]"
    case .dictionary(let map):
      let entries = map.map { "string \($0.key): \(one($0.value, "mixed"))" }
      return "dictionary [" + entries.sorted().joined(separator: ", ") + "]"
    }
  }

  private func key(of object: ObjectBase) -> Int64 {
    (object as? Imported).flatMap { keys[Identity($0)] } ?? -1
  }

  // MARK: Parts

  private static func text(of date: Date) -> String {
    ModelExpectation.text(ofSeconds: date.timeIntervalSince1970)
  }

  private static func integer(_ value: Any?) -> Int64 {
    (value as? NSNumber)?.int64Value ?? (value as? Int).map { Int64($0) } ?? .min
  }

  private static func unwrapped(_ value: Any?) -> Any? {
    guard let value else { return nil }
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return value }
    return mirror.children.first?.value
  }

  private static func elements<S: Sequence>(of sequence: S) -> [Any?] { sequence.map { $0 } }

  private static func entries<M: RealmKeyedCollection>(of map: M) -> [(key: String, value: Any?)] {
    map.keys.map { ("\($0)", map[$0]) }
  }

  private static func hex(_ number: some FixedWidthInteger, _ count: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: count - digits.count) + digits
  }
}

extension Imported {
  /// All objects of the class.
  class func all(in realm: Realm) -> [Imported] { realm.objects(self).map { $0 } }
}

/// Objects with one value of any type.
private protocol HoldsAny {
  var any: AnyRealmValue { get }
}

extension AnyValues.Holder: HoldsAny {}
extension Links.Person: HoldsAny {}
extension Tombstones.Person: HoldsAny {}
extension Format22.Gathering: HoldsAny {}
