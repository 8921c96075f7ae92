import Cambium
import Foundation
import TestSupport
import Testing

private final class Holder: MigratedObject {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var value: AnyRealmValue
  @Persisted var nested: AnyRealmValue
  @Persisted var list: List<AnyRealmValue>
  @Persisted var set: MutableSet<AnyRealmValue>
  @Persisted var map: Map<String, AnyRealmValue>
}

private final class Other: MigratedObject { @Persisted var code = 0 }

private enum Before {
  final class Target: MigratedObject { @Persisted var code = 0 }
}

private enum After {
  final class Target: MigratedObject { @Persisted(primaryKey: true) var code = 0 }
}

/// Section B15: objects that values of any type are, in migrations, copies and notifications.
@Suite struct B15AnyLinkTests {
  private let file: SpecFile

  init() throws { file = try SpecFile() }

  // MARK: Migrations

  private static let before: [ObjectBase.Type] = [
    Holder.self, Before.Target.self, Other.self,
  ]
  private static let after: [ObjectBase.Type] = [
    Holder.self, After.Target.self, Other.self,
  ]

  private func migrated(_ block: @escaping MigrationBlock) -> Realm.Configuration {
    var configuration = specFile(file.folder, Self.after)
    configuration.schemaVersion = 1
    configuration.migrationBlock = block
    return configuration
  }

  /// Two targets and an object of another class with the key of the first, in every place for values.
  private func fill() throws {
    try autoreleasepool {
      let realm = try Realm(configuration: specFile(file.folder, Self.before))
      try realm.write {
        let targets = [7, 5].map { realm.create(Before.Target.self, value: ["code": $0]) }
        let other = AnyRealmValue.object(realm.create(Other.self, value: ["code": 3]))
        let (first, second) = (AnyRealmValue.object(targets[0]), AnyRealmValue.object(targets[1]))
        let holder = realm.create(Holder.self, value: ["id": 1])
        holder.value = first
        holder.nested = .fromDictionary(["l": .fromArray([second, .int(1), other, second])])
        holder.list.append(objectsIn: [first, .none, .fromArray([first]), other, second])
        holder.set.insert(objectsIn: [first, other, .int(4)])
        for (key, value) in [("a", first), ("b", .fromDictionary(["x": second])), ("o", other)] {
          holder.map[key] = value
        }
      }
    }
  }

  /// The code of a target, the negative code of another object, or the number; the same of what is inside.
  private func text(_ value: AnyRealmValue) -> String {
    switch value {
    case .object(let object):
      (object as? After.Target).map { "t\($0.code)" }
        ?? (object as? Other).map { "o\($0.code)" } ?? "?"
    case .list(let list): "[" + list.map { text($0) }.joined(separator: " ") + "]"
    case .dictionary(let map):
      "{" + map.map { "\($0.key) \(text($0.value))" }.joined(separator: " ") + "}"
    default: value.intValue.map { "\($0)" } ?? "-"
    }
  }

  private func texts(_ holder: Holder) -> [String] {
    [
      text(holder.value), text(holder.nested), text(.list(holder.list)),
      holder.set.map { text($0) }.sorted().joined(separator: " "), text(.dictionary(holder.map)),
    ]
  }

  private let filled = [
    "t7", "{l [t5 1 o3 t5]}", "[t7 - [t7] o3 t5]", "4 o3 t7", "{a t7 b {x t5} o o3}",
  ]

