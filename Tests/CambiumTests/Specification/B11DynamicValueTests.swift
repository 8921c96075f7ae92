import Cambium
import Foundation
import Testing

/// Section B11, B9 and B23.3: values by name.
@Suite struct B11DynamicValueTests {
  /// An unmanaged and a managed object with the same values.
  private static func objects(_ change: (SpecValues) -> Void) throws -> [SpecValues] {
    let realm = try specRealm()
    let (plain, managed) = (SpecValues(), SpecValues())
    change(plain)
    change(managed)
    try realm.write { realm.add(managed) }
    return [plain, managed]
  }

  @Test func `an enumeration's property is its raw value`() throws {
    let objects = try Self.objects { object in
      object.color = .blue
      object.level = .high
      object.levelO = .mid
      object.colors.append(objectsIn: [.green, .red])
      object.levelsO.append(objectsIn: [nil, .low])
    }
    for object in objects {
      #expect(object["color"] as? String == "blue")
      #expect(object.value(forKey: "color") as? String == "blue")
      #expect(object.value(forKeyPath: "level") as? Int == 9)
      #expect(object["levelO"] as? Int == 5)
      #expect(object["colorO"] == nil)
      #expect(object.colors.value(forKey: "self") as? [String] == ["green", "red"])
      #expect(object.levelsO.value(forKey: "self") as? [Int?] == [nil, 1])
      #expect(object.description.contains("\tcolor = blue;"))
    }
  }

  @Test func `a number casts to every type that holds it`() throws {
    let objects = try Self.objects { object in
      object.int8 = 5
      object.int16 = 300
      object.int32 = -7
      object.int64 = .max
      object.int = 1
      object.int8O = 100
      object.float = 1.5
      object.double = 2.25
      object.bool = true
      object.ints.append(objectsIn: [1, 2])
    }
    for object in objects {
      #expect(object["int8"] as? Int8 == 5 && object["int8"] as? Int == 5)
      #expect(object["int8"] as? Int64 == 5 && object["int8"] as? Double == 5)
      #expect(object["int8"] as? NSNumber == 5)
      #expect(object["int16"] as? Int == 300 && object["int16"] as? Int16 == 300)
      #expect(object["int16"] as? Int8 == nil)
      #expect(object["int32"] as? Int == -7 && object["int32"] as? UInt == nil)
      #expect(object["int64"] as? Int64 == .max && object["int64"] as? Int == .max)
      #expect(object["int8O"] as? Int == 100)
      #expect(object["float"] as? Float == 1.5 && object["float"] as? Double == 1.5)
      #expect(object["double"] as? Double == 2.25 && object["double"] as? Float == 2.25)
      #expect(object["bool"] as? Bool == true)
      #expect(object.value(forKey: "int8") as? Int == 5)
      #expect(object.value(forKeyPath: "int8") as? Int == 5)
      #expect(object["intO"] == nil)
      #expect(object.ints.value(forKey: "self") as? [Int8] == [1, 2])
    }
  }

  @Test func `what was read by name can be assigned by name`() throws {
    let source = try Self.objects { object in
      object.bool = true
      object.int8 = -3
      object.float = 0.1
      object.double = 1e300
      object.level = .mid
      object.color = .green
    }
    let realm = try specRealm()
    for source in source {
      let targets = [SpecValues(), try realm.write { realm.create(SpecValues.self) }]
      for target in targets {
        try realm.write {
          for name in ["bool", "int8", "float", "double", "level", "color"] {
            target[name] = source[name]
          }
          target["int"] = source["int8"]
          target["doubleO"] = source["float"]
        }
        #expect(target.bool && target.int8 == -3 && target.int == -3)
        #expect(target.float == 0.1 && target.double == 1e300)
        #expect(target.doubleO == Double(Float(0.1)))
        #expect(target.level == .mid && target.color == .green)
      }
    }
  }

  @Test func `what was read by name serves as an argument of queries`() throws {
    let realm = try specRealm()
    try realm.write {
      for number in 0..<4 { realm.create(SpecValues.self, value: ["int": number, "double": 0.5]) }
    }
    let all = realm.objects(SpecValues.self)
    let read = all.where { $0.int < 2 }.compactMap { $0["int"] } as [Any]
    #expect(all.filter("int IN %@", read as Any).count == 2)
    #expect(all.filter("int == %@", read[1]).first?.int == 1)
    #expect(all.filter("double == %@", all.first?["double"] as Any).count == 4)
    #expect(all.filter("int IN %@", all.value(forKey: "int") as Any).count == 4)
  }

  @Test func `Foundation's numbers are assigned as what they are`() throws {
    let object = SpecValues()
    object["bool"] = NSNumber(value: true)
    object["int"] = NSNumber(value: UInt8(200))
    object["float"] = NSNumber(value: 3)
    object["double"] = NSNumber(value: Float(0.5))
    object["decimal"] = NSDecimalNumber(string: "12.5")
    object["levelO"] = NSNumber(value: 5)
    object["intsO"] = [NSNumber(value: 1), NSNull()]
    #expect(object.bool && object.int == 200 && object.float == 3 && object.double == 0.5)
    #expect(object.decimal == 12.5 && object.levelO == .mid)
    #expect(Array(object.intsO) == [1, nil])
  }

  @Test func `a migration is given cases and raw values alike`() throws {
    let bench = try MigrationBench()
    try bench.fill()
    let types: [ObjectBase.Type] = [
      AfterMigration.Human.self, AfterMigration.Pet.self, AfterMigration.Fresh.self,
    ]
    let realm = try Realm(
      configuration: bench.configuration(types) { migration, _ in
        migration.enumerateObjects(ofType: "Human") { old, new in
          #expect(old?["age"] is String)
          new?["mood"] =
            old?["mood"] as? String == "cross" ? MigratedMood.calm : MigratedMood.cross
          #expect(
            new?["mood"] as? String == (old?["mood"] as? String == "cross" ? "calm" : "cross"))
          new?["fullName"] = old?["first"]
          new?["marks"] = [SpecLevel.mid, SpecLevel.high]
        }
        migration.create("Human", value: ["fullName": "made", "mood": MigratedMood.cross])
      })
    let humans = realm.objects(AfterMigration.Human.self)
    #expect(humans.where { $0.mood == .cross }.count == 5)
    #expect(humans.where { $0.mood == .calm }.map(\.fullName) == ["F1"])
    #expect(humans.where { $0.fullName == "F0" }.first.map { Array($0.marks) } == [5, 9])
  }
}

/// Has a raw value of ``SpecLevel``.
enum SpecOtherLevel: Int, PersistableEnum { case five = 5 }
