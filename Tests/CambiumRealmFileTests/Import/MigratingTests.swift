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
    let told = Told<Realm.ImportProgress>()
    var configuration = Self.configuration(place.path, migrates: true)
    configuration.importProgress = { told.add($0) }
    try autoreleasepool { expectDogs(try Realm(configuration: configuration)) }
    #expect(told.all.contains { $0.stage == .comparing && $0.completed == 2 && $0.total == 2 })
    #expect(try Imports.names(in: folder.url) == ["default.realm", "default.realm.before-import"])
    #expect(try Data(contentsOf: folder.url("default.realm.before-import")) == before)
    // What is there now is opened as always.
    expectDogs(try open(migrates: false))
  }

  @Test(arguments: [0o600, 0o640, 0o644])
  func `whoever could open the old file can open the new one, and nobody else`(rights: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: place.path)
    try autoreleasepool { expectDogs(try open()) }
    let now = try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions]
    #expect(now as? Int == rights)
  }

  @Test func `deleting the files of a Realm deletes what an import has left`() throws {
    for name in ["default.realm.import-draft", "default.realm.import-whole"] {
      try Imports.copy("tiny", to: folder.url(name))
    }
    try FileManager.default.removeItem(at: place)
    let configuration = Self.configuration(place.path, migrates: true)
    #expect(try Realm.deleteFiles(for: configuration))
    #expect(try Imports.names(in: folder.url) == [])
    #expect(try !Realm.deleteFiles(for: configuration))
  }

  @Test func `a file with the name of a finished import is not taken for one`() throws {
    try FileManager.default.removeItem(at: place)
    try Data("mine".utf8).write(to: folder.url("default.realm.import-whole"))
    let count = try autoreleasepool { try open().objects(Tiny.Dog.self).count }
    #expect(count == 0)
    #expect(
      try Imports.names(in: folder.url) == ["default.realm", "default.realm.import-whole"])
  }

  @Test func `the schema version of an old file is told before it is imported`() throws {
    #expect(try schemaVersionAtURL(place) == 2)
    #expect(try Imports.names(in: folder.url) == ["default.realm"])
  }

  @Test func `a pipe is an error at once`() throws {
    try FileManager.default.removeItem(at: place)
    try #require(mkfifo(place.path, 0o600) == 0)
    #expect(throws: Realm.Error.self) { try open() }
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

  @Test func `a seed that is an old file is imported where it was copied to`() throws {
    let seed = folder.url("seed.realm")
    try FileManager.default.moveItem(at: place, to: seed)
    let before = try Data(contentsOf: seed)
    var configuration = Self.configuration(place.path, migrates: true)
    configuration.seedFilePath = seed
    try autoreleasepool { expectDogs(try Realm(configuration: configuration)) }
    #expect(try Data(contentsOf: seed) == before)
    #expect(
      try Imports.names(in: folder.url)
        == ["default.realm", "default.realm.before-import", "seed.realm"])
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

  @MainActor
  @Test func `opening with await imports off the main thread`() async throws {
    let threads = Told<Bool>()
    var configuration = Self.configuration(place.path, migrates: true)
    configuration.importProgress = { _ in threads.add(Thread.isMainThread) }
    let realm = try await Realm.open(configuration: configuration)
    expectDogs(realm)
    #expect(!threads.all.isEmpty && !threads.all.contains(true))
  }

  @Test func `an actor opens an old file`() async throws {
    actor Kennel {
      func names(_ configuration: Realm.Configuration) async throws -> [String] {
        try await Realm(configuration: configuration, actor: self)
          .objects(Tiny.Dog.self).map(\.name)
      }
    }
    let names = try await Kennel().names(Self.configuration(place.path, migrates: true))
    #expect(names == ["Rex", "Bello"])
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
      // With another key, or none, nothing happens but that somebody is told what it may be.
      for key in [nil, Data(repeating: 9, count: 64)] {
        var other = configuration
        other.encryptionKey = key
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: other) }
        #expect(error?.code == .invalidDatabase)
        #expect(error?.localizedDescription.contains("If Realm has written it") == true)
      }
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
    // There is never a moment at which the place is empty.
    #expect(names.contains("default.realm"))
    switch step {
    case .begun: #expect(names == ["default.realm"])
    case .filled: #expect(names.contains("default.realm.import-draft"))
    case .whole: #expect(names.contains("default.realm.import-whole"))
    case .putAside: #expect(names.contains("default.realm.before-import"))
    case .named: #expect(names == ["default.realm", "default.realm.before-import"])
    }
    try autoreleasepool { expectDogs(try open(migrates: step != .named)) }
    #expect(try Data(contentsOf: folder.url("default.realm.before-import")) == before)
    #expect(
      try Imports.names(in: folder.url) == ["default.realm", "default.realm.before-import"])
  }

  @Test(arguments: RealmFileMigration.Step.allCases)
  func `behind a symbolic link the next opening makes good as well`(
    step: RealmFileMigration.Step
  ) async throws {
    let link = folder.url("link.realm")
    try FileManager.default.createSymbolicLink(
      atPath: link.path, withDestinationPath: "default.realm")
    await #expect(processExitsWith: .exitCode(9)) {
      [path = link.path as String, number = step.rawValue as Int] in
      try RealmFileMigration.$didReach.withValue({ if $0.rawValue == number { _exit(9) } }) {
        _ = try Realm(configuration: Self.configuration(path, migrates: true))
      }
    }
    try autoreleasepool {
      expectDogs(try Realm(configuration: Self.configuration(link.path, migrates: true)))
    }
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "default.realm")
    let names = try Imports.names(in: folder.url)
    #expect(names == ["default.realm", "default.realm.before-import", "link.realm"])
  }

  #if RocksDB
    @Test(arguments: RealmFileMigration.Step.allCases)
    func `a folder takes the place of an old file, also after a crash`(
      step: RealmFileMigration.Step
    ) async throws {
      await #expect(processExitsWith: .exitCode(9)) {
        [path = place.path as String, number = step.rawValue as Int] in
        try RealmFileMigration.$didReach.withValue({ if $0.rawValue == number { _exit(9) } }) {
          _ = try Realm(configuration: Self.rocks(path))
        }
      }
      try autoreleasepool { expectDogs(try Realm(configuration: Self.rocks(place.path))) }
      let names = try Imports.names(in: folder.url)
      #expect(names == ["default.realm", "default.realm.before-import"])
    }

    private static func rocks(_ path: String) throws -> Realm.Configuration {
      var configuration = try Realm.Configuration(location: "rocksdb:" + path)
      configuration.schemaVersion = 2
      configuration.objectTypes = Tiny.types
      configuration.migratesRealmFiles = true
      return configuration
    }
  #endif

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
    #expect(!names.contains { $0.contains("import-") })
  }
}

/// What was told, from any thread.
private final class Told<Value: Sendable>: @unchecked Sendable {
  // Guarded by the lock.
  private var values: [Value] = []
  private let lock = NSLock()

  var all: [Value] { lock.withLock { values } }

  func add(_ value: Value) { lock.withLock { values.append(value) } }
}
