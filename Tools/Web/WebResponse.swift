import CambiumToolKit

/// What the page answers, whatever server it goes through.
public struct WebResponse: Sendable {
  /// What follows the headers.
  public enum Body: Sendable {
    /// All of it.
    case bytes([UInt8])
    /// Pieces that come as long as the client stays.
    case stream(AsyncStream<[UInt8]>)
  }

  /// The status of HTTP.
  public let status: Int
  /// All headers but the length.
  public let headers: [(name: String, value: String)]
  /// The body.
  public let body: Body

  init(status: Int = 200, type: String, _ body: Body) {
    self.status = status
    self.body = body
    headers = [("Content-Type", type)] + Self.guards
  }

  init(status: Int = 200, _ json: JSONValue) {
    self.init(status: status, type: "application/json", .bytes(Array(json.line.utf8)))
  }

  /// What browsers are told of every answer: nothing from elsewhere is loaded, run, or let in, and nothing is
  /// kept.
  private static let guards = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        + "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
  ]
}

/// Why a request is not answered as asked.
struct WebRefusal: Error {
  let status: Int
  let members: [JSONValue.Member]

  init(_ status: Int, _ text: String, _ more: [JSONValue.Member] = []) {
    self.status = status
    members = [JSONValue.Member("error", .string(text))] + more
  }

  var response: WebResponse { WebResponse(status: status, .object(members)) }
}
