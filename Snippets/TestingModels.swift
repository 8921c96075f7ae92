// snippet.hide
import Cambium
import CambiumStoreContract
import Foundation
import Testing

// snippet.show
class Dog: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var age: Int
}

/// What is tested: it is told what to open.
struct Kennel {
  let configuration: Realm.Configuration

  func add(_ name: String, age: Int) throws {
    let realm = try Realm(configuration: configuration)
    try realm.write { _ = realm.create(Dog.self, value: ["name": name, "age": age]) }
  }
}

extension Realm.Configuration {
  /// A database in memory that no other test has.
  static var forTest: Realm.Configuration {
    Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Dog.self])
  }
}

@Suite struct KennelTests {
  @Test func `a dog is kept with its age`() throws {
    let configuration = Realm.Configuration.forTest
    let realm = try Realm(configuration: configuration)  // keeps the memory until the test ends
    try Kennel(configuration: configuration).add("Ada", age: 4)
    #expect(realm.objects(Dog.self).map(\.age) == [4])
  }
}
// snippet.next

/// Runs `body` with a folder of its own, which is removed afterwards.
func withFolder(_ body: (URL) throws -> Void) throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try body(folder)
}

@Suite struct FileTests {
  @Test func `a dog is there when the file is opened again`() throws {
    try withFolder { folder in
      let configuration = Realm.Configuration(
        fileURL: folder.appendingPathComponent("dogs.cambium"), objectTypes: [Dog.self])
      // The Realm of `add` goes when `add` returns, and the file is closed.
      try Kennel(configuration: configuration).add("Ada", age: 4)
      #expect(try Realm(configuration: configuration).objects(Dog.self).count == 1)
    }
  }
}
// snippet.next

/// The classes of version 1, which only the tests still have.
enum Version1 {
  class Person: Object {
    @Persisted var firstName: String
    @Persisted var lastName: String

    override class func _realmObjectName() -> String? { "Person" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  /// Makes the file that the repository keeps.
  static func write(to file: URL) throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, schemaVersion: 1, objectTypes: [Person.self]))
    try realm.write { _ = realm.create(Person.self, value: ["Ada", "Byron"]) }
    try realm.writeCopy(toFile: file)
  }
}
// snippet.next

/// The program's own class and configuration.
class Person: Object {
  @Persisted var fullName: String

  static func configuration(_ file: URL) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: file, schemaVersion: 2, objectTypes: [Person.self])
    configuration.migrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in
        guard let old, let new else { return }
        new.fullName = "\(old["firstName"] ?? "") \(old["lastName"] ?? "")"
      }
    }
    return configuration
  }
}

@Suite struct MigrationTests {
  @Test func `a file of version 1 keeps its names`() throws {
    try withFolder { folder in
      // snippet.hide
      let golden = folder.appendingPathComponent("people-1.cambium")
      try Version1.write(to: golden)
      // snippet.show
      var configuration = Person.configuration(folder.appendingPathComponent("people.cambium"))
      configuration.seedFilePath = golden  // copied: the file in the repository stays as it is
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Person.self).map(\.fullName) == ["Ada Byron"])
    }
  }
}
// snippet.next

@Suite struct ObserverTests {
  @MainActor @Test func `who follows the dogs is told of a new one`() async throws {
    let configuration = Realm.Configuration.forTest
    let realm = try await Realm(configuration: configuration)
    for try await change in realm.objects(Dog.self).changes {
      switch change {
      case .initial: try Kennel(configuration: configuration).add("Ada", age: 4)
      case .update(let dogs, _, let insertions, _):
        #expect(insertions.map { dogs[$0].name } == ["Ada"])
        return
      case .error(let error): throw error
      }
    }
  }

  @MainActor @Test func `an observer is told of a new dog`() async throws {
    let realm = try await Realm(configuration: .forTest)
    let (counts, told) = AsyncStream.makeStream(of: Int.self)
    let token = realm.objects(Dog.self).observe { change in
      switch change {
      case .initial(let dogs), .update(let dogs, _, _, _): told.yield(dogs.count)
      case .error: told.finish()
      }
    }
    var seen: [Int] = []
    for await count in counts {
      seen.append(count)
      if count == 1 { break }
      try realm.write { _ = realm.create(Dog.self, value: ["name": "Ada"]) }
    }
    #expect(seen == [0, 1])
    token.invalidate()
  }
}
// snippet.next

actor Pack {
  private let configuration: Realm.Configuration
  private var realm: Realm?

  init(_ configuration: Realm.Configuration) { self.configuration = configuration }

  func add(_ name: String) async throws {
    if realm == nil { realm = try await Realm.open(configuration: configuration) }
    try await realm?.asyncWrite { [realm] in
      _ = realm?.create(Dog.self, value: ["name": name])
    }
  }
}

@Suite struct ActorTests {
  @Test func `what one actor has written another one sees`() async throws {
    let configuration = Realm.Configuration.forTest
    let database = try await RealmDatabase(configuration)  // keeps the memory, and reads anywhere
    let packs = [Pack(configuration), Pack(configuration)]
    try await packs[0].add("Ada")
    try await packs[1].add("Rex")
    let names = try await database.read { realm in realm.objects(Dog.self).map(\.name).sorted() }
    #expect(names == ["Ada", "Rex"])
  }
}
// snippet.next

@Suite struct FullMediumTests {
  @Test func `a full medium loses nothing`() throws {
    let faults = StoreFaults()
    var configuration = Realm.Configuration.forTest
    configuration.store = Realm.Store.memory.failing(by: faults)
    let realm = try Realm(configuration: configuration)
    let kennel = Kennel(configuration: configuration)
    try kennel.add("Ada", age: 4)

    faults.fail(.writing, .mediumFull)
    let error = #expect(throws: Realm.Error.self) { try kennel.add("Rex", age: 2) }
    #expect(error?.code == .outOfDiskSpace)
    #expect(realm.objects(Dog.self).map(\.name) == ["Ada"])

    faults.clear()
    try kennel.add("Rex", age: 2)
    #expect(realm.objects(Dog.self).count == 2)
  }
}
// snippet.next

@Suite struct FailureTests {
  /// Adds a dog while operations fail, and looks what there is when the program is started anew.
  private func attempt(_ faults: StoreFaults) throws {
    try withFolder { folder in
      var configuration = Realm.Configuration(
        fileURL: folder.appendingPathComponent("dogs.cambium"), objectTypes: [Dog.self])
      configuration.store = Realm.Store.file.failing(by: faults)
      let isKept = (try? Kennel(configuration: configuration).add("Ada", age: 4)) != nil
      configuration.store = .file
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Dog.self).count == (isKept ? 1 : 0))
    }
  }

  @Test func `whichever operation fails, a dog that was not refused is there`() throws {
    let rehearsal = StoreFaults()
    try attempt(rehearsal)
    for operation in StoreFaults.Operation.allCases {
      for index in 0..<rehearsal.count(of: operation) {
        let faults = StoreFaults()
        faults.fail(operation, .broken, after: index, times: 1)
        try attempt(faults)
      }
    }
  }
}
// snippet.hide

let status: CInt = await Testing.__swiftPMEntryPoint()
print(status == 0 ? "passed" : "failed")
