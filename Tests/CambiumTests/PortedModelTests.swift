import Cambium
import Foundation
import Synchronization
import TestSupport
import Testing

final class PortedDog: Object {
  @Persisted var name = "Rex"
  @Persisted var age: Int?
  @Persisted(originProperty: "dogs") var owners: LinkingObjects<PortedOwner>
}

final class PortedOwner: Object {
  @Persisted var name = "Ann"
  @Persisted var dogs: List<PortedDog>
  @Persisted var byName: Map<String, PortedDog?>
  @Persisted var homes: Map<String, PortedHome?>
  @Persisted var weights: List<Double>
}

final class PortedHome: EmbeddedObject {
  @Persisted var street = ""
}

/// Equal to all of the same code, as a program has it that overrides what `NSObject` has.
final class PortedCode: Object {
  @Persisted var code = 0
  @Persisted var note = ""

  override func isEqual(_ object: Any?) -> Bool { (object as? PortedCode)?.code == code }
  override var hash: Int { code }
}

/// A class that names its columns in the old way.
final class PortedColumns: Object {
  @Persisted var value = 0

  override class func _realmColumnNames() -> [String: String] { ["value": "the_value"] }
}

final class PortedNumbers: Object {
  @Persisted var double = 0.0
  @Persisted var float: Float = 0
  @Persisted var optional: Double?
  @Persisted var decimal = Decimal128(0)
  @Persisted var small: Int8 = 0
  @Persisted var any: AnyRealmValue
  @Persisted var list: List<Double>
}

extension Object {
  /// A copy without a Realm, as many programs make one.
  fileprivate func detached() -> Self {
    let copy = type(of: self).init()
    for property in objectSchema.properties {
      copy.setValue(value(forKey: property.name), forKey: property.name)
    }
    return copy
  }
}

/// What programs do with their models that were written for other systems.
@Suite struct PortedModelTests {
  private var types: [ObjectBase.Type] {
    [
      PortedDog.self, PortedOwner.self, PortedHome.self, PortedCode.self, PortedColumns.self,
      PortedNumbers.self,
    ]
  }

  private func realm() throws -> Realm { try testRealm(types) }

  private func output(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  // MARK: Properties by name

  @Test func `properties by name are those that are kept, so that a copy can be given all`() throws
  {
    let realm = try realm()
    let dog = PortedDog(value: ["name": "Fay", "age": 3])
    try realm.write { realm.add(PortedOwner(value: ["dogs": [dog]])) }
    #expect(dog.objectSchema.properties.map(\.name) == ["name", "age"])
    #expect(dog.objectSchema["owners"]?.type == .linkingObjects)
    let copy = dog.detached()
    #expect(copy.realm == nil && copy.name == "Fay" && copy.age == 3)
    try realm.write { dog.age = nil }
    let values = dog.dictionaryWithValues(forKeys: dog.objectSchema.properties.map(\.name))
    #expect(values["name"] as? String == "Fay" && values["age"] is NSNull && values.count == 2)
    copy.setValuesForKeys(["name": "Joe", "age": NSNull()])
    #expect(copy.name == "Joe" && copy.age == nil)
  }

  @Test func `a model says itself what equals it`() throws {
    let realm = try realm()
    let (one, same, other) = (
      PortedCode(value: [7, "a"]), PortedCode(value: [7, "b"]), PortedCode(value: [8, "a"])
    )
    #expect(one == same && one != other && one.isEqual(same) && !one.isEqual("7"))
    #expect(Set([one, same, other]).count == 2)
    #expect([other, same].firstIndex(of: one) == 1)
    try realm.write { realm.add([one, same, other]) }
    #expect(one == same && one != other)
  }

  @Test func `the old name of what names columns is asked`() throws {
    #expect(PortedColumns.sharedSchema()?["value"]?.columnName == "the_value")
  }

  @Test func `deleting a map deletes its objects and empties it`() throws {
    let realm = try realm()
    let owner = PortedOwner()
    try realm.write {
      realm.add(owner)
      owner.byName["a"] = PortedDog()
      owner.byName["b"] = nil
      owner.homes["x"] = PortedHome()
    }
    try realm.write {
      realm.delete(owner.byName)
      realm.delete(owner.homes)
    }
    #expect(
      owner.byName.count == 0 && owner.homes.count == 0 && realm.objects(PortedDog.self).isEmpty)
  }

  // MARK: Numbers

  @Test func `numbers of other types are taken where they fit`() throws {
    let realm = try realm()
    let numbers = PortedNumbers(value: [
      "double": CGFloat(1.5), "float": NSDecimalNumber(string: "2.5"),
      "optional": Decimal(string: "0.25") as Any, "list": [CGFloat(1), CGFloat(2)],
      "any": CGFloat(4),
    ])
    #expect(numbers.double == 1.5 && numbers.float == 2.5 && numbers.optional == 0.25)
    #expect(Array(numbers.list) == [1, 2] && numbers.any == .double(4))
    numbers["double"] = CGFloat(3)
    try realm.write { realm.add(numbers) }
    #expect(realm.objects(PortedNumbers.self).filter("double == %@", CGFloat(3)).count == 1)
  }

  @Test func `what is no number counts for no sum and no mean`() throws {
    let realm = try realm()
    let notANumber = try Decimal128(string: "NaN")
    let unmanaged = PortedNumbers(value: ["list": [1, Double.nan, 2]])
    #expect(unmanaged.list.sum() == 3 && unmanaged.list.average() == 1.5)
    try realm.write {
      for number in 0..<3_000 {
        realm.create(
          PortedNumbers.self,
          value: [
            "double": number == 2_000 ? Double.nan : 1, "float": number == 9 ? Float.nan : 2,
            "optional": number == 5 ? Double.nan : (number % 2 == 0 ? 4 : nil as Double?) as Any,
            "decimal": number == 7 ? notANumber : Decimal128(3),
            "any": number == 8 ? AnyRealmValue.decimal128(notANumber) : .int(2),
          ])
      }
      realm.add(unmanaged)
      unmanaged.decimal = notANumber
      unmanaged.float = .nan
    }
    let all = realm.objects(PortedNumbers.self)
    #expect(all.sum(of: \.double) == 2_999 && all.average(of: \.float) == 2.0)
    #expect(all.sum(of: \.optional) == 6_000 && all.average(of: \.optional) == 4.0)
    #expect(all.where { $0.double == 1 }.sum(of: \.float) == 2 * 2_998)
    #expect(all.average(of: \.decimal) == Decimal128(3) && all.average(of: \.any) == Decimal128(2))
    #expect(all.filter("list.@sum == 3").count == 1)
    try realm.write { all.first?.double = .infinity }
    #expect(all.sum(of: \.double) == .infinity)
    try realm.write { all[1].double = -.infinity }
    #expect(all.sum(of: \.double).isNaN)
  }

  @Test func `an aggregate that is no value of the type that was asked for says so`() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try testRealm([PortedNumbers.self])
      try realm.write { for _ in 0..<2 { realm.add(PortedNumbers(value: ["small": 100])) } }
      _ = realm.objects(PortedNumbers.self).sum(of: \.small)
    }
    #expect(output(result).contains("Could not convert value '200' to type 'Int8'"))
  }
}
