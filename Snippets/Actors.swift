// snippet.hide
import Cambium

Realm.Configuration.defaultConfiguration = Realm.Configuration(inMemoryIdentifier: "actors")

class Dog: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var age: Int
}

// snippet.show
actor Kennel {
  private var realm: Realm!
  init() async throws { realm = try await Realm(actor: self) }

  func add(_ name: String) async throws {  // returns when it is durable; blocks no thread
    try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": name]) }
  }
}

let dogs = try await Realm.open().objects(Dog.self)
let token = dogs.observe { change in  // on the main actor, as of the version that is seen there
  if case .update(let dogs, _, let insertions, _) = change {
    print("new:", insertions.map { dogs[$0].name })
  }
}
// snippet.hide
let (told, tell) = AsyncStream.makeStream(of: Void.self)
let last = dogs.observe { _ in tell.yield() }
@MainActor func waitForChange() async { for await _ in told { return } }
await waitForChange()
// snippet.show
try await Kennel().add("Ada")
// snippet.hide
await waitForChange()
withExtendedLifetime((token, last)) {}
