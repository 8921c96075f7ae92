import Cambium
import Foundation

/// A note, as it is kept.
final class Note: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var text: String
  @Persisted(indexed: true) var changed: Date
}

/// A note as clients see it: a value that may go anywhere.
struct NoteView: Codable, Sendable {
  var id: UUID
  var text: String
  var changed: Date

  init(_ note: Note) { (id, text, changed) = (note.id, note.text, note.changed) }
}

/// What clients send.
struct NoteText: Codable, Sendable {
  var text: String
}
