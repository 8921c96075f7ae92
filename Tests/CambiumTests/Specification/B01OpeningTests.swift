import Cambium
import Foundation
import TestSupport
import Testing

/// Sections A2, A3, B1 and B24: configurations, opening, errors, files.
@Suite struct B01OpeningTests {
  @Test func `a configuration has the documented defaults`() {
    let configuration = Realm.Configuration()
    #expect(configuration.fileURL?.lastPathComponent == "default.realm")
    #expect(configuration.inMemoryIdentifier == nil)
    #expect(configuration.encryptionKey == nil)
    #expect(!configuration.readOnly)
    #expect(configuration.schemaVersion == 0)
    #expect(!configuration.deleteRealmIfMigrationNeeded)
    #expect(configuration.objectTypes == nil)
  }

  @Test func `a path and an identifier clear one another`() {
    var configuration = Realm.Configuration(inMemoryIdentifier: "name")
    #expect(configuration.fileURL == nil)
    configuration.fileURL = URL(fileURLWithPath: "/tmp/x.realm")
    #expect(configuration.inMemoryIdentifier == nil)
    configuration.inMemoryIdentifier = "other"
    #expect(configuration.fileURL == nil)
    #expect(configuration.inMemoryIdentifier == "other")
  }

  @Test func `configurations compare path, identifier, key, read-only flag and version`() {
    let url = URL(fileURLWithPath: "/tmp/x.realm")
    let base = Realm.Configuration(fileURL: url)
    #expect(base == Realm.Configuration(fileURL: url, objectTypes: [SpecDog.self]))
    #expect(base == Realm.Configuration(fileURL: url, deleteRealmIfMigrationNeeded: true))
    #expect(base != Realm.Configuration(fileURL: url, readOnly: true))
    #expect(base != Realm.Configuration(fileURL: url, schemaVersion: 1))
    #expect(base != Realm.Configuration(inMemoryIdentifier: "x"))
    #expect(!base.description.isEmpty)
  }

