import Cambium
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Section B6: opening that keeps nobody from other work.
@Suite struct AsyncOpeningTests {
  /// What happened, in order.
  private final class Course: Sendable {
    private let steps = Mutex<[String]>([])
    func note(_ step: String) { steps.withLock { $0.append(step) } }
    var noted: [String] { steps.withLock { $0 } }
  }

  private actor Home {
    private var realm: Realm?
    private(set) var hasBegun = false

    func open(_ configuration: Realm.Configuration) async throws {
      hasBegun = true
      realm = try await Realm.open(configuration: configuration)
    }

    var dogCount: Int? { realm?.objects(SpecDog.self).count }
    func ping() {}
  }

  private static func fileConfiguration(_ folder: TemporaryFolder) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("a.realm")),
      objectTypes: [SpecDog.self, SpecPerson.self])
  }

  /// A file with one dog.
  private static func filled(_ folder: TemporaryFolder) throws -> Realm.Configuration {
    let configuration = fileConfiguration(folder)
    try autoreleasepool {
      let realm = try Realm(configuration: configuration, queue: nil)
      try realm.write { realm.create(SpecDog.self) }
    }
    return configuration
  }

  /// A file whose classes have to be migrated, and what waits in its migration until `gate` is let
  /// through.
  private static func migrated(
    _ folder: TemporaryFolder, _ course: Course, begun: DispatchSemaphore, gate: DispatchSemaphore
  ) throws -> Realm.Configuration {
    var configuration = try filled(folder)
    configuration.schemaVersion = 1
    configuration.migrationBlock = { _, _ in
      course.note("migration")
      begun.signal()
      gate.wait()
      course.note("end of migration")
    }
    return configuration
  }

  /// A file, and what waits while it is opened until `gate` is let through.
  private static func slow(
    _ folder: TemporaryFolder, _ course: Course, begun: DispatchSemaphore, gate: DispatchSemaphore
  ) throws -> Realm.Configuration {
    var configuration = try filled(folder)
    configuration.shouldCompactOnLaunch = { _, _ in
      course.note("opening")
      begun.signal()
      gate.wait()
      course.note("end of opening")
      return false
    }
    return configuration
  }

  @Test func `an actor does other work while its file is migrated`() async throws {
    let (folder, course) = (try TemporaryFolder(), Course())
    let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let configuration = try Self.migrated(folder, course, begun: begun, gate: gate)
    let home = Home()
    let opening = Task { try await home.open(configuration) }
    await withCheckedContinuation { continuation in
      Thread {
        begun.wait()
        continuation.resume()
      }.start()
    }
    await home.ping()
    course.note("ping")
    gate.signal()
    try await opening.value
    #expect(course.noted == ["migration", "ping", "end of migration"])
    #expect(await home.dogCount == 1)
  }

  @Test func `an actor that opens a file does other work while that is opened for another one`()
    async throws
  {
    let (folder, course) = (try TemporaryFolder(), Course())
    let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let configuration = try Self.slow(folder, course, begun: begun, gate: gate)
    let (home, other) = (Home(), Home())
    let opening = Task { try await home.open(configuration) }
    await withCheckedContinuation { continuation in
      Thread {
        begun.wait()
        continuation.resume()
      }.start()
    }
    // An actor that is kept from its work would be so for ever.
    let rescue = Task.detached {
      try await Task.sleep(for: .seconds(60))
      gate.signal()
    }
    let alsoOpening = Task { try await other.open(configuration) }
    while await !other.hasBegun { await Task.yield() }
    course.note("ping")
    rescue.cancel()
    gate.signal()
    try await opening.value
    try await alsoOpening.value
    #expect(course.noted == ["opening", "ping", "end of opening"])
    #expect(await other.dogCount == 1)
  }

  @Test func `a long migration tells how far it is`() async throws {
    let folder = try TemporaryFolder()
    var configuration = Self.fileConfiguration(folder)
    try autoreleasepool {
      let realm = try Realm(configuration: configuration, queue: nil)
      try realm.write { for _ in 0..<10_000 { realm.create(SpecDog.self) } }
    }
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "SpecDog") { _, new in new?["name"] = "migrated" }
      migration.enumerateObjects(ofType: "SpecPerson") { _, _ in }
      migration.enumerateObjects(ofType: "Unknown") { _, _ in }
    }
    let course = Course()
    configuration.migrationProgress = { progress in
      course.note("\(progress.className) \(progress.completed) of \(progress.total)")
    }
    let home = Home()
    try await home.open(configuration)
    #expect(await home.dogCount == 10_000)
    #expect(
      course.noted == [
        "SpecDog 0 of 10000", "SpecDog 4096 of 10000", "SpecDog 8192 of 10000",
        "SpecDog 10000 of 10000", "SpecPerson 0 of 0",
      ])
  }

  @Test func `a task that is cancelled while its file is opened throws, and nothing stays open`()
    async throws
  {
    let (folder, course) = (try TemporaryFolder(), Course())
    let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let configuration = try Self.migrated(folder, course, begun: begun, gate: gate)
    let home = Home()
    let opening = Task { try await home.open(configuration) }
    await withCheckedContinuation { continuation in
      Thread {
        begun.wait()
        continuation.resume()
      }.start()
    }
    opening.cancel()
    gate.signal()
    await #expect(throws: CancellationError.self) { try await opening.value }
    #expect(await home.dogCount == nil)
    #expect(try Realm.deleteFiles(for: configuration))
  }

  @Test @MainActor func `the main actor has a Realm of its own, and asks for nothing to be loaded`()
    async throws
  {
    let configuration = specConfiguration()
    let realm = try await Realm(configuration: configuration)
    #expect(try await Realm(configuration: configuration, downloadBeforeOpen: .once) == realm)
    #expect(
      try await Realm.open(configuration: configuration, downloadBeforeOpen: .always) == realm)
    // Naming a queue selects the initializer that waits for nobody.
    #expect(try Realm(configuration: configuration, queue: nil) == realm)
  }

  @Test func `what stands against opening is thrown`() async throws {
    let folder = try TemporaryFolder()
    try Data("no database".utf8).write(to: URL(fileURLWithPath: folder.file("a.realm")))
    let configuration = Self.fileConfiguration(folder)
    await #expect(throws: Realm.Error.self) { try await Home().open(configuration) }
    let error = await withCheckedContinuation { continuation in
      Realm.asyncOpen(
        configuration: configuration, callbackQueue: DispatchQueue(label: "callback")
      ) { result in
        if case .failure(let error) = result { continuation.resume(returning: error) }
      }
    }
    #expect(error is Realm.Error)
  }

  @Test func `a callback gets a Realm of its queue, and many openings migrate once`() async throws {
    let (folder, course) = (try TemporaryFolder(), Course())
    let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let configuration = try Self.migrated(folder, course, begun: begun, gate: gate)
    gate.signal()
    await withTaskGroup(of: Int?.self) { group in
      for number in 0..<8 {
        group.addTask {
          await withCheckedContinuation { continuation in
            let queue = DispatchQueue(label: "callback \(number)")
            Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
              dispatchPrecondition(condition: .onQueue(queue))
              continuation.resume(returning: try? result.get().objects(SpecDog.self).count)
            }
          }
        }
      }
      for await count in group { #expect(count == 1) }
    }
    #expect(course.noted == ["migration", "end of migration"])
  }

  @Test func `a cancelled opening calls back once, with the system's error`() async throws {
    let (folder, course) = (try TemporaryFolder(), Course())
    let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let configuration = try Self.migrated(folder, course, begun: begun, gate: gate)
    let queue = DispatchQueue(label: "callback")
    let error = await withCheckedContinuation { continuation in
      let task = Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
        course.note("callback")
        if case .failure(let error) = result { continuation.resume(returning: error as NSError) }
      }
      task.cancel()
      task.cancel()
    }
    #expect(error.domain == NSPOSIXErrorDomain && error.code == Int(ECANCELED))
    #expect(error.localizedDescription.contains("Operation canceled"))
    gate.signal()
    // It runs to its end all the same: who comes next waits for it.
    let home = Home()
    try await home.open(configuration)
    #expect(await home.dogCount == 1)
    queue.sync {}
    #expect(course.noted.count { $0 == "callback" } == 1)
    #expect(course.noted.count { $0 == "migration" } == 1)
  }
}
