/// A query that breaks a rule, with the text that the user sees.
///
/// Queries are code: programs that hold a wrong one stop with its description. A query that comes from
/// outside of the program is a ``TextQuery``, which throws it.
public struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, in one line.
  public let message: String
  /// The predicate's text and where in it the mistake is, in bytes of UTF-8; nil when the mistake
  /// shows only where the text meets a schema.
  private let place: Place?

  private struct Place: Hashable, Sendable {
    var text: String
    var offset: Int
  }

  package init(_ message: String) {
    self.message = message
    place = nil
  }

  package init(_ message: String, in text: String, at offset: Int) {
    self.message = message
    place = Place(text: text, offset: offset)
  }

  /// Where in the predicate's text the mistake is, in bytes of UTF-8.
  public var offset: Int? { place?.offset }

  /// The message; below it the text around the mistake, and a caret.
  public var description: String {
    guard let place else { return message }
    let excerptCount = 40
    let end = place.text.utf8.index(place.text.startIndex, offsetBy: place.offset)
    let before = place.text[..<end].suffix(excerptCount)
    let behind = place.text[end...].prefix(excerptCount)
    let line = String((before + behind).map { $0.isNewline || $0 == "\t" ? " " : $0 })
    return "\(message)\n  \(line)\n  \(String(repeating: " ", count: before.count))^"
  }

  /// Stops the program with the description.
  package func stop() -> Never { fatalError(description) }
}
