extension Realm {
  /// Opens the configuration's file, which migrates it when it has a lower schema version, and closes
  /// it.
  ///
  /// Stops when the file is open in this process.
  ///
  /// - Throws: what opening throws; the file is as it was then.
  public static func performMigration(
    for configuration: Realm.Configuration = .defaultConfiguration
  ) throws {
    guard !Coordinator.isOpen(configuration) else {
      fatalError("Cannot migrate Realms that are already open.")
    }
    _ = try Realm(configuration: configuration)
  }
}
