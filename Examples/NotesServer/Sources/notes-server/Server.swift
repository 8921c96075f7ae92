import Cambium
import Foundation
import Hummingbird
import ServiceLifecycle

/// `notes-server DATABASE PORT`: notes over HTTP, and their changes as server-sent events.
///
/// - `GET /notes?text=…`, `GET /notes/ID`, `POST /notes`, `PUT /notes/ID`, `DELETE /notes/ID`
/// - `GET /changes`
@main
struct Server {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let path = arguments.first, let port = arguments.dropFirst().first.flatMap({ Int($0) })
    else {
      print("usage: notes-server DATABASE PORT")
      exit(2)
    }
    let store = try await NoteStore(path: path)
    let application = Application(
      router: router(store),
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
      services: [DatabaseService(database: store.database)],
      onServerRunning: { channel in
        FileHandle.standardOutput.write(
          Data("http://127.0.0.1:\(channel.localAddress?.port ?? port)\n".utf8))
      })
    // SIGTERM and SIGINT end it: requests are answered, streams end, the database is closed.
    try await application.runService()
  }

  private static func router(_ store: NoteStore) -> Router<BasicRequestContext> {
    let router = Router()
    router.get("notes") { request, _ in
      try await store.notes(containing: request.uri.queryParameters.get("text"))
    }
    router.get("notes/:id") { _, context in
      guard let note = try await store.note(try context.parameters.require("id", as: UUID.self))
      else {
        throw HTTPError(.notFound)
      }
      return note
    }
    router.post("notes") { request, context in
      let body = try await request.decode(as: NoteText.self, context: context)
      return EditedResponse(status: .created, response: try await store.put(body.text, id: UUID()))
    }
    router.put("notes/:id") { request, context in
      let id = try context.parameters.require("id", as: UUID.self)
      let body = try await request.decode(as: NoteText.self, context: context)
      return try await store.put(body.text, id: id)
    }
    router.delete("notes/:id") { _, context -> HTTPResponse.Status in
      let id = try context.parameters.require("id", as: UUID.self)
      return try await store.remove(id) ? .noContent : .notFound
    }
    router.get("changes") { _, _ in try changes(store) }
    return router
  }

  /// Each change as an event.
  private static func changes(_ store: NoteStore) throws -> Response {
    let changes = try store.changes()
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream"],
      body: ResponseBody { writer in
        try await writer.write(ByteBuffer(string: ": connected\n\n"))
        // The server waits for its streams when it is told to end.
        for await change in changes.cancelOnGracefulShutdown() {
          try await writer.write(ByteBuffer(string: event(change)))
        }
        try await writer.finish(nil)
      })
  }

  private static func event(_ change: NoteChange) throws -> String {
    switch change {
    case .changed(let note):
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .iso8601
      return
        "event: changed\ndata: \(String(decoding: try encoder.encode(note), as: UTF8.self))\n\n"
    case .removed(let id): return "event: removed\ndata: \"\(id)\"\n\n"
    }
  }
}

extension NoteView: ResponseCodable {}

/// Closes the database when the server is told to end.
struct DatabaseService: Service {
  let database: RealmDatabase

  func run() async throws {
    try? await gracefulShutdown()
    // Takes no new work, waits for writes that have begun, and ends the streams of changes.
    await database.close()
  }
}
