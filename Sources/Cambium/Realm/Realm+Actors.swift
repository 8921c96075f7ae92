import Synchronization

extension Realm {
  /// Whether a synchronized Realm is brought up to date before it is opened; local ones always are.
  @frozen public enum OpenBehavior: Sendable {
    /// Opens what is there.
    case never
    /// Accepted, and the same as ``never`` for a local database.
    case always
    /// Accepted, and the same as ``never`` for a local database.
    case once
  }

  /// Opens a Realm for the main actor.
  ///
  /// The file is opened, compacted and migrated away from the main thread. In an asynchronous function
  /// `try Realm()` means this initializer and needs `await`; naming `queue:` selects the synchronous one.
  ///
  /// - Throws: `CancellationError` in a cancelled task; `Realm.Error` when the file cannot be opened, or
  ///   holds other classes than the program.
  @MainActor public init(
    configuration: Realm.Configuration = .defaultConfiguration,
    downloadBeforeOpen: Realm.OpenBehavior = .never
  ) async throws {
    try await self.init(
      configuration: configuration, actor: MainActor.shared, downloadBeforeOpen: downloadBeforeOpen)
  }

  /// Opens a Realm for the actor in which the caller runs.
  ///
  /// It may be used there, whatever thread runs the actor, and nowhere else. On the main actor it is the
  /// Realm of the main thread. The file is opened, compacted and migrated elsewhere; meanwhile the actor
  /// does other work.
  ///
  /// ```swift
  /// actor Kennel {
  ///   private var realm: Realm!
  ///   func open() async throws { realm = try await Realm.open() }
  /// }
  /// ```
  ///
  /// - Throws: `CancellationError` in a cancelled task; `Realm.Error` when the file cannot be opened, or
  ///   holds other classes than the program.
  public static func open(
    configuration: Realm.Configuration = .defaultConfiguration,
    _isolation actor: isolated any Actor = #isolation,
    downloadBeforeOpen: Realm.OpenBehavior = .never
  ) async throws -> Realm {
    try await Realm(
      configuration: configuration, actor: actor, downloadBeforeOpen: downloadBeforeOpen)
  }

  /// Opens a Realm for `actor`, in which the caller must be.
  ///
  /// The file is opened, compacted and migrated elsewhere; meanwhile the actor does other work.
  ///
  /// - Throws: `CancellationError` in a cancelled task; `Realm.Error` when the file cannot be opened, or
  ///   holds other classes than the program.
  public init<A: Actor>(
    configuration: Realm.Configuration = .defaultConfiguration, actor: isolated A,
    downloadBeforeOpen: Realm.OpenBehavior = .never
  ) async throws {
    try Task.checkCancellation()
    let isMain = actor === MainActor.shared
    let context: any RealmContext = isMain ? MainContext.shared : ActorContext(actor)
    if RealmInstance.isOpen(configuration, in: context) {
      instance = try RealmInstance.open(configuration, in: context)
      return
    }
    let database = try await BackgroundOpening.database(configuration)
    try Task.checkCancellation()
    instance = try RealmInstance.open(configuration, in: context)
    withExtendedLifetime(database) {}
  }
}

/// Opens databases where nobody is kept from other work by it.
enum BackgroundOpening {
  /// The configuration's database, with its classes in it.
  ///
  /// Each database is opened once: who comes meanwhile waits for that.
  static func database(_ configuration: Realm.Configuration) async throws -> OpenDatabase {
    let opening = Opening()
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      BlockingCalls.openings.run {
        continuation.resume(with: Result { try opening.open(configuration) })
      }
    }
    guard let database = opening.take() else { throw RLMError.callFailed }
    return database
  }

  /// Hands a database over so that the thread that has opened it has no part in it any more: whoever lets go of
  /// it last closes it, and wants to know when.
  private final class Opening: Sendable {
    private let database = Mutex<OpenDatabase?>(nil)

    func open(_ configuration: Realm.Configuration) throws {
      let opened = try RealmInstance.prepare(configuration)
      database.withLock { $0 = opened }
    }

    func take() -> OpenDatabase? { database.withLock { $0.take() } }
  }
}
