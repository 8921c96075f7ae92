import Cambium
import Synchronization

/// The store, opened anew when somebody else has changed its schema, or has put another one in its place.
final class ServedDatabase: Sendable {
  /// Work that opens the database, and has it from then on.
  private typealias Opening = Task<RealmDatabase, any Error>

  private let configuration: Realm.Configuration
  /// Nil when the database could not be opened anew, so that the next request tries again.
  private let current: Mutex<Opening?>

  init(_ configuration: Realm.Configuration) async throws {
    self.configuration = configuration
    let database = try await RealmDatabase(configuration)
    current = Mutex(Opening { database })
  }

  /// Lets `body` read, with the database from which it reads.
  func read<Value: Sendable>(
    timeout: Duration?, _ body: @escaping @Sendable (Realm, RealmDatabase) throws -> Value
  ) async throws -> Value {
    try await withCurrent { database in
      try await database.read(timeout: timeout) { try body($0, database) }
    }
  }

  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Realm) throws -> Value
  ) async throws -> Value {
    try await withCurrent { database in try await database.write(body) }
  }

  /// What others and this server commit from now on.
  func changes() async throws -> DatabaseChanges { try await database(of: opened()).changes() }

  func close() async { try? await current.withLock { $0 }?.value.close() }

  /// Runs `body` with the database, and again with another one when it finds that the schema is another.
  func withCurrent<Value>(
    _ body: (RealmDatabase) async throws -> Value
  ) async throws -> Value {
    var opening = opened()
    var database = try await database(of: opening)
    if !database.isInPlace {
      replace(opening, database)
      opening = opened()
      database = try await self.database(of: opening)
    }
    do {
      return try await body(database)
    } catch let error as Realm.Error {
      guard isReplaced(opening, database, after: error) else { throw error }
      return try await body(try await self.database(of: opened()))
    }
  }

  /// What opens the database, or has done so.
  private func opened() -> Opening {
    current.withLock { current in
      if let current { return current }
      let opening = Opening { [configuration] in try await RealmDatabase(configuration) }
      current = opening
      return opening
    }
  }

  private func database(of opening: Opening) async throws -> RealmDatabase {
    do {
      return try await opening.value
    } catch {
      current.withLock { current in if current == opening { current = nil } }
      throw error
    }
  }

  /// Whether another one takes the place of `database`, which has met `error`: since somebody else has found before
  /// that the schema is another, and has closed this one, or since that shows now.
  private func isReplaced(
    _ opening: Opening, _ database: RealmDatabase, after error: Realm.Error
  ) -> Bool {
    if current.withLock({ $0 != opening }) { return true }
    guard error.code == .schemaMismatch else { return false }
    replace(opening, database)
    return true
  }

  /// Sees to it that another one is opened in place of `database`, unless somebody has done so.
  private func replace(_ opening: Opening, _ database: RealmDatabase) {
    current.withLock { current in
      guard current == opening else { return }
      current = Opening { [configuration] in
        // Whoever reads the old schema has to let go of it first.
        await database.close()
        return try await RealmDatabase(configuration)
      }
    }
  }
}
