import Foundation
import TestSupport
import Testing

@testable import Cambium

/// What becomes of writes that share a transaction when the store fails.
@Suite struct GroupedWriteFaultWhiteBoxTests {
  private func failing(in folder: TemporaryFolder) async throws -> (GroupedWrites, StoreFaults) {
    let faults = StoreFaults()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: specTypes)
    configuration.store = Realm.Store.file.failing(by: faults)
    return (try await GroupedWrites(configuration), faults)
  }

  @Test func `when the transaction cannot be committed all throw the reason, and nothing is there`()
    async throws
  {
    let folder = try TemporaryFolder()
    let (writes, faults) = try await failing(in: folder)
    try await writes.together([GroupedWrites.add(1)])
    let errors = try await writes.together([
      GroupedWrites.add(2),
      { realm in
        realm.add(SpecPerson(3, "n"))
        throw Refusal()
      },
      { realm in
        realm.add(SpecPerson(4, "n"))
        faults.fail(.publishing, .mediumFull, times: 1)
      },
    ])
    #expect(errors[1] is Refusal)
    #expect(errors[0] is Realm.Error && errors[2] is Realm.Error)
    #expect(try writes.ids == [1])
    try await writes.together([GroupedWrites.add(5), GroupedWrites.add(6)])
    #expect(try writes.ids == [1, 5, 6])
    await writes.database.close()
  }

  @Test func `a medium that is full when pages are written ahead is told to all`() async throws {
    let folder = try TemporaryFolder()
    let (writes, faults) = try await failing(in: folder)
    try await writes.together([GroupedWrites.add(1)])
    let hasFailed = Shared<Bool?>(nil)
    let errors = try await writes.together([
      GroupedWrites.add(2),
      { realm in
        faults.fail(.writing, .mediumFull, times: 1)
        for id in 10..<60_000 { realm.add(SpecPerson(id, "\(UUID()) \(UUID())")) }
        hasFailed.value = realm.instance.session.map { session in
          (try? session.mark()) == nil
        }
      },
    ])
    #expect(hasFailed.value == true)
    #expect(errors.map { $0 is Realm.Error } == [true, true])
    faults.clear()
    #expect(try writes.ids == [1])
    try await writes.together([GroupedWrites.add(5), GroupedWrites.add(6)])
    #expect(try writes.ids == [1, 5, 6])
    #expect(try writes.findings == [])
    await writes.database.close()
  }

  @Test func `one that is larger than the file may be is undone alone`() async throws {
    let folder = try TemporaryFolder()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: specTypes)
    configuration.maximumFileSize = 4 << 20
    let writes = try await GroupedWrites(configuration)
    let errors = try await writes.together([
      GroupedWrites.add(1),
      { realm in
        for id in 10..<90_000 { realm.add(SpecPerson(id, "\(UUID()) \(UUID())")) }
      }, GroupedWrites.add(2),
    ])
    #expect(errors.map { ($0 as? Realm.Error)?.code } == [nil, .outOfDiskSpace, nil])
    #expect(try writes.ids == [1, 2])
    #expect(try writes.findings == [])
    await writes.database.close()
  }

  @Test func `an object of a transaction that failed is not what has its key later`() async throws {
    let folder = try TemporaryFolder()
    let (writes, faults) = try await failing(in: folder)
    let references = Shared<[Smuggled<ThreadSafeReference<SpecPerson>>]>([])
    try await writes.together([
      GroupedWrites.add(5),
      { realm in
        realm.add(SpecPerson(6, "n"))
        throw Refusal()
      },
      { realm in
        guard let person = realm.object(ofType: SpecPerson.self, forPrimaryKey: 5) else { return }
        let reference = Smuggled(value: ThreadSafeReference(to: person))
        references.change { $0.append(reference) }
        faults.fail(.publishing, .mediumFull, times: 1)
      },
    ])
    try await writes.together([GroupedWrites.add(5)])
    try await writes.database.write { realm in
      let found = references.value.map { realm.resolve($0.value) != nil }
      #expect(found == [false])
    }
    await writes.database.close()
  }
}
