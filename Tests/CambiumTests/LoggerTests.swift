import Cambium
import Foundation
import Synchronization
import TestSupport
import Testing

/// Section B24: what is logged.
@Suite struct LoggerTests {
  init() { TemporaryFolder.prepareForChildren() }

  private final class Lines: Sendable {
    let lines = Mutex<[String]>([])
    func logger(_ level: LogLevel) -> Logger {
      Logger(level: level) { [self] level, message in
        lines.withLock { $0.append("\(level): \(message)") }
      }
    }
    var all: [String] { lines.withLock { $0 } }
  }

  // The logger is one for the whole process, in which other tests run.
  @Test func `openings, migrations, resets and compactions are told up to the level`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      #expect(Logger.shared.level == .info)
      let lines = Lines()
      Logger.shared = lines.logger(.info)
      let path = folder.file("logged.realm")
      var configuration = Realm.Configuration(
        fileURL: URL(filePath: path), objectTypes: [SpecDog.self, SpecPerson.self])
      func open() throws {
        try autoreleasepool {
          let realm = try Realm(configuration: configuration, queue: nil)
          try realm.write { realm.create(SpecDog.self) }
        }
      }
      try open()
      #expect(lines.all == [])
      configuration.schemaVersion = 1
      configuration.migrationBlock = { migration, _ in
        migration.enumerateObjects(ofType: "SpecDog") { _, _ in }
      }
      try open()
      #expect(
        lines.all == [
          "info: Migrating '\(path)' from schema version 0 to 1.",
          "info: The migration of '\(path)' has ended.",
        ])
      Logger.shared.level = .debug
      configuration.schemaVersion = 2
      try open()
      let steps = lines.all.dropFirst(2)
      #expect(steps.first == "debug: Opened '\(path)' (file, codec none).")
      #expect(steps.contains("detail: Migrating '\(path)': 2 of 2 SpecDog objects."))
      Logger.shared.level = .off
      configuration.schemaVersion = 3
      let count = lines.all.count
      try open()
      #expect(lines.all.count == count)

      Logger.shared = lines.logger(.all)
      configuration.schemaVersion = 0
      configuration.migrationBlock = nil
      configuration.deleteRealmIfMigrationNeeded = true
      configuration.shouldCompactOnLaunch = { _, _ in true }
      try open()
      let last = lines.all.dropFirst(count)
      #expect(last.contains("warn: Deleting the contents of '\(path)', which has other classes."))
      #expect(last.contains("info: Compacted '\(path)'."))

      try Data("garbage".utf8).write(to: URL(filePath: folder.file("garbage")))
      configuration.fileURL = URL(filePath: folder.file("garbage"))
      #expect(throws: Realm.Error.self) { try open() }
      #expect(
        lines.all.last?.hasPrefix("debug: '\(folder.file("garbage"))' was not opened: ") == true)
    }
  }
}
