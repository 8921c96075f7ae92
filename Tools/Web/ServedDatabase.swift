import Cambium
import CambiumCore
import Synchronization

/// The store, opened anew when somebody else has changed its schema.
final class ServedDatabase: Sendable {
  private let configuration: Realm.Configuration
  private let current: Mutex<RealmDatabase>

  init(_ configuration: Realm.Configuration) async throws {
    self.configuration = configuration
    current = Mutex(try await RealmDatabase(configuration))
  }

  func read<Value: Sendable>(
    timeout: Duration?, _ body: @escaping @Sendable (Realm) throws -> Value
  ) async throws -> Value {
    try await withCurrent { database in try await database.read(timeout: timeout, body) }
  }

  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Realm) throws -> Value
  ) async throws -> Value {
    try await withCurrent { database in try await database.write(body) }
  }

  func withDatabase<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try current.withLock { $0 }.withDatabase(body)
  }

  /// What others and this server commit from now on.
  func changes() throws -> DatabaseChanges { try current.withLock { $0 }.changes() }

  func close() async { await current.withLock { $0 }.close() }

  /// Runs `body` with the database, and again with another one when it finds that the schema is another.
  func withCurrent<Value>(
    _ body: (RealmDatabase) async throws -> Value
  ) async throws -> Value {
    let database = current.withLock { $0 }
    do {
      return try await body(database)
    } catch is Realm.Error where current.withLock({ $0 }) !== database {
      // Somebody else has found it meanwhile, and closed this one.
      return try await body(current.withLock { $0 })
    } catch let error as Realm.Error where error.code == .schemaMismatch {
      // Whoever reads the old schema has to let go of it first.
      await database.close()
      let reopened = try await RealmDatabase(configuration)
      let replaced = current.withLock { known in
        if known === database { known = reopened }
        return known
      }
      return try await body(replaced)
    }
  }
}
