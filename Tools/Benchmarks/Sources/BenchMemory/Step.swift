import ArgumentParser
import Cambium
import Foundation

private enum First {
  final class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var first: String
    @Persisted var last: String
    @Persisted(indexed: true) var age: Int

    override class func _realmObjectName() -> String? { "Person" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum Second {
  final class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var fullName: String
    @Persisted(indexed: true) var age: Int
    @Persisted var isAdult: Bool

    override class func _realmObjectName() -> String? { "Person" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// A large transaction.
enum Step: String, CaseIterable, ExpressibleByArgument {
  /// All objects, added a hundred thousand at a time, so that the other steps have some.
  case fill
  /// A million typed objects in one transaction.
  case create
  /// A migration that reads and writes each object.
  case migrate
  /// One property of each object, assigned in a loop.
  case change
  /// The same by `setValue(_:forKey:)` of all results.
  case set
  /// Half of the objects, by a query.
  case delete
  /// All objects that are left.
  case deleteAll

  /// How much memory it may take, in MiB.
  ///
  /// A transaction has a budget of 256, and 64 are for everything else.
  var limit: Int { self == .migrate ? 512 : 256 + 64 }

  private static func configuration(_ file: String) -> Realm.Configuration {
    Realm.Configuration(fileURL: URL(fileURLWithPath: file), objectTypes: [First.Person.self])
  }

  private static func migrated(_ file: String) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: file), objectTypes: [Second.Person.self])
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in
        guard let old, let new else { return }
        new["fullName"] = "\(old["first"] as? String ?? "") \(old["last"] as? String ?? "")"
        new["isAdult"] = old["age"] as? Int ?? 0 >= 18
      }
    }
    return configuration
  }

  private static func person(_ id: Int) -> First.Person {
    let person = First.Person()
    person.id = id
    person.first = "First \(id &* 7919 % 10_007)"
    person.last = "Last \(id &* 104_729 % 1_000_003)"
    person.age = id &* 31 % 97
    return person
  }

  func run(_ file: String, _ objects: Int) throws {
    switch self {
    case .fill:
      let realm = try Realm(configuration: Self.configuration(file))
      for start in stride(from: 0, to: objects, by: 100_000) {
        try realm.write {
          for id in start..<min(objects, start + 100_000) { realm.add(Self.person(id)) }
        }
      }
    case .create:
      let realm = try Realm(configuration: Self.configuration(file + "-created"))
      try realm.write {
        for id in 0..<min(objects, 1_000_000) { realm.add(Self.person(id)) }
      }
    case .migrate: _ = try Realm(configuration: Self.migrated(file))
    case .change:
      let realm = try Realm(configuration: Self.migrated(file))
      try realm.write {
        for person in realm.objects(Second.Person.self) { person.age += 1 }
      }
    case .set:
      let realm = try Realm(configuration: Self.migrated(file))
      try realm.write { realm.objects(Second.Person.self).setValue("nobody", forKey: "fullName") }
    case .delete:
      let realm = try Realm(configuration: Self.migrated(file))
      try realm.write { realm.delete(realm.objects(Second.Person.self).where { $0.age < 49 }) }
    case .deleteAll:
      let realm = try Realm(configuration: Self.migrated(file))
      try realm.write { realm.delete(realm.objects(Second.Person.self)) }
    }
  }
}
