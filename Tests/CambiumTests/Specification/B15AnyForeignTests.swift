import Cambium
import Foundation
import TestSupport
import Testing

private final class Shelf: MigratedObject {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var value: AnyRealmValue
  @Persisted var list: List<AnyRealmValue>
  @Persisted var map: Map<String, AnyRealmValue>
}

private final class Crate: MigratedObject {
  @Persisted var name = ""
  @Persisted var lid: Lid?
  @Persisted var shelf: Shelf?
  @Persisted var things: List<AnyRealmValue>
}

private final class Lid: MigratedObject { @Persisted var colour = "" }

private final class Late: MigratedObject { @Persisted var number = 0 }

/// Section B15: objects that values of any type are, of classes that the Realm was not opened with.
@Suite struct B15AnyForeignTests {
  private let file: SpecFile

  init() throws { file = try SpecFile() }

  private var whole: Realm.Configuration {
    specFile(file.folder, [Shelf.self, Crate.self, Lid.self])
  }
  private var part: Realm.Configuration { specFile(file.folder, [Shelf.self]) }

  /// A shelf that holds boxes in every place for values.
  private func fill() throws {
    try autoreleasepool {
      let realm = try Realm(configuration: whole)
      try realm.write {
        let shelf = realm.create(Shelf.self, value: ["id": 1])
        let boxes = (0..<4).map { realm.create(Crate.self, value: ["name": "box \($0)"]) }
        boxes[0].lid = realm.create(Lid.self, value: ["colour": "red"])
        boxes[0].shelf = shelf
        boxes[0].things.append(.object(boxes[1]))
        shelf.value = .object(boxes[0])
        shelf.list.append(objectsIn: [.object(boxes[1]), .int(1), .fromArray([.object(boxes[2])])])
        shelf.map["a"] = .object(boxes[3])
      }
    }
  }

  private func shelf(_ realm: Realm) throws -> Shelf {
    try #require(realm.object(ofType: Shelf.self, forPrimaryKey: 1))
  }

  private func name(_ value: AnyRealmValue?) -> String? {
    guard case .object(let object)? = value, let object = object as? DynamicObject else {
      return nil
    }
    return object.name as? String
  }

  private func names(_ shelf: Shelf) -> [String?] {
    [
      name(shelf.value), name(shelf.list[0]), name(shelf.list[2].listValue?[0]),
      name(shelf.map["a"]),
    ]
  }

  @Test func `they are dynamic objects, whose links lead to theirs and to those of known classes`()
    throws
  {
    try fill()
    let realm = try Realm(configuration: part)
    let shelf = try shelf(realm)
    #expect(names(shelf) == ["box 0", "box 1", "box 2", "box 3"])
    let box = try #require(shelf.value.dynamicObject)
    #expect(box.objectSchema.className == "Crate")
    #expect((box.lid as? DynamicObject)?.colour as? String == "red")
    #expect((box["shelf"] as? DynamicObject)?["id"] as? Int == 1)
    #expect(name((box.things as? List<AnyRealmValue>)?.first) == "box 1")
    #expect(shelf.value.dynamicObject?.isSameObject(as: box) == true)
    #expect(realm.objects(Shelf.self).where { $0.value == .object(box) }.count == 1)
    #expect(realm.schema.objectSchema.map(\.className) == ["Shelf"])
  }

  @Test func `they are written, deleted and linked to like others`() throws {
    try fill()
    try autoreleasepool {
      let realm = try Realm(configuration: part)
      let shelf = try shelf(realm)
      try realm.write {
        let box = try #require(shelf.value.dynamicObject)
        box.name = "first"
        box.lid = nil
        shelf.map["b"] = .object(box)
        let last = try #require(shelf.map["a"]?.dynamicObject)
        realm.delete(last)
        #expect(last.isInvalidated)
        #expect(shelf.map["a"] == AnyRealmValue.none)
        shelf.list.removeFirst()
      }
      #expect(name(shelf.map["b"]) == "first")
    }
    try autoreleasepool {
      let realm = try Realm(configuration: whole)
      let boxes = realm.objects(Crate.self).sorted(by: \.name)
      #expect(boxes.map(\.name) == ["box 1", "box 2", "first"])
      #expect(boxes.last?.lid == nil)
    }
    try file.expectSound(whole)
  }

