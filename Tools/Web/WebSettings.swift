import Foundation

/// What the page shows, and how: what `cambium serve` hands on to the server.
public struct WebSettings: Codable, Sendable {
  /// The store, as commands name it: a path, or a kind and a path.
  public var store: String
  /// The file with the key of an encrypted store.
  public var keyFile: String?
  /// Whether edits may be saved.
  public var isWritable: Bool
  /// The port on the loopback address; 0 for a free one.
  public var port: Int
  /// How long a request may read, in seconds.
  public var timeLimit: Double
  /// How many rows a request may have.
  public var rowLimit: Int
  /// Whether the address is printed as JSON.
  public var printsJSON: Bool

  /// Settings.
  public init(
    store: String, keyFile: String? = nil, isWritable: Bool = false, port: Int = 0,
    timeLimit: Double = 5, rowLimit: Int = 500, printsJSON: Bool = false
  ) {
    (self.store, self.keyFile, self.isWritable) = (store, keyFile, isWritable)
    (self.port, self.timeLimit, self.rowLimit) = (port, timeLimit, rowLimit)
    self.printsJSON = printsJSON
  }

  /// The settings as one argument of the server.
  public var argument: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
  }

  /// The settings in such an argument.
  public init(argument: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(argument.utf8))
  }
}
