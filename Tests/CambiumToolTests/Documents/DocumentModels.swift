import Cambium
import Foundation
import TestSupport

/// A class with every type of property.
class DocEverything: Object {
  @Persisted(primaryKey: true) var id: String
  @Persisted(indexed: true) var int: Int
  @Persisted var optionalInt: Int?
  @Persisted var bool: Bool
  @Persisted var float: Float
  @Persisted var double: Double?
  @Persisted var string: String?
  @Persisted var data: Data
  @Persisted var date: Date?
  @Persisted var objectId: ObjectId
  @Persisted var decimal: Decimal128
  @Persisted var uuid: UUID?
  @Persisted var same: DocEverything?
  @Persisted var plain: DocPlain?
  @Persisted var place: DocPlace?
  @Persisted var places: List<DocPlace>
  @Persisted var ints: List<Int?>
  @Persisted var texts: MutableSet<String>
  @Persisted var prices: Map<String, Double>
  @Persisted var plains: List<DocPlain>
  @Persisted var friends: Map<String, DocEverything?>
  @Persisted var homes: Map<String, DocPlace?>
  @Persisted var any: AnyRealmValue
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var anyMap: Map<String, AnyRealmValue>
}

/// A class without a primary key.
class DocPlain: Object {
  @Persisted var number: Int
  @Persisted var next: DocPlain?
}

/// What lives inside of others.
class DocPlace: EmbeddedObject {
  @Persisted var name: String
  @Persisted var owner: DocPlain?
}

/// Realms with random objects of these classes.
enum DocumentModels {
  static let types: [ObjectBase.Type] = [DocEverything.self, DocPlain.self, DocPlace.self]

  static func emptyRealm() throws -> Realm {
    try Realm(configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: types))
  }

  /// A Realm with so many objects of each class, any of whose properties may be anything.
  static func realm(_ random: inout SeededGenerator, count: Int) throws -> Realm {
    let realm = try emptyRealm()
    let texts = ["", "a", "ä\"\\\n", "a,b", "$key", "1.5", "true", "2024-01-01"]
    func text() -> String { texts.randomElement(using: &random) ?? "" }
    func chance() -> Bool { .random(using: &random) }
    func doubles() -> Double {
      [0, -1.5, 1e300, .nan, .infinity, -.infinity, 3].randomElement(using: &random) ?? 0
    }
    try realm.write {
      let plains = (0..<count).map { DocPlain(value: ["number": $0]) }
      // Some rows are gone, so that the others have other numbers elsewhere.
      realm.add(plains)
      for plain in plains where chance() { plain.next = plains.randomElement(using: &random) }
      let all = (0..<count).map { DocEverything(value: ["id": "\($0)\(text())"]) }
      realm.add(all)
      func place() -> DocPlace {
        DocPlace(value: ["name": text(), "owner": (plains.randomElement(using: &random) as Any)])
      }
      func any(_ depth: Int) -> AnyRealmValue {
        let values: [AnyRealmValue] = [
          .none, .int(.min), .int(7), .bool(true), .float(1.1), .float(.nan), .double(doubles()),
          .double(2),
          .string(text()), .data(Data([0, 255])), .date(Date(timeIntervalSince1970: 12.5)),
          .objectId(ObjectId.generate()), .decimal128("1E+30"), .uuid(UUID()),
        ]
        switch Int.random(in: 0..<(depth < 3 ? 20 : 15), using: &random) {
        case 14: return all.randomElement(using: &random).map { .object($0) } ?? .none
        case 15: return plains.randomElement(using: &random).map { .object($0) } ?? .none
        case 16, 17: return .fromArray((0..<3).map { _ in any(depth + 1) })
        case 18:
          return .fromDictionary(["a": any(depth + 1), "b": any(depth + 1)])
        case 19: return .fromDictionary(["key": .int(1), "class": any(depth + 1)])
        default: return values.randomElement(using: &random) ?? .none
        }
      }
      for object in all {
        object.int = .random(in: .min ... .max, using: &random)
        object.optionalInt = chance() ? nil : 3
        object.bool = chance()
        object.float = Float(doubles()) * 1.1
        object.double = chance() ? nil : doubles()
        object.string = chance() ? nil : text()
        object.data = Data((0..<Int.random(in: 0..<9, using: &random)).map { UInt8($0 * 30) })
        object.date =
          chance()
          ? nil : Date(timeIntervalSince1970: Double.random(in: -1e10...1e10, using: &random))
        object.decimal =
          ["0", "-12.50", "1E-6000", "NaN", "Infinity"].randomElement(using: &random) ?? "1"
        object.uuid = chance() ? nil : UUID()
        object.same = chance() ? nil : all.randomElement(using: &random)
        object.plain = chance() ? nil : plains.randomElement(using: &random)
        object.place = chance() ? nil : place()
        object.places.append(
          objectsIn: (0..<Int.random(in: 0..<3, using: &random)).map { _ in place() })
        object.ints.append(objectsIn: [1, nil, 3].prefix(Int.random(in: 0..<4, using: &random)))
        object.texts.insert(objectsIn: (0..<3).map { _ in text() })
        object.prices["EUR"] = doubles()
        object.plains.append(objectsIn: plains.shuffled(using: &random).prefix(3))
        if chance() { object.friends["best"] = .some(all.randomElement(using: &random)) }
        if chance() { object.friends["none"] = .some(nil) }
        if chance() { object.homes["here"] = place() }
        object.any = any(0)
        object.anys.append(objectsIn: (0..<3).map { _ in any(0) })
        object.anyMap["x"] = any(0)
      }
      for plain in plains where Int.random(in: 0..<4, using: &random) == 0 { realm.delete(plain) }
    }
    return realm
  }
}