  @Test func `objects that move to their primary keys keep who holds them`() throws {
    try fill()
    let configuration = migrated { _, _ in }
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      let holder = try #require(realm.objects(Holder.self).first)
      #expect(texts(holder) == filled)
      #expect(realm.object(ofType: After.Target.self, forPrimaryKey: 7) != nil)
      let second = try #require(realm.object(ofType: After.Target.self, forPrimaryKey: 5))
      try realm.write { realm.delete(second) }
      #expect(
        texts(holder) == ["t7", "{l [1 o3]}", "[t7 - [t7] o3]", "4 o3 t7", "{a t7 b {x -} o o3}"])
    }
    try file.expectSound(configuration)
  }

  @Test func `an old object's values are taken over, whatever they hold`() throws {
    try fill()
    let configuration = migrated { migration, _ in
      migration.enumerateObjects(ofType: "Holder") { old, new in
        guard let old, let new else { return }
        for name in ["value", "nested", "list", "set", "map"] { new[name] = nil }
        for name in ["value", "nested", "list", "set", "map"] { new[name] = old[name] }
      }
    }
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      #expect(try texts(#require(realm.objects(Holder.self).first)) == filled)
    }
    try file.expectSound(configuration)
  }

  @Test func `objects that a migration deletes are not taken over`() throws {
    try fill()
    let configuration = migrated { migration, _ in
      migration.enumerateObjects(ofType: "Target") { _, new in
        if new?["code"] as? Int == 5, let new { migration.delete(new) }
      }
      migration.enumerateObjects(ofType: "Holder") { old, new in
        for name in ["nested", "list", "map"] { new?[name] = old?[name] }
      }
    }
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      #expect(
        try texts(#require(realm.objects(Holder.self).first))
          == ["t7", "{l [1 o3]}", "[t7 - [t7] o3]", "4 o3 t7", "{a t7 b {x -} o o3}"])
    }
    try file.expectSound(configuration)
  }

  // MARK: Copies

  @Test func `creating copies objects of another Realm, however deep they lie`() throws {
    let source = try specRealm(B15AnyTests.types)
    let target = try specRealm(B15AnyTests.types)
    let original = SpecAny(1)
    try source.write {
      source.add(original)
      let ann = AnyRealmValue.object(SpecAnyTarget("Ann"))
      original.value = .fromArray([ann, .fromDictionary(["k": .fromArray([ann])])])
      original.list.append(.fromDictionary(["a": ann]))
    }
    try target.write {
      let copy = target.create(SpecAny.self, value: original)
      let outer = try #require(copy.value.listValue)
      let inner = try #require(outer[1].dictionaryValue?["k"]?.listValue)
      let ann = try #require(outer[0].object(SpecAnyTarget.self))
      #expect(ann.realm == target && ann.name == "Ann")
      #expect(inner[0].object(SpecAnyTarget.self)?.isSameObject(as: ann) == true)
      #expect(copy.list[0].dictionaryValue?["a"]?.object(SpecAnyTarget.self)?.name == "Ann")
    }
    #expect(target.objects(SpecAnyTarget.self).count == 1)
    #expect(source.objects(SpecAnyTarget.self).count == 1)
  }

  @Test func `creating leaves unmanaged objects as they are`() throws {
    let realm = try specRealm(B15AnyTests.types)
    let plain = SpecAnyTarget("plain")
    try realm.write {
      let made = realm.create(
        SpecAny.self, value: ["id": 1, "value": AnyRealmValue.fromArray([.object(plain)])])
      let held = try #require(made.value.listValue?[0].object(SpecAnyTarget.self))
      #expect(held.name == "plain" && held !== plain && plain.realm == nil)
    }
  }

  // MARK: Notifications

  @Test func `a change of an object that a value is counts for its holder`() async throws {
    let desk = try Desk(specConfiguration(B15AnyTests.types))
    desk.run { realm in
      realm.beginWrite()
      for (id, name) in ["direct", "nested", "listed", "none"].enumerated() {
        let object = realm.create(SpecAny.self, value: ["id": id])
        let target = AnyRealmValue.object(SpecAnyTarget(name))
        switch name {
        case "direct": object.value = target
        case "nested": object.value = .fromDictionary(["k": target])
        case "listed": object.list.append(target)
        default: if case .object(let object) = target { realm.add(object) }
        }
      }
      #expect(throws: Never.self) { try realm.commitWrite() }
      desk.tokens = [
        realm.objects(SpecAny.self).observe { [unowned desk] change in desk.note(change) }
      ]
    }
    #expect(await desk.next() == "initial 4")
    for (name, expected) in [("direct", 0), ("nested", 1), ("listed", 2)] {
      desk.run { realm in
        realm.beginWrite()
        realm.object(ofType: SpecAnyTarget.self, forPrimaryKey: "none")?.age += 1
        realm.object(ofType: SpecAnyTarget.self, forPrimaryKey: name)?.age += 1
        #expect(throws: Never.self) { try realm.commitWrite() }
      }
      #expect(await desk.next() == "-[] +[] ~[\(expected)]")
    }
  }
}
