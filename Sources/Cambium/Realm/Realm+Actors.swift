extension Realm {
  /// Opens a Realm for the actor in which the caller runs.
  ///
  /// It may be used there, whatever thread runs the actor, and nowhere else. On the main actor it is the
  /// Realm of the main thread.
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
    _isolation actor: isolated any Actor = #isolation
  ) async throws -> Realm {
    try await Realm(configuration: configuration, actor: actor)
  }

  /// Opens a Realm for `actor`, in which the caller must be.
  ///
  /// - Throws: `CancellationError` in a cancelled task; `Realm.Error` when the file cannot be opened, or
  ///   holds other classes than the program.
  public init<A: Actor>(
    configuration: Realm.Configuration = .defaultConfiguration, actor: isolated A
  ) async throws {
    try Task.checkCancellation()
    let isMain = actor === MainActor.shared
    instance = try RealmInstance.open(
      configuration, in: isMain ? MainContext.shared : ActorContext(actor))
  }
}
