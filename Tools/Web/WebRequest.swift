import Foundation

/// The head of a request, whatever server it came through.
public struct WebRequest: Sendable {
  /// No body may be longer, in bytes.
  public static let bodyLimit = 1 << 20
  /// No path with its parameters may be longer, in bytes.
  static let targetLimit = 28 << 10

  /// Such as `GET`.
  public let method: String
  /// The path with its parameters, as it was sent.
  public let target: String
  /// Headers by their names in small letters.
  public let headers: [String: String]

  /// A request; `headers` are `host`, `origin`, `authorization`, and `sec-fetch-site`, if it has them.
  public init(method: String, target: String, headers: [String: String]) {
    (self.method, self.target, self.headers) = (method, target, headers)
  }

  /// The path without parameters.
  var path: Substring { target.prefix { $0 != "?" } }

  /// The parameters by name; of equal names the last one.
  var parameters: [String: String] {
    var found: [String: String] = [:]
    for part in target.dropFirst(path.count + 1).split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(pair[0]), let value = Self.decoded(pair.last ?? "") else {
        continue
      }
      found[name] = pair.count == 2 ? value : ""
    }
    return found
  }

  private static func decoded(_ text: Substring) -> String? {
    text.replacing("+", with: " ").removingPercentEncoding
  }

  /// A body was longer than ``bodyLimit``.
  public struct BodyTooLarge: Error {
    /// What the server throws when it stops reading.
    public init() {}
  }
}
