import Cambium
import Foundation

/// The classes of `format-11`.
enum Format11 {
  static let types: [ObjectBase.Type] = [
    Enumerated.self, PkInt.self, PkString.self, Scalars.self, Target.self,
  ]

  final class Enumerated: Imported {
    @Persisted var e: String
    @Persisted var eOpt: String?
  }

  final class PkInt: Imported {
    @Persisted(primaryKey: true) var id: Int
  }

  final class PkString: Imported {
    @Persisted(primaryKey: true) var id: String?
    @Persisted var v: Int
  }

  final class Scalars: Imported {
    @Persisted var int: Int
    @Persisted var bool: Bool
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var date: Date
    @Persisted var intOpt: Int?
    @Persisted var boolOpt: Bool?
    @Persisted var floatOpt: Float?
    @Persisted var doubleOpt: Double?
    @Persisted var stringOpt: String?
    @Persisted var dataOpt: Data?
    @Persisted var dateOpt: Date?
    @Persisted var intList: List<Int>
    @Persisted var boolList: List<Bool>
    @Persisted var floatList: List<Float>
    @Persisted var doubleList: List<Double>
    @Persisted var stringList: List<String>
    @Persisted var dataList: List<Data>
    @Persisted var dateList: List<Date>
    @Persisted var intOptList: List<Int?>
    @Persisted var boolOptList: List<Bool?>
    @Persisted var floatOptList: List<Float?>
    @Persisted var doubleOptList: List<Double?>
    @Persisted var stringOptList: List<String?>
    @Persisted var dataOptList: List<Data?>
    @Persisted var dateOptList: List<Date?>
    @Persisted var link: Target?
    @Persisted var links: List<Target>
  }

  final class Target: Imported {
    @Persisted var name: String
  }
}

/// The classes of `format-20`.
enum Format20 {
  static let types: [ObjectBase.Type] = [
    Embedded.self, Enumerated.self, Parent.self, PkInt.self, PkString.self, Scalars.self,
    Target.self,
  ]

  final class Embedded: ImportedEmbedded {
    @Persisted var s: String
  }

  final class Enumerated: Imported {
    @Persisted var e: String
    @Persisted var eOpt: String?
  }

  final class Parent: Imported {
    @Persisted var one: Embedded?
    @Persisted var many: List<Embedded>
  }

  final class PkInt: Imported {
    @Persisted(primaryKey: true) var id: Int
  }

  final class PkString: Imported {
    @Persisted(primaryKey: true) var id: String?
    @Persisted var v: Int
  }

  final class Scalars: Imported {
    @Persisted var int: Int
    @Persisted var bool: Bool
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var date: Date
    @Persisted var decimal: Decimal128
    @Persisted var objectId: ObjectId
    @Persisted var intOpt: Int?
    @Persisted var boolOpt: Bool?
    @Persisted var floatOpt: Float?
    @Persisted var doubleOpt: Double?
    @Persisted var stringOpt: String?
    @Persisted var dataOpt: Data?
    @Persisted var dateOpt: Date?
    @Persisted var decimalOpt: Decimal128?
    @Persisted var objectIdOpt: ObjectId?
    @Persisted var intList: List<Int>
    @Persisted var boolList: List<Bool>
    @Persisted var floatList: List<Float>
    @Persisted var doubleList: List<Double>
    @Persisted var stringList: List<String>
    @Persisted var dataList: List<Data>
    @Persisted var dateList: List<Date>
    @Persisted var decimalList: List<Decimal128>
    @Persisted var objectIdList: List<ObjectId>
    @Persisted var intOptList: List<Int?>
    @Persisted var boolOptList: List<Bool?>
    @Persisted var floatOptList: List<Float?>
    @Persisted var doubleOptList: List<Double?>
    @Persisted var stringOptList: List<String?>
    @Persisted var dataOptList: List<Data?>
    @Persisted var dateOptList: List<Date?>
    @Persisted var decimalOptList: List<Decimal128?>
    @Persisted var objectIdOptList: List<ObjectId?>
    @Persisted var link: Target?
    @Persisted var links: List<Target>
  }

  final class Target: Imported {
    @Persisted var name: String
  }
}

