import Cambium
import Foundation
import GRDB

/// What is measured through a `Realm`; belongs to the thread or actor that made it.
final class RealmSide {
  let realm: Realm
  let population: Population
  /// The same classes in memory, with one person.
  let memory: Realm
  let configuration: Realm.Configuration

  static func configuration(in folder: URL) -> Realm.Configuration {
    var configuration = Realm.Configuration(fileURL: folder.appending(path: "census.cambium"))
    configuration.objectTypes = Census.classes
    configuration.maximumNumberOfActiveVersions = nil
    return configuration
  }

  static func memoryConfiguration() -> Realm.Configuration {
    Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString, objectTypes: Census.classes)
  }

  init(
    realm: Realm, memory: Realm, configuration: Realm.Configuration, population: Population
  ) throws {
    (self.realm, self.memory) = (realm, memory)
    (self.configuration, self.population) = (configuration, population)
    try memory.write {
      memory.create(
        Census.Person.self, value: ["id": 0, "name": "Ada", "email": "ada@example.com"])
    }
  }

  /// All people.
  var people: Results<Census.Person> { realm.objects(Census.Person.self) }
}

/// What is measured through GRDB: a pool of connections, write-ahead log, every commit synced.
final class SQLiteSide {
  let pool: DatabasePool
  let population: Population

  init(folder: URL, population: Population) throws {
    self.population = population
    pool = try DatabasePool(path: folder.appending(path: "census.sqlite").path)
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    try pool.write { try $0.execute(sql: SQLiteCensus.schema) }
  }

  /// Writes the log back into the file.
  func settle() throws {
    _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
  }
}

/// An actor with a Realm of its own.
actor Host {
  private var side: RealmSide?

  func open(_ configuration: Realm.Configuration, _ population: Population) async throws {
    side = try RealmSide(
      realm: try await Realm(configuration: configuration, actor: self),
      memory: try await Realm(configuration: RealmSide.memoryConfiguration(), actor: self),
      configuration: configuration, population: population)
  }

  func run(_ work: @Sendable (RealmSide) throws -> Timing) throws -> Timing? {
    try side.map(work)
  }
}
