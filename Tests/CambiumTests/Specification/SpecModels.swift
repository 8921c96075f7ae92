import Cambium
import Dispatch
import Foundation
import TestSupport

enum SpecColor: String, PersistableEnum { case red, green, blue }

enum SpecLevel: Int, PersistableEnum {
  case low = 1
  case mid = 5
  case high = 9
}

final class SpecPerson: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var age: Int?
  @Persisted var dogs: List<SpecDog>
  @Persisted var favorite: SpecDog?
  @Persisted var friend: SpecPerson?
  @Persisted var nicknames: List<String>
  @Persisted(originProperty: "friend") var befriendedBy: LinkingObjects<SpecPerson>

  convenience init(_ id: Int, _ name: String, age: Int? = nil) {
    self.init()
    self.id = id
    self.name = name
    self.age = age
  }
}

final class SpecDog: Object {
  @Persisted var name = "Rex"
  @Persisted var age = 0
  @Persisted var weight: Double?
  @Persisted(originProperty: "dogs") var owners: LinkingObjects<SpecPerson>
  @Persisted(originProperty: "favorite") var fans: LinkingObjects<SpecPerson>
}

/// Copies the properties of another class of objects, and has a transient one.
final class SpecPuppy: SpecDogLike {
  @Persisted var tricks = 2
  var notStored = 7
}

/// A property of each kind, without a primary key.
final class SpecValues: Object {
  @Persisted var label = ""
  @Persisted var bool: Bool
  @Persisted var int: Int
  @Persisted var int8: Int8
  @Persisted var int16: Int16
  @Persisted var int32: Int32
  @Persisted var int64: Int64
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var decimal: Decimal128
  @Persisted var string: String
  @Persisted var data: Data
  @Persisted var date: Date
  @Persisted var objectId: ObjectId
  @Persisted var uuid: UUID
  @Persisted var color: SpecColor
  @Persisted var level: SpecLevel
  @Persisted var boolO: Bool?
  @Persisted var intO: Int?
  @Persisted var int8O: Int8?
  @Persisted var floatO: Float?
  @Persisted var doubleO: Double?
  @Persisted var decimalO: Decimal128?
  @Persisted var stringO: String?
  @Persisted var dataO: Data?
  @Persisted var dateO: Date?
  @Persisted var objectIdO: ObjectId?
  @Persisted var uuidO: UUID?
  @Persisted var colorO: SpecColor?
  @Persisted var levelO: SpecLevel?
  @Persisted var ints: List<Int>
  @Persisted var intsO: List<Int?>
  @Persisted var doubles: List<Double>
  @Persisted var strings: List<String>
  @Persisted var bools: List<Bool>
  @Persisted var datas: List<Data>
  @Persisted var dates: List<Date>
  @Persisted var ids: List<ObjectId>
  @Persisted var uuids: List<UUID>
  @Persisted var decimals: List<Decimal128>
  @Persisted var colors: List<SpecColor>
  @Persisted var levelsO: List<SpecLevel?>
  @Persisted var other: SpecValues?
  @Persisted var others: List<SpecValues>

  convenience init(label: String) {
    self.init()
    self.label = label
  }
}

/// Has the property names of ``SpecDog`` and nothing else in common with it.
class SpecDogLike: Object {
  @Persisted var name = "like"
  @Persisted var age = 4
  @Persisted var weight: Double?
}

final class SpecTextKey: Object {
  @Persisted(primaryKey: true) var key: String?
  @Persisted var value = 0
}

final class SpecIdKey: Object {
  @Persisted(primaryKey: true) var key: ObjectId
  @Persisted(indexed: true) var tag: String
}

final class SpecUUIDKey: Object {
  @Persisted(primaryKey: true) var key: UUID
}

final class SpecSmallKey: Object {
  @Persisted(primaryKey: true) var key: Int8?
}

/// Stored under other names.
final class SpecRenamed: Object {
  @Persisted var shown = 1
  override class func propertiesMapping() -> [String: String] { ["shown": "stored_column"] }
  override class func _realmObjectName() -> String? { "SpecStoredName" }
}

/// Everything that the specification's tests store, unless they say otherwise.
let specTypes: [ObjectBase.Type] = [
  SpecPerson.self, SpecDog.self, SpecPuppy.self, SpecValues.self, SpecDogLike.self,
  SpecTextKey.self, SpecIdKey.self, SpecUUIDKey.self, SpecSmallKey.self, SpecRenamed.self,
]

/// A configuration of the test's ``SampledStore`` that no other test shares.
func specConfiguration(_ types: [ObjectBase.Type] = specTypes) -> Realm.Configuration {
  SampledStore.configuration(types)
}

/// A Realm in the test's ``SampledStore`` that no other test shares.
func specRealm(_ types: [ObjectBase.Type] = specTypes) throws -> Realm {
  try Realm(configuration: specConfiguration(types))
}

/// A Realm in a persistent ``SampledStore`` that no other test shares; it lives as long as the folder
/// is kept.
func specFile(_ folder: TemporaryFolder, _ types: [ObjectBase.Type] = specTypes)
  -> Realm.Configuration
{
  SampledStore.forTest(at: folder.path, persistent: true)
    .configuration(folder.file("spec.realm"), types)
}

/// A file of a test's own in a persistent ``SampledStore``.
struct SpecFile: Sendable {
  let folder: TemporaryFolder
  let configuration: Realm.Configuration

  init(_ types: [ObjectBase.Type] = specTypes) throws {
    folder = try TemporaryFolder()
    configuration = specFile(folder, types)
  }

  /// Expects what the object layer keeps twice to agree.
  func expectSound(_ other: Realm.Configuration? = nil) throws {
    try SampledStore.forTest(at: folder.path, persistent: true)
      .expectSound(other ?? configuration)
  }
}

extension Realm {
  /// Adds one dog per name.
  @discardableResult func addDogs(_ names: String...) throws -> [SpecDog] {
    try write { names.map { create(SpecDog.self, value: ["name": $0]) } }
  }
}

/// Runs `body` on a new thread and waits for it.
func onAnotherThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws
  -> Value
{
  let outcome = Outcome<Value>()
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    outcome.result = Result { try body() }
    done.signal()
  }
  thread.stackSize = 8 << 20
  thread.start()
  done.wait()
  guard let result = outcome.result else { fatalError("The thread left no result.") }
  return try result.get()
}

/// What a thread leaves behind.
private final class Outcome<Value>: @unchecked Sendable {
  // Written before a semaphore is signalled, read after it.
  var result: Result<Value, any Swift.Error>?
}

/// Lets a test pass a confined value where the specification says that it is refused or harmless.
struct Smuggled<Value>: @unchecked Sendable {
  // Unchecked: that is what the tests are about.
  let value: Value
}