/// The classes of `format-22`, `format-23`, `upgraded`.
enum Format22 {
  static let types: [ObjectBase.Type] = [
    Gathering.self, Embedded.self, Enumerated.self, Parent.self, PkInt.self, PkString.self,
    Scalars.self, Target.self,
  ]

  final class Gathering: Imported {
    override static func _realmObjectName() -> String? { "Collections" }

    @Persisted var intSet: MutableSet<Int?>
    @Persisted var boolSet: MutableSet<Bool?>
    @Persisted var floatSet: MutableSet<Float?>
    @Persisted var doubleSet: MutableSet<Double?>
    @Persisted var stringSet: MutableSet<String?>
    @Persisted var dataSet: MutableSet<Data?>
    @Persisted var dateSet: MutableSet<Date?>
    @Persisted var decimalSet: MutableSet<Decimal128?>
    @Persisted var objectIdSet: MutableSet<ObjectId?>
    @Persisted var uuidSet: MutableSet<UUID?>
    @Persisted var intMap: Map<String, Int?>
    @Persisted var boolMap: Map<String, Bool?>
    @Persisted var floatMap: Map<String, Float?>
    @Persisted var doubleMap: Map<String, Double?>
    @Persisted var stringMap: Map<String, String?>
    @Persisted var dataMap: Map<String, Data?>
    @Persisted var dateMap: Map<String, Date?>
    @Persisted var decimalMap: Map<String, Decimal128?>
    @Persisted var objectIdMap: Map<String, ObjectId?>
    @Persisted var uuidMap: Map<String, UUID?>
    @Persisted var any: AnyRealmValue
    @Persisted var anyList: List<AnyRealmValue>
    @Persisted var anySet: MutableSet<AnyRealmValue>
    @Persisted var anyMap: Map<String, AnyRealmValue>
    @Persisted var linkSet: MutableSet<Target>
    @Persisted var linkMap: Map<String, Target?>
  }

  final class Embedded: ImportedEmbedded {
    @Persisted var s: String
  }

  final class Enumerated: Imported {
    @Persisted var e: String
    @Persisted var eOpt: String?
  }

  final class Parent: Imported {
    @Persisted var one: Embedded?
    @Persisted var many: List<Embedded>
  }

  final class PkInt: Imported {
    @Persisted(primaryKey: true) var id: Int
  }

  final class PkString: Imported {
    @Persisted(primaryKey: true) var id: String?
    @Persisted var v: Int
  }

  final class Scalars: Imported {
    @Persisted var int: Int
    @Persisted var bool: Bool
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var date: Date
    @Persisted var decimal: Decimal128
    @Persisted var objectId: ObjectId
    @Persisted var uuid: UUID
    @Persisted var intOpt: Int?
    @Persisted var boolOpt: Bool?
    @Persisted var floatOpt: Float?
    @Persisted var doubleOpt: Double?
    @Persisted var stringOpt: String?
    @Persisted var dataOpt: Data?
    @Persisted var dateOpt: Date?
    @Persisted var decimalOpt: Decimal128?
    @Persisted var objectIdOpt: ObjectId?
    @Persisted var uuidOpt: UUID?
    @Persisted var intList: List<Int>
    @Persisted var boolList: List<Bool>
    @Persisted var floatList: List<Float>
    @Persisted var doubleList: List<Double>
    @Persisted var stringList: List<String>
    @Persisted var dataList: List<Data>
    @Persisted var dateList: List<Date>
    @Persisted var decimalList: List<Decimal128>
    @Persisted var objectIdList: List<ObjectId>
    @Persisted var uuidList: List<UUID>
    @Persisted var intOptList: List<Int?>
    @Persisted var boolOptList: List<Bool?>
    @Persisted var floatOptList: List<Float?>
    @Persisted var doubleOptList: List<Double?>
    @Persisted var stringOptList: List<String?>
    @Persisted var dataOptList: List<Data?>
    @Persisted var dateOptList: List<Date?>
    @Persisted var decimalOptList: List<Decimal128?>
    @Persisted var objectIdOptList: List<ObjectId?>
    @Persisted var uuidOptList: List<UUID?>
    @Persisted var link: Target?
    @Persisted var links: List<Target>
  }

  final class Target: Imported {
    @Persisted var name: String
  }
}
