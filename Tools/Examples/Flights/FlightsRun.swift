import Cambium
import Foundation

/// The example's main job, step by step.
struct FlightsRun {
  let place: Place
  let folder: DataFolder
  let stopwatch: Stopwatch
  /// Whether to ask and delete nothing.
  let importOnly: Bool

  private var configuration: Realm.Configuration { place.configuration }
  private var path: String? { place.path }

  /// Runs everything; returns the last open Realm.
  func run() throws -> Realm {
    var memory: Realm?
    try withOpenRealm { realm in
      try stopwatch.time("import") {
        try Importer(realm: realm, folder: folder, progress: Progress()).run()
      }
      if !importOnly {
        Questions(realm: realm, stopwatch: stopwatch).ask()
        try deleteBesideAFrozenView(realm)
      }
      // A store in memory lives as long as somebody has it open.
      if path == nil { memory = realm }
    }
    let reopened = try stopwatch.time("compact and reopen") {
      try Realm(configuration: place.compacting)
    }
    if let path, configuration.store.kind == "file" {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      print("bytes after compaction: \(attributes[.size] ?? 0)")
    }
    print("\(importOnly ? "flights" : "after reopening"): \(reopened.objects(Flight.self).count)")
    withExtendedLifetime(memory) {}
    return reopened
  }

  private func withOpenRealm(_ body: (Realm) throws -> Void) throws {
    let realm = try stopwatch.time("open") { try Realm(configuration: configuration) }
    guard realm.isEmpty else {
      throw DataFolder.Failure(
        description: "'\(path ?? "memory")' already holds data; name a path where nothing is yet.")
    }
    try body(realm)
  }

  private func deleteBesideAFrozenView(_ realm: Realm) throws {
    let united = realm.objects(Flight.self).where { $0.airline.carrier == "UA" }
    let frozen = stopwatch.time("freeze") { united.freeze() }
    let job = DeletingJob(configuration: configuration)
    try stopwatch.time("delete on another thread") { try job.runOnAnotherThread() }
    print("frozen: \(frozen.count)")
    stopwatch.time("refresh") { _ = realm.refresh() }
    print("live: \(united.count)")
  }
}

/// Deletes all flights of United while the caller's thread looks at an older version.
///
/// Unchecked: the result is written before the semaphore is signalled and read after it was waited
/// for.
private final class DeletingJob: @unchecked Sendable {
  private let configuration: Realm.Configuration
  private var result: Result<Void, any Swift.Error> = .success(())

  init(configuration: Realm.Configuration) { self.configuration = configuration }

  func runOnAnotherThread() throws {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [self] in
      result = Result {
        let realm = try Realm(configuration: configuration)
        try realm.write {
          realm.delete(realm.objects(Flight.self).where { $0.airline.carrier == "UA" })
        }
      }
      done.signal()
    }
    done.wait()
    try result.get()
  }
}
