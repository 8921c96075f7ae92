/// A query that breaks a rule, with the text that the user sees.
///
/// Queries are code: the public entry points stop with the message.
package struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }

  /// Stops the program with the message.
  package func stop() -> Never { fatalError(message) }
}
