import Foundation

@testable import Cambium

/// Properties of every kind for one type of values.
final class FamilyOf<Value>: Object
where Value: _PersistableInsideOptional & _RealmCollectionValueInsideOptional {
  @Persisted(primaryKey: true) var uid: Int
  @Persisted var one: Value
  @Persisted var maybe: Value?
  @Persisted var list: List<Value>
  @Persisted var maybes: List<Value?>
  @Persisted var set: MutableSet<Value>
  @Persisted var maybeSet: MutableSet<Value?>
  @Persisted var map: Map<String, Value>
  @Persisted var maybeMap: Map<String, Value?>

  override class func _realmObjectName() -> String? { "FamilyOf\(Value.self)" }
}

/// Links of every kind, values of any type, embedded objects, and what links here.
final class FamilyKnot: Object {
  @Persisted(primaryKey: true) var code: String
  @Persisted(indexed: true) var uid: Int
  @Persisted var next: FamilyKnot?
  @Persisted var badge: FamilyBadge?
  @Persisted var knots: List<FamilyKnot>
  @Persisted var badgeSet: MutableSet<FamilyBadge>
  @Persisted var knotMap: Map<String, FamilyKnot?>
  @Persisted var any: AnyRealmValue
  @Persisted var anyList: List<AnyRealmValue>
  @Persisted var anySet: MutableSet<AnyRealmValue>
  @Persisted var anyMap: Map<String, AnyRealmValue>
  @Persisted var part: FamilyPart?
  @Persisted var parts: List<FamilyPart>
  @Persisted var partMap: Map<String, FamilyPart?>
  @Persisted(originProperty: "next") var nextOf: LinkingObjects<FamilyKnot>
  @Persisted(originProperty: "knots") var knotsOf: LinkingObjects<FamilyKnot>
  @Persisted(originProperty: "knotMap") var knotMapOf: LinkingObjects<FamilyKnot>
}

/// An index of each kind.
final class FamilyBadge: Object {
  @Persisted(primaryKey: true) var code: UUID
  @Persisted var uid: Int
  @Persisted(indexed: true) var int: Int
  @Persisted(indexed: true) var small: Int8?
  @Persisted(indexed: true) var bool: Bool?
  @Persisted(indexed: true) var string: String
  @Persisted(indexed: true) var text: String?
  @Persisted(indexed: true) var date: Date?
  @Persisted(indexed: true) var objectId: ObjectId
  @Persisted(indexed: true) var uuid: UUID?
  @Persisted var any: AnyRealmValue
  @Persisted(originProperty: "badge") var badgeOf: LinkingObjects<FamilyKnot>
  @Persisted(originProperty: "badgeSet") var badgeSetOf: LinkingObjects<FamilyKnot>
  @Persisted(originProperty: "badge") var onParts: LinkingObjects<FamilyPart>
}

final class FamilyPart: EmbeddedObject {
  @Persisted var name: String
  @Persisted var weight: Double?
  @Persisted var badge: FamilyBadge?
  @Persisted var any: AnyRealmValue
  @Persisted var numbers: List<Int>
  @Persisted var screw: FamilyScrew?
  @Persisted var screws: List<FamilyScrew>
}

final class FamilyScrew: EmbeddedObject {
  @Persisted var size: Int?
  @Persisted var threads: Map<String, Float>
}

/// Properties whose types are chosen while the test runs.
final class FamilyMix<A, B, C, D, E, F>: Object
where
  A: _Persistable, B: _Persistable, C: _Persistable, D: _Persistable, E: _Persistable,
  F: _Persistable
{
  @Persisted var uid: Int
  @Persisted var a: A
  @Persisted var b: B
  @Persisted var c: C
  @Persisted var d: D
  @Persisted var e: E
  @Persisted var f: F

  override class func _realmObjectName() -> String? { "FamilyMix" }
}

enum Family {
  /// One class of all kinds of properties for each type of values.
  static let ofValues: [Object.Type] = [
    FamilyOf<Int>.self, FamilyOf<Int8>.self, FamilyOf<Int16>.self, FamilyOf<Int32>.self,
    FamilyOf<Int64>.self, FamilyOf<Bool>.self, FamilyOf<Float>.self, FamilyOf<Double>.self,
    FamilyOf<String>.self, FamilyOf<Data>.self, FamilyOf<Date>.self, FamilyOf<ObjectId>.self,
    FamilyOf<UUID>.self, FamilyOf<Decimal128>.self, FamilyOf<SpecColor>.self,
    FamilyOf<SpecLevel>.self,
  ]
  static let linked: [ObjectBase.Type] = [
    FamilyKnot.self, FamilyBadge.self, FamilyPart.self, FamilyScrew.self,
  ]
  /// Twenty classes.
  static let types: [ObjectBase.Type] = ofValues + linked

  /// What properties of a ``FamilyMix`` can be.
  private static var members: [any _Persistable.Type] {
    [
      Int.self, Int8?.self, Bool.self, Bool?.self, Float?.self, Double.self, String.self,
      String?.self,
      Data.self, Date?.self, ObjectId.self, UUID?.self, Decimal128.self, AnyRealmValue.self,
      FamilyKnot?.self, FamilyPart?.self, List<Int16?>.self, List<String>.self,
      List<FamilyBadge>.self, List<FamilyPart>.self, List<AnyRealmValue>.self,
      MutableSet<Date>.self,
      MutableSet<String?>.self, MutableSet<FamilyKnot>.self, Map<String, Double?>.self,
      Map<String, Decimal128>.self, Map<String, FamilyBadge?>.self, Map<String, AnyRealmValue>.self,
      Map<String, FamilyPart?>.self,
    ]
  }

  /// A class of that name whose properties are of random types, others each time.
  static func mix(_ random: inout some RandomNumberGenerator) -> Object.Type {
    func mixed<A, B, C, D, E, F>(
      _ a: A.Type, _ b: B.Type, _ c: C.Type, _ d: D.Type, _ e: E.Type, _ f: F.Type
    ) -> Object.Type
    where
      A: _Persistable, B: _Persistable, C: _Persistable, D: _Persistable, E: _Persistable,
      F: _Persistable
    { FamilyMix<A, B, C, D, E, F>.self }
    let six = (0..<6).map { _ in members[Int.random(in: 0..<members.count, using: &random)] }
    return mixed(six[0], six[1], six[2], six[3], six[4], six[5])
  }
}