  @Test func `a Realm knows its configuration and schema`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    #expect(realm.configuration == configuration)
    #expect(realm.schema["SpecPerson"]?.primaryKeyProperty?.name == "id")
    #expect(realm.schema["Nobody"] == nil)
    #expect(realm.isEmpty)
    #expect(!realm.isInWriteTransaction)
    #expect(!realm.isFrozen)
    #expect(realm.autorefresh)
  }

  @Test func `a file keeps its objects from one opening to the next`() throws {
    let folder = try TemporaryFolder()
    let configuration = specFile(folder)
    #expect(!Realm.fileExists(for: configuration))
    do {
      let realm = try Realm(configuration: configuration)
      try realm.addDogs("Ben", "Lita")
    }
    #expect(Realm.fileExists(for: configuration))
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(SpecDog.self).map(\.name).sorted() == ["Ben", "Lita"])
  }

  @Test func `content in memory is shared by identifier and ends with its last user`() throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "spec-\(UUID())", objectTypes: specTypes)
    do {
      let realm = try Realm(configuration: configuration)
      try realm.addDogs("Ben")
      #expect(try Realm(configuration: configuration).objects(SpecDog.self).count == 1)
    }
    #expect(try Realm(configuration: configuration).isEmpty)
  }

  @Test func `a frozen Realm keeps content in memory alive`() throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "spec-\(UUID())", objectTypes: specTypes)
    var frozen: Realm?
    do {
      let realm = try Realm(configuration: configuration)
      try realm.addDogs("Ben")
      frozen = realm.freeze()
    }
    #expect(frozen?.objects(SpecDog.self).count == 1)
    #expect(try Realm(configuration: configuration).objects(SpecDog.self).count == 1)
  }

  @Test func `reading only needs an existing file`() throws {
    let folder = try TemporaryFolder()
    var configuration = specFile(folder)
    configuration.readOnly = true
    let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    #expect(error?.code == .fileNotFound)
    #expect(error?.fileURL?.path == configuration.fileURL?.path)
    #expect(error?.localizedDescription.contains("No such file or directory") == true)
    #expect(!Realm.fileExists(for: configuration))
  }

  @Test func `a file that is only read gives its objects`() throws {
    let folder = try TemporaryFolder()
    var configuration = specFile(folder)
    do { try Realm(configuration: configuration).addDogs("Ben") }
    configuration.readOnly = true
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(SpecDog.self).first?.name == "Ben")
    #expect(realm.objects(SpecDog.self).where { $0.name == "Ben" }.count == 1)
    #expect(realm.freeze().objects(SpecDog.self).count == 1)
  }

  @Test func `a class that a file lacks is an empty one when it is only read`() throws {
    let folder = try TemporaryFolder()
    do { try Realm(configuration: specFile(folder, [SpecDogLike.self])).write {} }
    var configuration = specFile(folder, [SpecDogLike.self, SpecTextKey.self])
    configuration.readOnly = true
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(SpecTextKey.self).isEmpty)
    #expect(realm.object(ofType: SpecTextKey.self, forPrimaryKey: "a") == nil)
  }

  @Test func `reading only needs the same schema version`() throws {
    let folder = try TemporaryFolder()
    do { _ = try Realm(configuration: specFile(folder)) }
    var configuration = specFile(folder)
    configuration.readOnly = true
    configuration.schemaVersion = 3
    let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    #expect(
      error?.localizedDescription.contains(
        "Provided schema version 3 does not equal last set version 0.") == true)
  }

  @Test func `a missing folder, a folder as file and a foreign file are told apart`() throws {
    let folder = try TemporaryFolder()
    func failure(_ path: String) -> Realm.Error? {
      #expect(throws: Realm.Error.self) {
        try Realm(
          configuration: Realm.Configuration(
            fileURL: URL(fileURLWithPath: path), objectTypes: [SpecDogLike.self]))
      }
    }
    let missing = failure(folder.file("no/such/folder.realm"))
    #expect(missing?.code == .fileNotFound)
    #expect(missing?.localizedDescription.contains("parent path is not a directory") == true)
    #expect(failure(folder.path) != nil)
    let foreign = folder.file("foreign.realm")
    try Data(repeating: 65, count: 100_000).write(to: URL(fileURLWithPath: foreign))
    #expect(failure(foreign)?.code == .invalidDatabase)
    #expect(failure(foreign)?.localizedDescription.contains(foreign) == true)
    let short = folder.file("short.realm")
    try Data([1]).write(to: URL(fileURLWithPath: short))
    #expect(failure(short)?.code == .invalidDatabase)
    #expect(try Data(contentsOf: URL(fileURLWithPath: short)) == Data([1]))
  }

  @Test func `an empty file is a new one`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("spec.realm")
    try Data().write(to: URL(fileURLWithPath: path))
    let configuration = SampledStore.plain.configuration(path, specTypes)
    #expect(try Realm(configuration: configuration).isEmpty)
  }

  @Test func `files are deleted only while nobody has them open`() throws {
    let folder = try TemporaryFolder()
    let configuration = specFile(folder)
    #expect(try !Realm.deleteFiles(for: configuration))
    do {
      let realm = try Realm(configuration: configuration)
      let error = #expect(throws: Realm.Error.self) {
        try Realm.deleteFiles(for: configuration)
      }
      #expect(error?.code == .alreadyOpen)
      #expect(error?.localizedDescription.contains("is still in use.") == true)
      #expect(realm.isEmpty)
    }
    #expect(try Realm.deleteFiles(for: configuration))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func `conflicting options of another context are thrown`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let code = try onAnotherThread {
      var other = configuration
      other.schemaVersion = 2
      do {
        _ = try Realm(configuration: other)
        return Realm.Error.Code?.none
      } catch let error as Realm.Error {
        #expect(
          error.localizedDescription.contains("already opened with different schema version"))
        return error.code
      }
    }
    #expect(code == .fail)
    #expect(realm.isEmpty)
  }

  @Test func `errors are matched by code and bridge to NSError`() throws {
    let folder = try TemporaryFolder()
    var configuration = specFile(folder)
    configuration.readOnly = true
    do {
      _ = try Realm(configuration: configuration)
      Issue.record("opened")
    } catch Realm.Error.fileNotFound {
    } catch { Issue.record(error) }
    do {
      _ = try Realm(configuration: configuration)
    } catch {
      // What becomes of the error as an NSError; the cast itself needs an Apple platform.
      #expect(error._domain == "io.realm" && error._code == 5)
      #expect(error.localizedDescription.contains("No such file or directory"))
      let entries = (error as? any CustomNSError)?.errorUserInfo ?? [:]
      #expect(entries[NSFilePathErrorKey] as? String == configuration.fileURL?.path)
      #expect(!(error == CocoaError(.fileNoSuchFile) as any Swift.Error))
    }
    let made = Realm.Error(.fail, userInfo: [NSLocalizedDescriptionKey: "text"])
    #expect(made.localizedDescription == "text")
    #expect(made.errorCode == 1)
    #expect(Realm.Error.errorDomain == "io.realm")
    #expect(Realm.Error.callFailed.code == .fail)
    #expect(Realm.Error.callFailed.localizedDescription == "Call failed")
    let anyError: any Swift.Error = made
    #expect(anyError == Realm.Error.callFailed as any Swift.Error)
    #expect(Realm.Error(.fileAccess) != made)
  }

  @Test func `error codes have the documented numbers`() {
    let expected: [(Realm.Error.Code, Int)] = [
      (.fail, 1), (.fileAccess, 2), (.filePermissionDenied, 3), (.fileExists, 4),
      (.fileNotFound, 5), (.fileFormatUpgradeRequired, 6), (.incompatibleLockFile, 8),
      (.addressSpaceExhausted, 9), (.schemaMismatch, 10), (.alreadyOpen, 12),
      (.invalidInput, 13), (.outOfDiskSpace, 14), (.unsupportedFileFormatVersion, 16),
      (.fileOperationFailed, 19), (.invalidDatabase, 20), (.incompatibleHistories, 21),
    ]
    for (code, number) in expected { #expect(code.rawValue == number) }
  }

  @Test func `the file URL initializer opens that file with the default configuration`() throws {
    let folder = try TemporaryFolder()
    let url = URL(fileURLWithPath: folder.file("by-url.realm"))
    let realm = try Realm(fileURL: url)
    #expect(realm.configuration.fileURL?.path == url.path)
    #expect(realm.configuration.inMemoryIdentifier == nil)
  }

  @Test func `a schema version that is lower than the file's is refused`() throws {
    let folder = try TemporaryFolder()
    var configuration = specFile(folder)
    configuration.schemaVersion = 4
    do { _ = try Realm(configuration: configuration) }
    configuration.schemaVersion = 2
    let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    #expect(error?.code == .fail)
    #expect(
      error?.localizedDescription.contains(
        "Provided schema version 2 is less than last set version 4.") == true)
  }

  @Test func `a path through a file is a missing folder`() throws {
    let folder = try TemporaryFolder()
    let seed = SampledStore.plain.configuration(folder.file("seed.realm"), specTypes)
    do { _ = try Realm(configuration: seed) }
    for store in SampledStore.all where store.isPersistent {
      var configuration = store.configuration(folder.file("seed.realm/behind.realm"), specTypes)
      var codes = [Realm.Error.Code?]()
      for seedPath in [nil, seed.fileURL] {
        configuration.seedFilePath = seedPath
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        codes.append(error?.code)
        #expect(error?.localizedDescription.contains("parent path is not a directory") == true)
      }
      #expect(codes == [.fileNotFound, .fileNotFound], "\(store)")
      configuration.seedFilePath = nil
      configuration.readOnly = true
      let reading = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
      #expect(reading?.code == .fileNotFound, "\(store)")
    }
  }

  @Test func `a schema version needs a file`() throws {
    let folder = try TemporaryFolder()
    try Data("text".utf8).write(to: URL(fileURLWithPath: folder.file("plain")))
    for path in ["missing.realm", "no/folder.realm", "plain/behind.realm"] {
      for key in [nil, Data(repeating: 1, count: 64)] {
        let error = #expect(throws: Realm.Error.self, "\(path)") {
          try schemaVersionAtURL(URL(fileURLWithPath: folder.file(path)), encryptionKey: key)
        }
        #expect(error?.code == .fileNotFound, "\(path)")
      }
      for store in SampledStore.all where store.isPersistent {
        let configuration = store.configuration(folder.file(path), [])
        let error = #expect(throws: Realm.Error.self) {
          try Realm.schemaVersion(for: configuration)
        }
        #expect(error?.code == .fileNotFound, "\(path) \(store)")
      }
    }
  }
}
