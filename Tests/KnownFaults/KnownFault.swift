import Testing

/// A promise that the engine does not keep yet, with a proof that fails until it does.
///
/// Whoever finds a fault and does not cure it at once adds an entry; whoever cures it takes the entry
/// away and keeps its body as a test. A body uses no clock: it brings about the moment that matters by
/// stores, devices and threads that it watches itself.
struct KnownFault: Sendable, CustomTestStringConvertible {
  /// What goes wrong, in a sentence.
  let title: String
  /// What is promised, and where.
  let promise: String
  /// Which code breaks the promise.
  let place: String
  /// Records an issue, or throws, as long as the fault is there.
  let body: @Sendable () async throws -> Void

  init(
    _ title: String, promise: String, place: String,
    _ body: @escaping @Sendable () async throws -> Void
  ) {
    self.title = title
    self.promise = promise
    self.place = place
    self.body = body
  }

  var testDescription: String { title }

  /// All of them: one list for the whole project.
  static let all: [KnownFault] = core + objects

  /// Those of the engine and its stores.
  private static let core: [KnownFault] = []

  /// Those of the object layer.
  private static let objects: [KnownFault] = []
}
