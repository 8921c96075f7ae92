import Cambium
import CambiumWeb
import Foundation
import TestSupport

class ServedPerson: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int
  @Persisted var team: String?
  @Persisted var friend: ServedPerson?
  @Persisted var friends: List<ServedPerson>
  @Persisted var home: ServedAddress?
  @Persisted var prices: Map<String, Double>
  @Persisted var note: AnyRealmValue
  @Persisted(originProperty: "friends") var admirers: LinkingObjects<ServedPerson>
}

class ServedAddress: EmbeddedObject {
  @Persisted var city: String
}

class ServedNote: Object {
  @Persisted var text: String
}

/// Classes of the same names that others have changed.
enum ChangedModels {
  class ServedNote: Object {
    @Persisted var title: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// A file with people, and the page that shows it.
final class ServedStore: Sendable {
  let folder: TemporaryFolder
  let path: String
  let service: WebService
  private let token: String

  static let port = 8000

  init(
    people: Int = 0, isWritable: Bool = true, timeLimit: Double = 60,
    _ fill: (Realm) throws -> Void = { _ in }
  ) async throws {
    folder = try TemporaryFolder()
    path = folder.file("people.cambium")
    try Self.fill(path, people, fill)
    service = try await WebService(
      WebSettings(store: path, isWritable: isWritable, timeLimit: timeLimit),
      sessionSeconds: 3_600
    ) { _ in }
    token = String(service.start(port: Self.port).split(separator: "#")[1])
  }

  private static func fill(
    _ path: String, _ people: Int, _ fill: (Realm) throws -> Void
  ) throws {
    let realm = try realm(path)
    try realm.write {
      for id in 0..<people {
        realm.create(
          ServedPerson.self, value: ["id": id, "name": "name \(id % 100)", "age": id % 90])
      }
      try fill(realm)
    }
  }

  static func realm(_ path: String) throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: path),
        objectTypes: [ServedPerson.self, ServedAddress.self, ServedNote.self]))
  }

  /// Lets `body` read, on the thread that calls.
  func read<Value>(_ body: (Realm) throws -> Value) throws -> Value { try body(Self.realm(path)) }

  /// Lets `body` write as another user of the file would.
  func write(_ body: (Realm) throws -> Void) throws {
    let realm = try Self.realm(path)
    try realm.write { try body(realm) }
  }

  struct Answer {
    var status: Int
    var json: [String: Any]
    var text: String

    var error: String { json["error"] as? String ?? "" }
    var rows: [[String: Any]] { json["rows"] as? [[String: Any]] ?? [] }
    /// The cells of a column, as texts.
    func column(_ name: String) -> [String?] {
      let index = (json["columns"] as? [String])?.firstIndex(of: name) ?? 0
      return rows.map { Self.text((($0["cells"] as? [Any])?[index])) }
    }

    /// The cell of a property of one object.
    func cell(_ name: String) -> String? {
      let properties = json["properties"] as? [[String: Any]] ?? []
      return Self.text(properties.first { $0["name"] as? String == name }?["cell"])
    }

    static func text(_ cell: Any?) -> String? {
      cell as? String ?? (cell as? [String: Any])?["text"] as? String
    }
  }

  var headers: [String: String] {
    ["host": "127.0.0.1:\(Self.port)", "authorization": "Bearer \(token)"]
  }

  func send(
    _ target: String, method: String = "GET", headers: [String: String?] = [:], body: String = ""
  ) async -> Answer {
    let headers = self.headers.merging(headers.compactMapValues { $0 }) { $1 }
      .filter { headers[$0.key] != .some(nil) }
    let response = await service.respond(
      to: WebRequest(method: method, target: target, headers: headers)
    ) { Array(body.utf8) }
    guard case .bytes(let bytes) = response.body else {
      return Answer(status: response.status, json: [:], text: "")
    }
    let json = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    return Answer(
      status: response.status, json: json ?? [:], text: String(decoding: bytes, as: UTF8.self))
  }

  /// Rows of people.
  func rows(_ parameters: KeyValuePairs<String, String> = [:]) async -> Answer {
    var target = "/api/rows?class=ServedPerson"
    for (name, value) in parameters {
      target +=
        "&\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
    return await send(target)
  }

  func save(_ edits: [[String: Any?]]) async throws -> Answer {
    let body = try JSONSerialization.data(
      withJSONObject: ["edits": edits.map { $0.mapValues { $0 ?? NSNull() } }])
    return await send("/api/save", method: "POST", body: String(decoding: body, as: UTF8.self))
  }
}
