import Cambium
import CambiumStoreContract
import Foundation
import TestSupport
import Testing

/// What a program sees of the faults that its tests ask for.
@Suite struct StoreFaultTests {
  private let folder: TemporaryFolder
  private let faults = StoreFaults()

  init() throws { folder = try TemporaryFolder() }

  private var configuration: Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: folder.url("dogs.realm"), objectTypes: specTypes)
    configuration.store = Realm.Store.file.failing(by: faults)
    return configuration
  }

  private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
    do { try body() } catch { return (error as? Realm.Error)?.code }
    return nil
  }

  @Test func `without faults the file is what it is without them`() throws {
    let expected = Set(StoreFaults.Operation.allCases)
    try autoreleasepool { _ = try Realm(configuration: configuration).addDogs("Ada") }
    #expect(expected.allSatisfy { faults.count(of: $0) > 0 })
    var plain = configuration
    plain.store = .file
    #expect(try Realm(configuration: plain).objects(SpecDog.self).map(\.name) == ["Ada"])
  }

  @Test(arguments: [
    (
      StoreFaults.Operation.beginning, StoreFaults.Fault.mediumFull, Realm.Error.Code.outOfDiskSpace
    ),
    (.writing, .mediumFull, .outOfDiskSpace), (.publishing, .mediumFull, .outOfDiskSpace),
    (.syncing, .mediumFull, .outOfDiskSpace), (.beginning, .broken, .fileAccess),
    (.writing, .broken, .fileAccess),
  ])
  func `a write that fails changes nothing, and the next one goes through`(
    operation: StoreFaults.Operation, fault: StoreFaults.Fault, expected: Realm.Error.Code
  ) throws {
    let realm = try Realm(configuration: configuration)
    try realm.addDogs("Ada")
    faults.fail(operation, fault, times: 1)
    #expect(code { try realm.addDogs("Bob") } == expected)
    #expect(realm.objects(SpecDog.self).map(\.name) == ["Ada"])
    try realm.addDogs("Cid")
    #expect(realm.objects(SpecDog.self).map(\.name) == ["Ada", "Cid"])
  }

  @Test(arguments: [StoreFaults.Operation.publishing, .syncing])
  func `after a commit that the medium refused nothing is written until all have closed`(
    operation: StoreFaults.Operation
  ) throws {
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.addDogs("Ada")
      faults.fail(operation, .broken)
      #expect(code { try realm.addDogs("Bob") } == .fileAccess)
      faults.clear()
      #expect(code { try realm.addDogs("Cid") } == .fileAccess)
      #expect(realm.objects(SpecDog.self).map(\.name) == ["Ada"])
    }
    let realm = try Realm(configuration: configuration)
    try realm.addDogs("Dan")
    #expect(realm.objects(SpecDog.self).map(\.name) == ["Ada", "Dan"])
  }

  @Test func `opening fails, and succeeds when it is tried again`() throws {
    faults.fail(.opening, .broken, times: 1)
    #expect(code { _ = try Realm(configuration: configuration) } == .fileAccess)
    #expect(try Realm(configuration: configuration).isEmpty)
  }

  @Test func `a fault comes after as many operations as was said`() throws {
    let realm = try Realm(configuration: configuration)
    faults.fail(.publishing, .mediumFull, after: 2, times: 2)
    let codes = ["A", "B", "C", "D", "E"].map { name in
      code { try realm.addDogs(name) }
    }
    #expect(codes == [nil, nil, .outOfDiskSpace, .outOfDiskSpace, nil])
    #expect(realm.objects(SpecDog.self).map(\.name) == ["A", "B", "E"])
  }

  @Test @MainActor func `a write that waits for nobody is told of the fault`() async throws {
    let realm = try await Realm(configuration: configuration)
    try await realm.asyncWrite { _ = realm.create(SpecDog.self, value: ["name": "Ada"]) }
    faults.fail(.beginning, .mediumFull, times: 1)
    await #expect(throws: Realm.Error.self) {
      try await realm.asyncWrite { _ = realm.create(SpecDog.self, value: ["name": "Bob"]) }
    }
    // Others see the change before it is durable; who waits for that is told that nobody knows.
    faults.fail(.syncing, .broken)
    await #expect(throws: Realm.Error.self) {
      try await realm.asyncWrite { _ = realm.create(SpecDog.self, value: ["name": "Cid"]) }
    }
    #expect(realm.objects(SpecDog.self).map(\.name).contains("Ada"))
    #expect(!realm.objects(SpecDog.self).map(\.name).contains("Bob"))
  }

  @Test func `a write is told of the fault also when its queue was long busy`() async throws {
    let queue = DispatchQueue(label: "busy")
    let error = await withCheckedContinuation { outcome in
      queue.async { [configuration, faults] in
        do {
          let realm = try Realm(configuration: configuration, queue: queue)
          let begun = faults.count(of: .beginning)
          faults.fail(.beginning, .mediumFull, times: 1)
          realm.writeAsync({ _ = realm.create(SpecDog.self, value: ["name": "Bob"]) }) {
            outcome.resume(returning: $0)
          }
          while faults.count(of: .beginning) == begun { Thread.sleep(forTimeInterval: 0.001) }
          // Longer than a turn waits for its queue.
          Thread.sleep(forTimeInterval: 0.5)
        } catch {
          outcome.resume(returning: error)
        }
      }
    }
    #expect((error as? Realm.Error)?.code == .outOfDiskSpace)
  }
}
