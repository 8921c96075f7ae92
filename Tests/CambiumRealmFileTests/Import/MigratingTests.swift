import Cambium
import Foundation
import TestSupport
import Testing

/// Opening a path where a file of Realm lies.
@Suite struct MigratingTests {
  private let folder: TemporaryFolder
  private var place: URL { folder.url("default.realm") }

  init() throws {
    folder = try TemporaryFolder()
    TemporaryFolder.prepareForChildren()
    try Imports.copy("tiny", to: place)
  }

  private static func configuration(
    _ path: String, migrates: Bool, version: UInt64 = 2
  ) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), schemaVersion: version, objectTypes: Tiny.types)
    configuration.migratesRealmFiles = migrates
    return configuration
  }

  private func open(migrates: Bool = true) throws -> Realm {
    try Realm(configuration: Self.configuration(place.path, migrates: migrates))
  }

  private func expectDogs(_ realm: Realm) {
    let dogs = realm.objects(Tiny.Dog.self)
    #expect(dogs.map(\.name) == ["Rex", "Bello"])
    #expect(dogs.map(\.age) == [7, nil])
  }

  @Test func `an old file is refused with the name of the call, and stays`() throws {
    let before = try Data(contentsOf: place)
    let error = #expect(throws: Realm.Error.self) { try open(migrates: false) }
    #expect(error?.code == .fileFormatUpgradeRequired)
    let text = error?.localizedDescription ?? ""
    for part in ["importRealmFile(at:encryptionKey:into:)", "migratesRealmFiles", place.path] {
      #expect(text.contains(part))
    }
    #expect(try Data(contentsOf: place) == before)
    #expect(try Imports.names(in: folder.url) == ["default.realm"])
  }

  @Test func `an old file is imported, and kept under another name`() throws {
    let before = try Data(contentsOf: place)
    let told = ToldProgress()
    var configuration = Self.configuration(place.path, migrates: true)
    configuration.importProgress = { told.add($0) }
    try autoreleasepool { expectDogs(try Realm(configuration: configuration)) }
    #expect(told.all.contains { $0.stage == .comparing && $0.completed == 2 && $0.total == 2 })
    #expect(try Imports.names(in: folder.url) == ["default.realm", "default.realm.before-import"])
    #expect(try Data(contentsOf: folder.url("default.realm.before-import")) == before)
    // What is there now is opened as always.
    expectDogs(try open(migrates: false))
  }

  @Test func `what Realm has left beside its file stands in nobody's way`() throws {
    try Data(repeating: 7, count: 1200).write(to: folder.url("default.realm.lock"))
    try FileManager.default.createDirectory(
      at: folder.url("default.realm.management"), withIntermediateDirectories: false)
    try autoreleasepool {
      let realm = try open()
      expectDogs(realm)
      try realm.write { realm.create(Tiny.Dog.self, value: ["name": "Max"]) }
    }
    let realm = try open()
    #expect(realm.objects(Tiny.Dog.self).count == 3)
  }

  @Test func `a second old file does not replace the first that was put aside`() throws {
    try autoreleasepool { expectDogs(try open()) }
    try FileManager.default.removeItem(at: place)
    try Imports.copy("tiny", to: place)
    try autoreleasepool { expectDogs(try open()) }
    let names = try Imports.names(in: folder.url)
    #expect(names.filter { $0.contains("before-import") }.count == 2)
  }

  @Test func `a symbolic link stays one`() throws {
    let link = folder.url("link.realm")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place)
    try autoreleasepool {
      expectDogs(
        try Realm(configuration: Self.configuration(link.path, migrates: true)))
    }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == place.path)
    #expect(
      try Imports.names(in: folder.url)
        == ["default.realm", "default.realm.before-import", "link.realm"])
  }

  @Test func `a configuration that only reads refuses`() throws {
    var configuration = Self.configuration(place.path, migrates: true)
    configuration.readOnly = true
    let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    #expect(error?.code == .fileFormatUpgradeRequired)
    #expect(error?.localizedDescription.contains("for writing") == true)
    #expect(try Imports.names(in: folder.url) == ["default.realm"])
  }

  @Test func `a damaged old file stays where it is`() throws {
    var bytes = [UInt8](try Data(contentsOf: place))
    bytes[0x148 + 5] = 0xFF
    try Data(bytes).write(to: place)
    let error = #expect(throws: Realm.Error.self) { try open() }
    #expect(error?.code == .invalidDatabase)
    #expect(try Imports.names(in: folder.url) == ["default.realm"])
    #expect(try Data(contentsOf: place) == Data(bytes))
  }

  @Test func `the program's migration runs in the same opening`() throws {
    var configuration = Self.configuration(place.path, migrates: true, version: 5)
    configuration.migrationBlock = { migration, version in
      #expect(version == 2)
      migration.enumerateObjects(ofType: "Dog") { _, new in new?["age"] = 1 }
    }
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Tiny.Dog.self).map(\.age) == [1, 1])
  }

  #if Crypto
    @Test func `an encrypted old file becomes an encrypted new one, with the same key`() throws {
      let secret = folder.url("secret.realm")
      try Imports.copy("encrypted", to: secret)
      var configuration = Imports.configuration(
        secret, "encrypted", schemaVersion: try ExpectedContent("encrypted").schemaVersion ?? 0,
        Secrets.types)
      let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
      #expect(error?.code == .fileFormatUpgradeRequired)
      configuration.migratesRealmFiles = true
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Secrets.Secret.self).count == 720)
      }
      let bytes = try Data(contentsOf: secret)
      #expect(bytes.range(of: Data("Secret".utf8)) == nil)
      configuration.encryptionKey = Data(repeating: 1, count: 64)
      #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    }
  #endif

  // MARK: Crashes

  @Test(arguments: RealmFileMigration.Step.allCases)
  func `the next opening makes good for who was stopped at a step`(
    step: RealmFileMigration.Step
  ) async throws {
    let before = try Data(contentsOf: place)
    await #expect(processExitsWith: .exitCode(9)) {
      [path = place.path as String, number = step.rawValue as Int] in
      try RealmFileMigration.$didReach.withValue({ if $0.rawValue == number { _exit(9) } }) {
        _ = try Realm(configuration: Self.configuration(path, migrates: true))
      }
    }
    let names = try Imports.names(in: folder.url)
    switch step {
    case .begun: #expect(names == ["default.realm"])
    case .filled:
      #expect(names.contains("default.realm.importing") && names.contains("default.realm"))
    case .whole:
      #expect(names.contains("default.realm.imported") && names.contains("default.realm"))
    case .putAside:
      #expect(names.contains("default.realm.imported") && !names.contains("default.realm"))
    case .named: #expect(names.contains("default.realm"))
    }
    // Who does not want an import gets it finished when the old file is gone from its place already.
    let isDone = step == .putAside || step == .named
    try autoreleasepool { expectDogs(try open(migrates: !isDone)) }
    #expect(try Data(contentsOf: folder.url("default.realm.before-import")) == before)
    #expect(
      try Imports.names(in: folder.url) == ["default.realm", "default.realm.before-import"])
  }

  @Test func `several processes that open an old file at once get the same database`() async throws
  {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { [path = place.path] in
          await #expect(processExitsWith: .success) { [path = path as String] in
            let realm = try Realm(configuration: Self.configuration(path, migrates: true))
            try realm.write {
              try #require(realm.objects(Tiny.Dog.self).count >= 2)
              realm.create(Tiny.Dog.self, value: ["name": "Max"])
            }
          }
        }
      }
    }
    #expect(try open(migrates: false).objects(Tiny.Dog.self).count == 6)
    let names = try Imports.names(in: folder.url)
    #expect(names.filter { $0.contains("before-import") }.count == 1)
    #expect(!names.contains { $0.contains("imported") || $0.contains("importing") })
  }
}

/// Progress that was told, from any thread.
private final class ToldProgress: @unchecked Sendable {
  // Guarded by the lock.
  private var values: [Realm.ImportProgress] = []
  private let lock = NSLock()

  var all: [Realm.ImportProgress] { lock.withLock { values } }

  func add(_ progress: Realm.ImportProgress) { lock.withLock { values.append(progress) } }
}
