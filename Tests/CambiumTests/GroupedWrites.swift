import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Cambium

final class GroupedNote: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: AnyRealmValue

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What blocks of a test throw.
struct Refusal: Error {}

/// A value that several tasks and threads use.
final class Shared<Value: Sendable>: Sendable {
  private let state: Mutex<Value>
  init(_ value: Value) { state = Mutex(value) }
  var value: Value {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
  func change(_ body: (inout Value) -> Void) { state.withLock { body(&$0) } }
}

/// Waits until `condition` holds.
func until(_ condition: () throws -> Bool) async throws {
  while try !condition() { try await Task.sleep(for: .milliseconds(1)) }
}

/// A database to which tasks write in groups.
struct GroupedWrites {
  typealias Block = @Sendable (Realm) throws -> Void

  static let types: [ObjectBase.Type] = specTypes + [GroupedNote.self]
  let database: RealmDatabase

  /// Opens it; groups go on as long as somebody waits.
  init(_ configuration: Realm.Configuration = specConfiguration()) async throws {
    database = try await RealmDatabase(configuration)
    database.writer.groupNanoseconds = .max
  }

  var version: UInt64 {
    get throws { UInt64(try database.statistics().newestVersion) }
  }

  var ids: [Int] {
    get throws { try database.read { $0.objects(SpecPerson.self).map(\.id).sorted() } }
  }

  var findings: [String] {
    get throws { try database.withDatabase { try $0.verify().findings.map { "\($0)" } } }
  }

  static func add(_ id: Int) -> Block {
    { $0.add(SpecPerson(id, "n", age: id)) }
  }

  func write(_ block: @escaping Block) async throws {
    try await database.write(allowGrouping: true, block)
  }

  /// Runs `blocks` one after the other in one transaction; what each of them throws.
  ///
  /// The first one is inside until all others wait.
  @discardableResult
  func together(_ blocks: [Block]) async throws -> [(any Error)?] {
    let errors = Shared([(any Error)?](repeating: nil, count: blocks.count))
    let isInside = Shared(false)
    let areWaiting = Shared(false)
    try await withThrowingTaskGroup { group in
      for (number, block) in blocks.enumerated() {
        group.addTask {
          do {
            try await write { realm in
              if number == 0 {
                isInside.value = true
                while !areWaiting.value { usleep(1000) }
              }
              try block(realm)
            }
          } catch {
            errors.change { $0[number] = error }
          }
        }
        // Each stands in the queue before the next one comes; when the first one cannot begin nobody waits.
        try await until {
          if number == 0 { return isInside.value || errors.value[0] != nil }
          return !isInside.value || database.writer.waitingWriteCount >= number
        }
      }
      areWaiting.value = true
      try await group.waitForAll()
    }
    return errors.value
  }
}
