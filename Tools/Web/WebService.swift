import Cambium
import CambiumCore
import CambiumToolKit
import Foundation
import Synchronization

/// The page of `cambium serve`: answers requests about one store, whatever server they come through.
///
/// May be used from any task. No request keeps the writer's lock or a version beyond its own end; what a table
/// is paged through keeps its version for a minute at most.
public final class WebService: Sendable {
  private let settings: WebSettings
  private let location: StoreLocation
  private let database: ServedDatabase
  private let sender = WebGuard()
  private let sessions: PagingSessions
  private let maps = SpaceMaps()
  private let changes: ChangeFeed
  /// How many requests are being answered.
  private let busy = Atomic(0)

  /// So many are answered at the same time; more are refused.
  private static let busyLimit = 32

  /// Opens the store; `warn` is told what does not keep it from being opened, and a table is paged through in one
  /// version for so many seconds.
  ///
  /// - Throws: an error whose ``text(of:)`` names the store and the way out.
  public init(
    _ settings: WebSettings, sessionSeconds: Int = 60, warn: (String) -> Void
  ) async throws {
    sessions = PagingSessions(lifetime: sessionSeconds)
    BundledPlugIns.register()
    self.settings = settings
    location = try StoreRegistry.location(settings.store)
    let key = try settings.keyFile.map { path throws(StoreError) in
      try KeyFile.read(path, warn: warn)
    }
    database = try await ServedDatabase(
      OpenedRealm.configuration(location, key: key, isReadOnly: !settings.isWritable))
    changes = ChangeFeed(database)
  }

  /// What to say of an error of ``init(_:sessionSeconds:warn:)``.
  public static func text(of error: any Error) -> String { ErrorText.line(error) ?? "\(error)" }

  /// Ends the process after one line, instead of stopping with a trace, when the store fails where nothing can be
  /// thrown, such as at a damaged page.
  public static func endOnFailure(_ say: @escaping @Sendable (_ line: String) -> Void) {
    UnthrownFailure.handler.withLock { handler in
      handler = { message in
        say("error: \(message)")
        exit(1)
      }
    }
  }

  /// Lets requests in, which name `port`; returns the line that tells the address to open.
  public func start(port: Int) -> String {
    sender.port.store(port, ordering: .releasing)
    let address = "http://127.0.0.1:\(port)/#\(sender.token)"
    return settings.printsJSON
      ? JSONValue.object([.init("address", .string(address))]).line : address
  }

  /// Ends all streams, waits for what is being written, and closes the store.
  public func close() async {
    changes.end()
    sessions.removeAll()
    await database.close()
  }

  /// The answer to a request, whose body is read only if there is use for it.
  public func respond(
    to request: WebRequest, body: () async throws -> [UInt8]
  ) async -> WebResponse {
    do {
      try sender.checkHost(request)
      if !request.path.hasPrefix("/api/") { return try SiteFiles.response(to: request) }
      try sender.checkSender(request)
      return try await answer(request, body)
    } catch {
      return Self.refusal(error).response
    }
  }

  private static func refusal(_ error: any Error) -> WebRefusal {
    switch error {
    case let error as WebRefusal: return error
    case let error as QueryError:
      let place = error.offset.map { [JSONValue.Member("offset", .integer(Int64($0)))] } ?? []
      return WebRefusal(400, error.message, place)
    // Not 408: browsers send such a request again by themselves.
    case let error as RealmDatabase.TimeoutError: return WebRefusal(504, error.description)
    case is WebRequest.BodyTooLarge:
      return WebRefusal(413, "A request may have \(WebRequest.bodyLimit) bytes at most.")
    case is CancellationError: return WebRefusal(503, "The server is being ended.")
    default: return WebRefusal(500, ErrorText.line(error) ?? "\(error)")
    }
  }

  private func answer(
    _ request: WebRequest, _ body: () async throws -> [UInt8]
  ) async throws -> WebResponse {
    // A stream waits most of the time, and has a limit of its own.
    if request.path == "/api/events" {
      try Self.require("GET", request)
      return WebResponse(type: "text/event-stream", .stream(try changes.stream()))
    }
    defer { busy.subtract(1, ordering: .relaxed) }
    guard busy.add(1, ordering: .relaxed).newValue <= Self.busyLimit else {
      throw WebRefusal(503, "Too many requests at the same time; ask again.")
    }
    switch request.path {
    case "/api/save":
      try Self.require("POST", request)
      guard settings.isWritable else {
        throw WebRefusal(403, "The store is only shown; 'cambium serve --write' lets edits in.")
      }
      return try await save(try await body())
    case "/api/store": return try await read(request) { try self.store($0, $1) }
    case "/api/rows":
      try Self.require("GET", request)
      return try await rows(request)
    case "/api/object":
      return try await read(request) { realm, _ in
        try ObjectAnswer(realm, request.parameters).json
      }
    case "/api/space":
      return try await read(request) { _, database in
        try database.withDatabase { database in
          try self.maps.json(database, isFile: self.location.isFile)
        }
      }
    default: throw WebRefusal(404, "There is nothing at '\(request.path)'.")
    }
  }

  private static func require(_ method: String, _ request: WebRequest) throws(WebRefusal) {
    guard request.method == method else {
      throw WebRefusal(405, "'\(request.path)' takes \(method) only.")
    }
  }

  // MARK: Reading

  private var timeLimit: Duration { .seconds(settings.timeLimit) }

  private func read(
    _ request: WebRequest, _ body: @escaping @Sendable (Realm, RealmDatabase) throws -> JSONValue
  ) async throws -> WebResponse {
    try Self.require("GET", request)
    return WebResponse(try await database.read(timeout: timeLimit, body))
  }

  private func store(_ realm: Realm, _ database: RealmDatabase) throws -> JSONValue {
    try database.withDatabase { database in
      try StoreDescription(realm, database, location, isWritable: settings.isWritable).json
    }
  }

  private func rows(_ request: WebRequest) async throws -> WebResponse {
    let wanted = try RowsRequest(request.parameters, rowLimit: settings.rowLimit)
    let (sessions, timeLimit) = (sessions, timeLimit)
    let json = try await database.withCurrent { database in
      try await OffExecutor.run {
        let session = try sessions.session(for: wanted, timeLimit) { interruption in
          try database.snapshot(interruption)
        }
        return try session.rows(wanted.bounds, timeLimit)
      }
    }
    return WebResponse(json)
  }

  // MARK: Saving

  private func save(_ body: [UInt8]) async throws -> WebResponse {
    let edits = try SavedEdits(body)
    let rows = try await database.write { realm in try edits.apply(to: realm) }
    let version = try await database.read(timeout: nil) { realm, _ in realm.version }
    return WebResponse(
      .object([
        .init("version", .integer(Int64(version))),
        .init("rows", .array(rows.map { .string("\($0)") })),
      ]))
  }
}

extension StoreLocation {
  var isFile: Bool { choice.kind == StoreChoice.file.kind }
}

/// Work that may take its time, on a thread that the tasks do not miss.
enum OffExecutor {
  static func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
  }
}
