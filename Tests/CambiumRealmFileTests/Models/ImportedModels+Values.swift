import Cambium
import Foundation

/// The classes of `scalars`.
enum Scalars {
  static let types: [ObjectBase.Type] = [
    NoObjects.self, OneObject.self, OptionalScalars.self, Required.self,
  ]

  final class NoObjects: Imported {
    @Persisted var int: Int?
    @Persisted var bool: Bool?
    @Persisted var float: Float?
    @Persisted var double: Double?
    @Persisted var string: String?
    @Persisted var data: Data?
    @Persisted var date: Date?
    @Persisted var decimal: Decimal128?
    @Persisted var objectId: ObjectId?
    @Persisted var uuid: UUID?
  }

  final class OneObject: Imported {
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
  }

  final class OptionalScalars: Imported {
    override static func _realmObjectName() -> String? { "Optional" }

    @Persisted var int: Int?
    @Persisted var bool: Bool?
    @Persisted var float: Float?
    @Persisted var double: Double?
    @Persisted var string: String?
    @Persisted var data: Data?
    @Persisted var date: Date?
    @Persisted var decimal: Decimal128?
    @Persisted var objectId: ObjectId?
    @Persisted var uuid: UUID?
  }

  final class Required: Imported {
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
  }
}

/// The classes of `int-widths`.
enum IntWidths {
  static let types: [ObjectBase.Type] = [Widths.self]

  final class Widths: Imported {
    @Persisted var w0: Int
    @Persisted var w0Opt: Int?
    @Persisted var w1: Int
    @Persisted var w1Opt: Int?
    @Persisted var w2: Int
    @Persisted var w2Opt: Int?
    @Persisted var w4: Int
    @Persisted var w4Opt: Int?
    @Persisted var w8: Int
    @Persisted var w8Opt: Int?
    @Persisted var w16: Int
    @Persisted var w16Opt: Int?
    @Persisted var w32: Int
    @Persisted var w32Opt: Int?
    @Persisted var w64: Int
    @Persisted var w64Opt: Int?
    @Persisted var marker1: Int
    @Persisted var marker1Opt: Int?
    @Persisted var marker2: Int
    @Persisted var marker2Opt: Int?
    @Persisted var marker4: Int
    @Persisted var marker4Opt: Int?
    @Persisted var marker8: Int
    @Persisted var marker8Opt: Int?
    @Persisted var marker16: Int
    @Persisted var marker16Opt: Int?
    @Persisted var marker32: Int
    @Persisted var marker32Opt: Int?
    @Persisted var marker64: Int
    @Persisted var marker64Opt: Int?
    @Persisted var allNull: Int?
    @Persisted var boolFalse: Bool
    @Persisted var boolOptNull: Bool?
    @Persisted var boolOptFalse: Bool?
    @Persisted var boolOptTrue: Bool?
  }
}

/// The classes of `strings`.
enum Strings {
  static let types: [ObjectBase.Type] = [Strings.self]

  final class Strings: Imported {
    @Persisted var empty: String
    @Persisted var emptyOpt: String?
    @Persisted var len1: String
    @Persisted var len1Opt: String?
    @Persisted var len3: String
    @Persisted var len3Opt: String?
    @Persisted var len7: String
    @Persisted var len7Opt: String?
    @Persisted var len15: String
    @Persisted var len15Opt: String?
    @Persisted var len16: String
    @Persisted var len16Opt: String?
    @Persisted var len63: String
    @Persisted var len63Opt: String?
    @Persisted var len64: String
    @Persisted var len64Opt: String?
    @Persisted var mixed: String
    @Persisted var mixedOpt: String?
    @Persisted var grow: String
    @Persisted var growOpt: String?
    @Persisted var long: String
    @Persisted var longOpt: String?
    @Persisted var enumShort: String
    @Persisted var enumShortOpt: String?
    @Persisted var enumMedium: String
    @Persisted var enumMediumOpt: String?
    @Persisted var enumBig: String
    @Persisted var enumBigOpt: String?
    @Persisted var dEmpty: Data
    @Persisted var dEmptyOpt: Data?
    @Persisted var d1: Data
    @Persisted var d1Opt: Data?
    @Persisted var d64: Data
    @Persisted var d64Opt: Data?
    @Persisted var d65: Data
    @Persisted var d65Opt: Data?
    @Persisted var dLong: Data
    @Persisted var dLongOpt: Data?
    @Persisted var allNull: String?
    @Persisted var dAllNull: Data?
  }
}

/// The classes of `max-size`.
enum MaxSize {
  static let types: [ObjectBase.Type] = [Max.self]

