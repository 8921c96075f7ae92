import Dispatch
import Foundation
import RealmSwift
import TestSupport
import Testing

/// The Swift samples of the documents that describe what is compatible here, as they stand there, in
/// language mode 5, in their order, each named after its heading.
///
/// Only model classes, assertions, and waiting for what happens later were added. They share the default
/// configuration of the process, as programs do, so that they run one after the other.
@Suite(.serialized) struct SeedSamples {
  /// Where the default Realm of a sample lies.
  enum Place: CaseIterable {
    case memory, file

    /// Gives the default Realm a place of its own, which stays as long as what is returned.
    func makeDefault() throws -> Home {
      let folder = try TemporaryFolder()
      let types = [Person.self, Dog.self, Email.self, Todo.self, Item.self]
      switch self {
      case .memory:
        Realm.Configuration.defaultConfiguration = Realm.Configuration(
          inMemoryIdentifier: "samples-\(UUID().uuidString)", objectTypes: types)
      case .file:
        Realm.Configuration.defaultConfiguration = Realm.Configuration(
          fileURL: URL(fileURLWithPath: folder.file("default.realm")), objectTypes: types)
      }
      return try Home(folder)
    }
  }

  /// Keeps the default Realm open, without which one in memory is empty again.
  final class Home {
    private let folder: TemporaryFolder
    private let queue = DispatchQueue(label: "home")
    private var realm: Realm?

    init(_ folder: TemporaryFolder) throws {
      self.folder = folder
      realm = try queue.sync { try Realm(configuration: .defaultConfiguration, queue: queue) }
    }

    deinit { queue.sync { realm = nil } }
  }

  /// Samples that do not run here, by their headings, with the reason.
  static let absent: [(heading: String, reason: String)] = [
    (
      "Open a synced Realm as an actor-isolated Realm",
      "needs a cloud account: `App`, `login`, `flexibleSyncConfiguration`, `QuerySubscription`"
    ),
    (
      "Run a transaction: catch … as NSError",
      "compiles; on Linux a Swift error cannot be cast to `NSError`, so that nothing is caught by it "
        + "(`catch let error as Realm.Error` is)"
    ),
    (
      "Use the @ThreadSafe wrapper, in language mode 6",
      "a wrapper cannot be written on what a concurrent closure captures, nor on a parameter of an "
        + "asynchronous function: `ThreadSafe(wrappedValue:)` does the same"
    ),
  ]
}

class Person: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var dogs: List<Dog>

  convenience init(name: String) {
    self.init()
    self.name = name
  }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Dog: Object {
  @Persisted var name: String
  @Persisted var age: Int

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Email: Object {
  @Persisted var read: Bool

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Todo: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var owner: String
  @Persisted var status: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The documents call it `Task`, which is another type where tasks are used.
class Item: Object {
  @Persisted var status: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What the samples were written with.
func XCTAssertEqual<Value: Equatable>(
  _ left: Value, _ right: Value, _ location: SourceLocation = #_sourceLocation
) {
  #expect(left == right, sourceLocation: location)
}
