import Cambium
import Foundation

/// The notes, for any task: what goes in and comes out is `Sendable`.
struct NoteStore: Sendable {
  let database: RealmDatabase

  init(path: String) async throws {
    database = try await RealmDatabase(
      Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Note.self]))
  }

  /// The newest notes that have a text in them.
  func notes(containing text: String?, limit: Int = 100) async throws -> [NoteView] {
    // A request that would take too long ends.
    try await database.read(timeout: .seconds(2)) { realm in
      var notes = realm.objects(Note.self)
      if let text { notes = notes.where { $0.text.contains(text, options: .caseInsensitive) } }
      return notes.sorted(by: \.changed, ascending: false).prefix(limit).map(NoteView.init)
    }
  }

  func note(_ id: UUID) async throws -> NoteView? {
    try await database.read { $0.object(ofType: Note.self, forPrimaryKey: id).map(NoteView.init) }
  }

  /// Makes a note, or changes the one that is there.
  func put(_ text: String, id: UUID) async throws -> NoteView {
    try await database.write { realm in
      let note = Note()
      (note.id, note.text, note.changed) = (id, text, Date())
      realm.add(note, update: .modified)
      return NoteView(note)
    }
  }

  /// Deletes a note; false when it was not there.
  func remove(_ id: UUID) async throws -> Bool {
    try await database.write { realm in
      guard let note = realm.object(ofType: Note.self, forPrimaryKey: id) else { return false }
      realm.delete(note)
      return true
    }
  }

  /// The notes that are changed from now on, by whatever process, and those that go.
  func changes() throws -> AsyncStream<NoteChange> {
    let changes = try database.changes()
    return AsyncStream { continuation in
      let follower = Task {
        // Ends when the database is closed.
        for try await change in changes {
          guard case .changes(_, let classes) = change, let touched = classes["Note"] else {
            continue
          }
          for case .uuid(let id) in touched.inserted.union(touched.modified) {
            if let note = try await note(id) { continuation.yield(.changed(note)) }
          }
          for case .uuid(let id) in touched.deleted { continuation.yield(.removed(id)) }
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in follower.cancel() }
    }
  }
}

/// What clients are told.
enum NoteChange: Sendable {
  case changed(NoteView)
  case removed(UUID)
}
