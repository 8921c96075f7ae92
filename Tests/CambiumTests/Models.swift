import Cambium
import Foundation

final class Person: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var age: Int?
  @Persisted var dogs: List<Dog>
  @Persisted var best: Dog?
  @Persisted var nicknames: List<String>
  @Persisted var scores: List<Int?>
}

final class Dog: Object {
  @Persisted(indexed: true) var name = "Rex"
  @Persisted var weight = 1.5
  @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
  @Persisted(originProperty: "best") var admirers: LinkingObjects<Person>
}

enum Color: String, PersistableEnum {
  case red, green, blue
}

/// One property of every kind that fills a cell.
final class Everything: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted var bool = true
  @Persisted var int = -1
  @Persisted var int8: Int8 = 8
  @Persisted var int16: Int16 = 16
  @Persisted var int32: Int32 = 32
  @Persisted var int64: Int64 = 64
  @Persisted var float: Float = 1.5
  @Persisted var double = 2.5
  @Persisted var string = "text"
  @Persisted var data = Data([1, 2, 3])
  @Persisted var date = Date(timeIntervalSince1970: 1_000_000.25)
  @Persisted var objectId: ObjectId
  @Persisted var uuid: UUID
  @Persisted var decimal: Decimal128
  @Persisted var color = Color.green
  @Persisted var link: Everything?
  @Persisted var optionalBool: Bool?
  @Persisted var optionalInt: Int?
  @Persisted var optionalFloat: Float?
  @Persisted var optionalDouble: Double?
  @Persisted var optionalString: String?
  @Persisted var optionalData: Data?
  @Persisted var optionalDate: Date?
  @Persisted var optionalObjectId: ObjectId?
  @Persisted var optionalUUID: UUID?
  @Persisted var optionalDecimal: Decimal128?
  @Persisted var optionalColor: Color?
  @Persisted var bools: List<Bool>
  @Persisted var doubles: List<Double>
  @Persisted var dates: List<Date?>
  @Persisted var datas: List<Data>
  @Persisted var colors: List<Color>
  @Persisted var ids: List<ObjectId>
  @Persisted var decimals: List<Decimal128?>
  @Persisted var links: List<Everything>
}

/// Opens a Realm in the test's ``SampledStore``, one that no other test shares.
func testRealm(_ types: [ObjectBase.Type]? = nil, _ name: String = UUID().uuidString) throws
  -> Realm
{
  try Realm(configuration: testConfiguration(types, name))
}

/// How ``testRealm(_:_:)`` opens the Realm of that name.
func testConfiguration(_ types: [ObjectBase.Type]? = nil, _ name: String) -> Realm.Configuration {
  SampledStore.configuration(
    named: name, types ?? [Person.self, Dog.self, Everything.self])
}

final class Paint: Object {
  @Persisted var color = ""
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class Faded: Object {
  @Persisted var color: Color
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  override class func _realmObjectName() -> String? { "Paint" }
}
