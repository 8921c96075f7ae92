import Cambium
import Foundation

/// The classes of the golden files; never changed, because old files hold them.
class GoldenOwner: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var name: String
  @Persisted var everything: List<GoldenEverything>
  @Persisted var numbers: List<Int>
  @Persisted var texts: List<String?>
}

/// Every type of property.
class GoldenEverything: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted var bool: Bool
  @Persisted var int: Int
  @Persisted var int8: Int8
  @Persisted var int16: Int16?
  @Persisted var int32: Int32
  @Persisted var int64: Int64?
  @Persisted var float: Float
  @Persisted var double: Double?
  @Persisted var string: String?
  @Persisted var data: Data
  @Persisted(indexed: true) var date: Date
  @Persisted var objectId: ObjectId
  @Persisted var uuid: UUID?
  @Persisted var decimal: Decimal128
  @Persisted var owner: GoldenOwner?
  @Persisted(originProperty: "everything") var holders: LinkingObjects<GoldenOwner>
}

/// What a golden file holds, made of numbers alone.
struct GoldenContent {
  static let classes: [ObjectBase.Type] = [GoldenOwner.self, GoldenEverything.self]
  static let everythingCount = 300
  static let longListCount = 2_000

  static func everything(_ index: Int) -> [String: Any] {
    let isOdd = index % 2 == 1
    return [
      "key": "key \(index * 37 % 401)", "bool": isOdd, "int": index * index * 1_000_003 - 500,
      "int8": Int8(truncatingIfNeeded: index), "int16": isOdd ? Int16(index) : NSNull(),
      "int32": Int32(-index), "int64": isOdd ? Int64.max - Int64(index) : NSNull(),
      "float": Float(index) / 8, "double": isOdd ? Double(index) / 16 : NSNull(),
      "string": index % 5 == 0 ? NSNull() : "größer \(index % 11)",
      "data": Data(
        repeating: UInt8(truncatingIfNeeded: index), count: index == 7 ? 5_000 : index % 9),
      "date": Date(timeIntervalSince1970: Double(index) * 1_000.5 - 20_000),
      "objectId": objectId(index), "uuid": isOdd ? uuid(index) : NSNull(),
      "decimal": Decimal128(value: "\(index).\(index % 10)5"),
    ]
  }

  static func objectId(_ index: Int) -> ObjectId {
    let digits = String(index, radix: 16)
    let text = String(repeating: "0", count: 24 - digits.count) + digits
    guard let id = try? ObjectId(string: text) else { preconditionFailure("\(text) is an id.") }
    return id
  }

  static func uuid(_ index: Int) -> UUID {
    let byte = UInt8(truncatingIfNeeded: index)
    return UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, byte))
  }

  /// Fills an empty Realm: three transactions, some rows deleted again.
  static func write(to realm: Realm) throws {
    try realm.write {
      for index in 0..<everythingCount + 20 {
        realm.create(GoldenEverything.self, value: everything(index))
      }
    }
    try realm.write {
      let short = realm.create(GoldenOwner.self, value: ["id": 1, "name": "short"])
      let long = realm.create(GoldenOwner.self, value: ["id": -2, "name": "long"])
      short.numbers.append(objectsIn: [3, 1, 2])
      short.texts.append(objectsIn: ["a", nil, ""])
      long.numbers.append(objectsIn: (0..<longListCount).map { $0 * 7 })
      for index in 0..<everythingCount {
        guard let object = object(index, in: realm) else { continue }
        long.everything.append(object)
        if index < 4 { short.everything.append(object) }
        if index % 3 == 0 { object.owner = short }
      }
    }
    try realm.write {
      for index in everythingCount..<everythingCount + 20 {
        if let object = object(index, in: realm) { realm.delete(object) }
      }
    }
  }

  static func object(_ index: Int, in realm: Realm) -> GoldenEverything? {
    realm.object(ofType: GoldenEverything.self, forPrimaryKey: "key \(index * 37 % 401)")
  }
}
