import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Cambium

/// Reads that are given up: by their deadline, and by a cancelled task.
@Suite struct ReadTimeoutTests {
  class Jumper: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var height: Int
    @Persisted var name: String
    @Persisted var weight: Double
    @Persisted var born: Date
    @Persisted var price: Decimal128
    @Persisted(indexed: true) var team: Int
    @Persisted var friend: Jumper?
    @Persisted var friends: List<Jumper>
    @Persisted(originProperty: "friend") var followers: LinkingObjects<Jumper>
  }

  private typealias Work = @Sendable (Realm) -> String

  private static func low(_ realm: Realm) -> Results<Jumper> {
    realm.objects(Jumper.self).where { $0.height < 900 }
  }

  private static func text(_ jumpers: some Sequence<Jumper>) -> String {
    jumpers.reduce(into: "") { $0 += "\($1.id) " }
  }

  /// Everything that looks at many objects, with the answer as a text.
  private static let works: [(name: String, work: Work)] = [
    ("count", { "\(low($0).count)" }),
    ("isEmpty", { "\(low($0).isEmpty)" }),
    ("first", { "\(low($0).first!.id)" }),
    ("last", { "\(low($0).last!.id)" }),
    ("an element", { "\(low($0)[700].id)" }),
    ("a walk", { text($0.objects(Jumper.self)) }),
    ("a walk of a filter", { text(low($0)) }),
    ("a prefix", { text(low($0).prefix(300)) }),
    ("a text", { "\($0.objects(Jumper.self).where { $0.name.contains("7") }.count)" }),
    (
      "a subquery",
      { "\($0.objects(Jumper.self).where { ($0.friends.height > 500).count > 0 }.count)" }
    ),
    ("a link", { "\($0.objects(Jumper.self).where { $0.friend.height > 500 }.count)" }),
    ("an index", { "\($0.objects(Jumper.self).where { $0.team == 7 }.count)" }),
    ("links back", { "\($0.objects(Jumper.self).filter("followers.@count > 0").count)" }),
    ("a sort", { text($0.objects(Jumper.self).sorted(byKeyPath: "height")) }),
    ("a sort of few", { text($0.objects(Jumper.self).sorted(byKeyPath: "name").prefix(3)) }),
    ("a sort over links", { text($0.objects(Jumper.self).sorted(byKeyPath: "friend.name")) }),
    ("a sort of a filter", { text(low($0).sorted(byKeyPath: "born")) }),
    ("the first of a sort", { "\($0.objects(Jumper.self).sorted(byKeyPath: "born").first!.id)" }),
    ("distinct", { text($0.objects(Jumper.self).distinct(by: ["team"])) }),
    ("a sum", { "\(low($0).sum(of: \.height) as Int)" }),
    ("a sum of all", { "\($0.objects(Jumper.self).sum(of: \.weight) as Double)" }),
    ("a sum of decimals", { "\(low($0).sum(of: \.price) as Decimal128)" }),
    ("a minimum", { "\((low($0).min(of: \.weight) as Double?)!)" }),
    ("a latest date", { "\((low($0).max(of: \.born) as Date?)!.timeIntervalSince1970)" }),
    ("a mean", { "\((low($0).average(of: \.height) as Double?)!)" }),
    (
      "a filter of a list",
      {
        "\($0.object(ofType: Jumper.self, forPrimaryKey: 0)!.friends.where { $0.height > 10 }.count)"
      }
    ),
    (
      "the place of a match",
      { "\($0.objects(Jumper.self).index(matching: "height == 870") ?? -1)" }
    ),
    ("sections", { "\($0.objects(Jumper.self).sectioned(by: \.team).count)" }),
  ]

  private static func filled(
    _ configuration: Realm.Configuration, _ count: Int = 1_000
  ) async throws -> RealmDatabase {
    let database = try await RealmDatabase(configuration)
    try await database.write { realm in
      var last: Jumper?
      for id in 0..<count {
        let jumper = Jumper()
        (jumper.id, jumper.height, jumper.name) = (id, id * 7 % 1_000, "n\(id * 13 % 500)")
        (jumper.weight, jumper.price) = (Double(id % 90), Decimal128(value: id % 11))
        jumper.born = Date(timeIntervalSince1970: Double(id * 31 % 977))
        jumper.team = id % 40
        jumper.friend = last
        if let last { jumper.friends.append(last) }
        realm.add(jumper)
        if id % 3 == 0 { last = jumper }
      }
      let first = realm.object(ofType: Jumper.self, forPrimaryKey: 0)
      first?.friends.append(objectsIn: realm.objects(Jumper.self))
    }
    return database
  }

  private static func configuration() -> Realm.Configuration {
    Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Jumper.self])
  }

  @Test func `whichever check says so, work ends without a stop and the read tells it`()
    async throws
  {
    let database = try await Self.filled(Self.configuration())
    for (name, work) in Self.works {
      let expected = try await database.read { work($0) }
      var checks = 0
      while true {
        let asked = Mutex(0)
        let allowed = checks
        let interruption = Interruption(when: {
          asked.withLock {
            $0 += 1
            return $0 > allowed
          }
        })
        let result = Result { try database.read(timeout: .seconds(9), interruption) { work($0) } }
        if case .success(let value) = result {
          #expect(value == expected, "\(name) after \(checks) checks")
          break
        }
        #expect(throws: RealmDatabase.TimeoutError(timeout: .seconds(9)), "\(name)") {
          try result.get()
        }
        checks += 1
      }
      #expect(checks > 0, "\(name) is never asked")
    }
  }

  @Test func `what reads many leaves is asked at each of them`() async throws {
    let database = try await Self.filled(Self.configuration(), 20_000)
    for (name, work) in Self.works where !["isEmpty", "first", "an index"].contains(name) {
      let asked = Mutex(0)
      let interruption = Interruption(when: {
        asked.withLock { $0 += 1 }
        return false
      })
      _ = try database.read(timeout: nil, interruption) { work($0) }
      // A leaf has some thousand rows at most.
      #expect(asked.withLock { $0 } >= 5, "\(name)")
    }
  }

  @Test func `a timeout ends a read that would never end`() async throws {
    let database = try await Self.filled(specConfiguration([Jumper.self]))
    #expect {
      try database.read(timeout: .milliseconds(20)) { realm in
        while Self.low(realm).count > 0 {}
        return 1
      }
    } throws: { error in
      (error as? RealmDatabase.TimeoutError)?.timeout == .milliseconds(20)
        && "\(error)".contains("0.02 seconds")
    }
    await #expect(throws: RealmDatabase.TimeoutError.self) {
      try await database.read(timeout: .milliseconds(20)) { realm in
        while Self.text(realm.objects(Jumper.self)).hasSuffix("999 ") {}
        return 1
      }
    }
  }

  @Test func `what is done in time is returned, and reads go on after one that was not`()
    async throws
  {
    let database = try await Self.filled(Self.configuration())
    #expect(try await database.read(timeout: .seconds(600)) { Self.low($0).count } == 900)
    #expect(throws: RealmDatabase.TimeoutError.self) {
      try database.read(timeout: .zero) { Self.low($0).count }
    }
    #expect(try await database.read { Self.low($0).count } == 900)
    #expect(
      try await database.read(timeout: .seconds(600)) { Self.low($0).first?.id } == 0)
  }

  @Test func `what is known without looking is no matter of time`() async throws {
    let database = try await Self.filled(Self.configuration())
    let found = try await database.read(timeout: .zero) { realm in
      [
        realm.objects(Jumper.self).count,
        realm.object(ofType: Jumper.self, forPrimaryKey: 3)?.height ?? 0,
      ]
    }
    #expect(found == [1_000, 21])
  }

  private struct NotFound: Error {}

  @Test func `an error that a body throws for what it could not see gives way to the timeout`()
    async throws
  {
    let database = try await Self.filled(Self.configuration())
    #expect(throws: RealmDatabase.TimeoutError.self) {
      try database.read(timeout: .zero) { realm in
        if Self.low(realm).count == 0 { throw NotFound() }
      }
    }
    #expect(throws: NotFound.self) {
      try database.read(timeout: .zero) { _ in throw NotFound() }
    }
  }

  @Test func `reads that compute on every core keep no task from its turn`() async throws {
    let database = try await Self.filled(Self.configuration())
    let count = 2 * ProcessInfo.processInfo.activeProcessorCount
    let (begun, isOver) = (Shared(0), Shared(false))
    let reads = (0..<count).map { _ in
      Task {
        try await database.read { realm in
          begun.change { $0 += 1 }
          // Without a task that ends it, it ends by itself.
          let end = ContinuousClock.now + .seconds(60)
          while !isOver.value, .now < end { _ = Self.low(realm).count }
          return isOver.value
        }
      }
    }
    while begun.value < count { try await Task.sleep(for: .milliseconds(1)) }
    isOver.value = true
    for read in reads { #expect(try await read.value) }
  }

  @Test func `a cancelled task ends the read that it waits for`() async throws {
    let database = try await Self.filled(Self.configuration())
    let begun = AsyncStream<Void>.makeStream()
    let task = Task {
      try await database.read { realm in
        begun.continuation.yield()
        while Self.low(realm).count > 0 {}
        return 1
      }
    }
    var iterator = begun.stream.makeAsyncIterator()
    await iterator.next()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