  final class Max: Imported {
    @Persisted var text: String
    @Persisted var bytes: Data
  }
}

/// The classes of `collections`.
enum Collections {
  static let types: [ObjectBase.Type] = [
    Dictionaries.self, DictionariesOpt.self, Lists.self, ListsOpt.self, Sets.self, SetsOpt.self,
    Tree.self,
  ]

  final class Dictionaries: Imported {
    @Persisted var int: Map<String, Int>
    @Persisted var bool: Map<String, Bool>
    @Persisted var float: Map<String, Float>
    @Persisted var double: Map<String, Double>
    @Persisted var string: Map<String, String>
    @Persisted var data: Map<String, Data>
    @Persisted var date: Map<String, Date>
    @Persisted var decimal: Map<String, Decimal128>
    @Persisted var objectId: Map<String, ObjectId>
    @Persisted var uuid: Map<String, UUID>
  }

  final class DictionariesOpt: Imported {
    @Persisted var int: Map<String, Int?>
    @Persisted var bool: Map<String, Bool?>
    @Persisted var float: Map<String, Float?>
    @Persisted var double: Map<String, Double?>
    @Persisted var string: Map<String, String?>
    @Persisted var data: Map<String, Data?>
    @Persisted var date: Map<String, Date?>
    @Persisted var decimal: Map<String, Decimal128?>
    @Persisted var objectId: Map<String, ObjectId?>
    @Persisted var uuid: Map<String, UUID?>
  }

  final class Lists: Imported {
    @Persisted var int: List<Int>
    @Persisted var bool: List<Bool>
    @Persisted var float: List<Float>
    @Persisted var double: List<Double>
    @Persisted var string: List<String>
    @Persisted var data: List<Data>
    @Persisted var date: List<Date>
    @Persisted var decimal: List<Decimal128>
    @Persisted var objectId: List<ObjectId>
    @Persisted var uuid: List<UUID>
  }

  final class ListsOpt: Imported {
    @Persisted var int: List<Int?>
    @Persisted var bool: List<Bool?>
    @Persisted var float: List<Float?>
    @Persisted var double: List<Double?>
    @Persisted var string: List<String?>
    @Persisted var data: List<Data?>
    @Persisted var date: List<Date?>
    @Persisted var decimal: List<Decimal128?>
    @Persisted var objectId: List<ObjectId?>
    @Persisted var uuid: List<UUID?>
  }

  final class Sets: Imported {
    @Persisted var int: MutableSet<Int>
    @Persisted var bool: MutableSet<Bool>
    @Persisted var float: MutableSet<Float>
    @Persisted var double: MutableSet<Double>
    @Persisted var string: MutableSet<String>
    @Persisted var data: MutableSet<Data>
    @Persisted var date: MutableSet<Date>
    @Persisted var decimal: MutableSet<Decimal128>
    @Persisted var objectId: MutableSet<ObjectId>
    @Persisted var uuid: MutableSet<UUID>
  }

  final class SetsOpt: Imported {
    @Persisted var int: MutableSet<Int?>
    @Persisted var bool: MutableSet<Bool?>
    @Persisted var float: MutableSet<Float?>
    @Persisted var double: MutableSet<Double?>
    @Persisted var string: MutableSet<String?>
    @Persisted var data: MutableSet<Data?>
    @Persisted var date: MutableSet<Date?>
    @Persisted var decimal: MutableSet<Decimal128?>
    @Persisted var objectId: MutableSet<ObjectId?>
    @Persisted var uuid: MutableSet<UUID?>
  }

  final class Tree: Imported {
    @Persisted var depth2: List<Int>
    @Persisted var shuffled: List<String>
    @Persisted var shrunk: List<Int>
    @Persisted var map: Map<String, Int>
  }
}

/// The classes of `list-depth3`.
enum LongLists {
  static let types: [ObjectBase.Type] = [Long.self]

  final class Long: Imported {
    @Persisted var bits: List<Bool>
    @Persisted var numbers: List<Int>
  }
}

/// The classes of `mixed`.
enum AnyValues {
  static let types: [ObjectBase.Type] = [Holder.self, PkTarget.self, Target.self]

  final class Holder: Imported {
    override static func _realmObjectName() -> String? { "Any" }

    @Persisted var any: AnyRealmValue
    @Persisted var list: List<AnyRealmValue>
    @Persisted var set: MutableSet<AnyRealmValue>
    @Persisted var dict: Map<String, AnyRealmValue>
    @Persisted var label: String
  }

  final class PkTarget: Imported {
    @Persisted(primaryKey: true) var id: Int
  }

  final class Target: Imported {
    @Persisted var name: String
  }
}
