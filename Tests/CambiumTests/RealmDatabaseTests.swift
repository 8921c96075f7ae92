import Cambium
import Foundation
import TestSupport
import Testing

@Suite struct RealmDatabaseTests {
  init() { TemporaryFolder.prepareForChildren() }

  private struct Refusal: Error {}

  @Test func `many tasks read and write`() async throws {
    let database = try await RealmDatabase(specConfiguration())
    try await withThrowingTaskGroup { group in
      for number in 0..<20 {
        group.addTask {
          try await database.write { realm in
            realm.add(SpecPerson(number, "n", age: number))
          }
          #expect(
            try await database.read {
              $0.object(ofType: SpecPerson.self, forPrimaryKey: number)?.age
            }
              == number)
        }
      }
      try await group.waitForAll()
    }
    #expect(try database.countPeople() == 20)
  }

  @Test func `statistics tell sizes and what is held, and nothing of a closed database`()
    async throws
  {
    let database = try await RealmDatabase(specConfiguration())
    let frozen = try database.snapshot { $0.freeze() }
    try await database.write { $0.add(SpecPerson(1, "n", age: 1)) }
    let statistics = try database.statistics()
    #expect(statistics.totalByteCount > 0)
    #expect(statistics.pinnedVersions.contains { $0 < statistics.newestVersion })
    withExtendedLifetime(frozen) {}
    await database.close()
    #expect(throws: Realm.Error.self) { try database.statistics() }
  }

  @Test func `other options than those that it is open with are said when it is opened`()
    async throws
  {
    let configuration = specConfiguration()
    let database = try await RealmDatabase(configuration)
    var other = configuration
    other.readOnly = true
    await #expect {
      _ = try await RealmDatabase(other)
    } throws: { $0.localizedDescription.contains("already opened with different read permissions") }
    await database.close()
  }

  @Test func `a write that throws changes nothing`() async throws {
    let database = try await RealmDatabase(specConfiguration())
    await #expect(throws: Refusal.self) {
      try await database.write { realm in
        realm.add(SpecPerson(1, "n", age: 1))
        throw Refusal()
      }
    }
    #expect(try database.countPeople() == 0)
  }

  @Test func `a write of a cancelled task does not run`() async throws {
    let database = try await RealmDatabase(specConfiguration())
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await database.write { $0.add(SpecPerson(1, "n", age: 1)) }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try database.countPeople() == 0)
  }

  @Test func `a snapshot's objects stay as they are, on any thread`() async throws {
    let database = try await RealmDatabase(specConfiguration())
    try await database.write { $0.add(SpecPerson(1, "before", age: 1)) }
    let person = try database.firstOfSnapshot()
    try await database.write { $0.objects(SpecPerson.self)[0].name = "after" }
    #expect(person?.name == "before")
    #expect(person?.isFrozen == true)
  }

  @Test func `closing waits for work, takes no more, and lets go of the file`() async throws {
    let folder = try TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("a.cambium")), objectTypes: specTypes)
    let database = try await RealmDatabase(configuration)
    let writes = Task {
      try await withThrowingTaskGroup { group in
        for number in 0..<8 {
          group.addTask {
            try await database.write { $0.add(SpecPerson(number, "n", age: 1)) }
          }
        }
        try await group.waitForAll()
      }
    }
    try await writes.value
    await database.close()
    #expect { try database.countPeople() } throws: { error in
      (error as? Realm.Error)?.code == .fail && "\(error)".contains("was closed")
    }
    #expect(try Realm.deleteFiles(for: configuration))
    await database.close()
  }

  @Test(arguments: ["kept for reading", "kept for writing", "nested", "only for reading"])
  func `misuse stops with a text`(what: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [what = what as String] in
      let database = try await RealmDatabase(specConfiguration())
      let kept = Kept()
      switch what {
      case "kept for reading":
        try database.keep(in: kept)
        _ = kept.realm?.objects(SpecPerson.self).count
      case "kept for writing":
        try await database.write { kept.realm = $0 }
        _ = kept.realm?.objects(SpecPerson.self).count
      case "only for reading":
        let folder = try TemporaryFolder()
        var configuration = Realm.Configuration(
          fileURL: folder.url("people.realm"), objectTypes: specTypes)
        await (try RealmDatabase(configuration)).close()
        configuration.readOnly = true
        try await RealmDatabase(configuration).write { $0.deleteAll() }
      default: try database.writeTwice()
      }
    }
    let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    let expected = [
      "kept for reading": "Cannot read from a frozen Realm which has been invalidated.",
      "kept for writing": "Realm accessed from incorrect thread.",
      "nested": "was begun inside of another one",
      "only for reading": "Can't perform transactions on read-only Realms.",
    ]
    #expect(text.contains(expected[what] ?? "?"), "\(text)")
  }
}

/// Carries a Realm where it must not go.
private final class Kept: @unchecked Sendable {
  // Unchecked: it is meant to be wrong.
  var realm: Realm?
}

// The synchronous forms, which asynchronous functions do not choose.
extension RealmDatabase {
  fileprivate func countPeople() throws -> Int { try read { $0.objects(SpecPerson.self).count } }

  fileprivate func firstOfSnapshot() throws -> SpecPerson? {
    try snapshot { $0.objects(SpecPerson.self).first }
  }

  fileprivate func keep(in kept: Kept) throws { try read { kept.realm = $0 } }

  fileprivate func writeTwice() throws {
    try write { _ in try write { $0.deleteAll() } }
  }
}