  @Test func `they freeze, thaw, travel and are observed`() async throws {
    try fill()
    let desk = try Desk(part)
    try desk.run { realm in
      let box = try #require(try shelf(realm).value.dynamicObject)
      let frozen = box.freeze()
      #expect(names(try shelf(realm).freeze()) == ["box 0", "box 1", "box 2", "box 3"])
      let reference = ThreadSafeReference(to: box)
      let queue = DispatchQueue(label: "elsewhere")
      let seen = try queue.sync {
        try Realm(configuration: part, queue: queue).resolve(reference)?.name as? String
      }
      #expect(seen == "box 0")
      try realm.write { box.name = "changed" }
      #expect(frozen.name as? String == "box 0")
      #expect(frozen.thaw()?.name as? String == "changed")
      desk.tokens = [
        box.observe { [unowned desk] (change: ObjectChange<DynamicObject>) in
          switch change {
          case .change(_, let changes): desk.note("\(changes.map(\.name))")
          case .deleted: desk.note("deleted")
          case .error: desk.note("error")
          }
        },
        realm.objects(Shelf.self).observe { [unowned desk] change in desk.note(change) },
      ]
    }
    #expect(await desk.next() == "initial 1")
    try desk.run { realm in
      let box = try #require(try shelf(realm).value.dynamicObject)
      try realm.write { box.name = "again" }
    }
    #expect(await desk.next() == "[\"name\"]")
    try desk.run { realm in
      let box = try #require(try shelf(realm).value.dynamicObject)
      try realm.write { realm.delete(box) }
    }
    let last = [await desk.next(), await desk.next()]
    #expect(Set(last) == ["deleted", "-[] +[] ~[0]"])
  }

  @Test func `deleting all leaves them, and observers of links to them go on`() throws {
    try fill()
    try autoreleasepool {
      let realm = try Realm(configuration: part)
      _ = try shelf(realm).value
      try realm.write { realm.deleteAll() }
      #expect(realm.objects(Shelf.self).isEmpty)
    }
    try autoreleasepool {
      let realm = try Realm(configuration: whole)
      #expect(realm.objects(Crate.self).count == 4)
      #expect(realm.objects(Crate.self).sorted(by: \.name).first?.shelf == nil)
    }
    try file.expectSound(whole)
  }

  @Test(arguments: [false, true])
  func `classes that others bring while the Realm is open are met, in a transaction and outside`(
    inTransaction: Bool
  ) throws {
    try fill()
    let queue = DispatchQueue(label: "elsewhere")
    let realm = try Realm(configuration: part)
    let shelf = try shelf(realm)
    let box = try #require(shelf.value.dynamicObject)
    let all = specFile(file.folder, [Shelf.self, Crate.self, Lid.self, Late.self])
    try queue.sync {
      try autoreleasepool {
        let other = try Realm(configuration: all, queue: queue)
        try other.write {
          let late = other.create(Late.self, value: ["number": 9])
          other.objects(Shelf.self).first?.map["late"] = .object(late)
        }
      }
    }
    if inTransaction { realm.beginWrite() } else { realm.refresh() }
    let late = try #require(shelf.map["late"]?.dynamicObject)
    #expect(late.number as? Int == 9)
    #expect(box.name as? String == "box 0")
    if inTransaction {
      late.number = 10
      shelf.list.append(.object(late))
      try realm.commitWrite()
    }
    let frozen = try #require(shelf.freeze().map["late"]?.dynamicObject)
    #expect(frozen.number as? Int == (inTransaction ? 10 : 9))
    #expect(name(shelf.freeze().value) == "box 0")
    if inTransaction {
      try realm.write { realm.delete(late) }
      #expect(shelf.list.count == 3)
      #expect(shelf.map["late"] == AnyRealmValue.none)
    }
    try file.expectSound(all)
  }
}

private final class Told {
  private(set) var names: [String] = []

  func note(_ change: ObjectChange<ObjectBase>) {
    if case .change(_, let properties) = change { names += properties.map(\.name) }
  }
}
