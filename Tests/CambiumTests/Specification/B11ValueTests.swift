import Cambium
import Foundation
import TestSupport
import Testing

/// Section B11: property values.
@Suite struct B11ValueTests {
  @Test func `new objects have the documented defaults`() throws {
    let realm = try specRealm()
    let before = Date()
    let created = try realm.write { realm.create(SpecValues.self) }
    for object in [SpecValues(), created] {
      #expect(object.bool == false && object.int == 0 && object.int8 == 0 && object.int64 == 0)
      #expect(object.float == 0 && object.double == 0 && object.decimal == 0)
      #expect(object.string == "" && object.data == Data())
      #expect(object.color == .red && object.level == .low)
      #expect(object.intO == nil && object.stringO == nil && object.colorO == nil)
      #expect(object.ints.isEmpty && object.others.isEmpty && object.other == nil)
      #expect(abs(object.date.timeIntervalSince(before)) < 3600)
    }
    #expect(SpecValues().uuid != SpecValues().uuid)
  }

  @Test func `extremes come back as they went`() throws {
    let folder = try TemporaryFolder()
    let configuration = specFile(folder)
    let long = String(repeating: "ä€😀", count: 50_000)
    let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        let low = SpecValues(label: "low")
        low.int = .min
        low.int8 = .min
        low.int16 = .min
        low.int32 = .min
        low.int64 = .min
        low.float = -.infinity
        low.double = -.greatestFiniteMagnitude
        low.decimal = .min
        low.string = long
        low.data = bytes
        low.date = Date(timeIntervalSince1970: -62_135_596_800)
        let high = SpecValues(label: "high")
        high.int = .max
        high.int8 = .max
        high.int16 = .max
        high.int32 = .max
        high.int64 = .max
        high.float = .nan
        high.double = .infinity
        high.decimal = .max
        high.string = "\u{0}\u{10FFFF}"
        high.date = Date(timeIntervalSince1970: 253_402_300_799.5)
        realm.add([low, high])
      }
    }
    let realm = try Realm(configuration: configuration)
    let low = try #require(realm.objects(SpecValues.self).where { $0.label == "low" }.first)
    #expect(low.int == .min && low.int8 == .min && low.int16 == .min && low.int32 == .min)
    #expect(low.int64 == .min && low.float == -.infinity)
    #expect(low.double == -.greatestFiniteMagnitude && low.decimal == .min)
    #expect(low.string == long && low.data == bytes)
    #expect(low.date == Date(timeIntervalSince1970: -62_135_596_800))
    let high = try #require(realm.objects(SpecValues.self).where { $0.label == "high" }.first)
    #expect(high.int == .max && high.int8 == .max && high.int16 == .max && high.int32 == .max)
    #expect(high.float.isNaN && high.double == .infinity && high.decimal == .max)
    #expect(high.string == "\u{0}\u{10FFFF}")
    #expect(high.date == Date(timeIntervalSince1970: 253_402_300_799.5))
  }

  @Test func `dates round-trip to their own precision`() throws {
    let realm = try specRealm()
    let object = try realm.write { realm.create(SpecValues.self) }
    let dates =
      [0, 0.25, -0.25, 1_700_000_000.123456, -1_700_000_000.987654, 1e9 + 1.0 / 3]
      .map { Date(timeIntervalSince1970: $0) } + [Date(), .distantPast, .distantFuture]
    for date in dates {
      try realm.write { object.date = date }
      #expect(abs(object.date.timeIntervalSince(date)) < 1e-6)
    }
    try realm.write { object.date = Date(timeIntervalSince1970: .nan) }
    #expect(object.date == Date(timeIntervalSince1970: 0))
    try realm.write { object.date = Date(timeIntervalSince1970: .infinity) }
    #expect(object.date > .distantFuture)
  }

  @Test func `every property can be assigned, cleared and read while managed`() throws {
    let realm = try specRealm()
    let object = try realm.write { realm.create(SpecValues.self) }
    let id = ObjectId.generate()
    let uuid = UUID()
    let now = Date(timeIntervalSince1970: 1e9)
    try realm.write {
      object.boolO = true
      object.intO = 5
      object.int8O = -5
      object.floatO = 1.5
      object.doubleO = 2.5
      object.decimalO = 3.5
      object.stringO = ""
      object.dataO = Data()
      object.dateO = now
      object.objectIdO = id
      object.uuidO = uuid
      object.colorO = .blue
      object.levelO = .mid
      object.other = object
    }
    #expect(object.boolO == true && object.intO == 5 && object.int8O == -5)
    #expect(object.floatO == 1.5 && object.doubleO == 2.5 && object.decimalO == 3.5)
    #expect(object.stringO == "" && object.dataO == Data() && object.dateO == now)
    #expect(object.objectIdO == id && object.uuidO == uuid)
    #expect(object.colorO == .blue && object.levelO == .mid)
    #expect(object.other?.isSameObject(as: object) == true)
    try realm.write {
      object.boolO = nil
      object.intO = nil
      object.int8O = nil
      object.floatO = nil
      object.doubleO = nil
      object.decimalO = nil
      object.stringO = nil
      object.dataO = nil
      object.dateO = nil
      object.objectIdO = nil
      object.uuidO = nil
      object.colorO = nil
      object.levelO = nil
      object.other = nil
    }
    #expect(object.boolO == nil && object.intO == nil && object.int8O == nil)
    #expect(object.floatO == nil && object.doubleO == nil && object.decimalO == nil)
    #expect(object.stringO == nil && object.dataO == nil && object.dateO == nil)
    #expect(object.objectIdO == nil && object.uuidO == nil)
    #expect(object.colorO == nil && object.levelO == nil && object.other == nil)
  }

  @Test func `enums are stored raw and come back as cases`() throws {
    let realm = try specRealm()
    let object = SpecValues()
    object.color = .blue
    object.level = .high
    object.colors.append(objectsIn: [.green, .red])
    object.levelsO.append(objectsIn: [nil, .mid])
    try realm.write { realm.add(object) }
    #expect(object.color == .blue && object.level == .high)
    #expect(Array(object.colors) == [.green, .red])
    #expect(Array(object.levelsO) == [nil, .mid])
    #expect(SpecColor.blue < SpecColor.green)
    #expect(SpecLevel() == .low)
  }

  @Test func `an unknown raw value reads as nil where nil is allowed`() throws {
    let folder = try TemporaryFolder()
    let realm = try SpecStoredRaw.unknown(in: folder)
    let object = try #require(realm.objects(SpecTypedRaw.SpecRaw.self).first)
    #expect(object.levelO == nil)
    #expect(realm.objects(SpecTypedRaw.SpecRaw.self).filter("levelO == 77").count == 1)
  }

  @Test func `lists hold every kind of value`() throws {
    let realm = try specRealm()
    let object = SpecValues()
    let id = ObjectId.generate()
    let uuid = UUID()
    object.ints.append(objectsIn: [.min, 0, .max])
    object.doubles.append(objectsIn: [1.5, -.infinity])
    object.strings.append(objectsIn: ["", "ä", String(repeating: "x", count: 5000)])
    object.bools.append(objectsIn: [true, false])
    object.datas.append(objectsIn: [Data(), Data([1, 2])])
    object.dates.append(Date(timeIntervalSince1970: 5))
    object.ids.append(id)
    object.uuids.append(uuid)
    object.decimals.append(objectsIn: ["1e10", "-0.5"])
    object.others.append(objectsIn: [object, object])
    try realm.write { realm.add(object) }
    #expect(Array(object.ints) == [.min, 0, .max])
    #expect(Array(object.doubles) == [1.5, -.infinity])
    #expect(object.strings.map(\.count) == [0, 1, 5000])
    #expect(Array(object.bools) == [true, false])
    #expect(Array(object.datas) == [Data(), Data([1, 2])])
    #expect(Array(object.dates) == [Date(timeIntervalSince1970: 5)])
    #expect(Array(object.ids) == [id] && Array(object.uuids) == [uuid])
    #expect(Array(object.decimals) == ["1e10", "-0.5"])
    #expect(object.others.count == 2 && object.others[1].isSameObject(as: object))
  }

  @Test func `decimals follow their rules`() throws {
    #expect(try Decimal128(string: "no number").isNaN)
    #expect(Decimal128("1.0") == Decimal128(1))
    #expect(Decimal128("1.50").stringValue == "1.5")
    #expect(Decimal128.min < 0 && Decimal128.max > 0)
    let nan = try Decimal128(string: "NaN")
    #expect(nan < Decimal128.min && nan.isSignaling && nan.isSignalingNaN)
    #expect(Decimal128("0.1") + Decimal128("0.2") == Decimal128("0.3"))
    #expect(Decimal128(7) / 2 == 3.5)
    #expect(Decimal128("2").distance(to: "5") == 3)
    #expect(Decimal128(value: "4.5").doubleValue == 4.5)
    #expect(Decimal128(exactly: 12) == 12)
    let coded = try JSONEncoder().encode([Decimal128("1.25")])
    #expect(String(decoding: coded, as: UTF8.self) == "[\"1.25\"]")
    let decoded = try JSONDecoder().decode([Decimal128].self, from: Data("[\"1.5\",2,2.5]".utf8))
    #expect(decoded == [1.5, 2, 2.5])
  }

  @Test func `object ids follow their rules`() throws {
    let text = "0123456789abcdef01234567"
    let id = try ObjectId(string: text)
    #expect(id.stringValue == text && id.description == text)
    #expect(id == ObjectId("0123456789abcdef01234567"))
    let error = #expect(throws: Realm.Error.self) { try ObjectId(string: "xyz") }
    #expect(error?.code == .invalidInput)
    #expect(
      error?.localizedDescription.contains(
        "Invalid Object ID string 'xyz': must be 24 hex digits") == true)
    let dated = ObjectId(
      timestamp: Date(timeIntervalSince1970: 1234.75), machineId: 5, processId: 6)
    #expect(dated.timestamp == Date(timeIntervalSince1970: 1234))
    #expect(ObjectId("000000000000000000000001") < ObjectId("000000000000000000000002"))
    let coded = try JSONEncoder().encode([id])
    #expect(String(decoding: coded, as: UTF8.self) == "[\"\(text)\"]")
    #expect(try JSONDecoder().decode([ObjectId].self, from: coded) == [id])
  }

  @Test func `a small integer may be given by any integer, and keeps 64 bits`() throws {
    let realm = try specRealm()
    let object = try realm.write { realm.create(SpecValues.self, value: ["int64": UInt8(9)]) }
    #expect(object.int64 == 9)
  }
}

/// The same class twice: what another program stored, and what this one takes it for.
enum SpecStoredRaw {
  final class SpecRaw: Object {
    @Persisted var level = 77
    @Persisted var levelO: Int? = 77
    @Persisted var small = 300
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  /// Opens a file whose values the typed class cannot hold.
  static func unknown(in folder: TemporaryFolder) throws -> Realm {
    do {
      let realm = try Realm(configuration: specFile(folder, [SpecRaw.self]))
      try realm.write { realm.create(SpecRaw.self) }
    }
    return try Realm(configuration: specFile(folder, [SpecTypedRaw.SpecRaw.self]))
  }
}

enum SpecTypedRaw {
  final class SpecRaw: Object {
    @Persisted var level: SpecLevel
    @Persisted var levelO: SpecLevel?
    @Persisted var small: Int8
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}
