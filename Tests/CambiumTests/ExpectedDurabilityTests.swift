import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

/// What a Realm's transactions tell the store when they begin.
struct ExpectedDurabilityTests {
  @Test(arguments: Durability.allCases)
  func `a write tells the store how durable it will have to be`(durability: Durability) throws {
    let store = SpyStore(name: UUID().uuidString)
    var configuration = store.configuration([SpecTextKey.self])
    configuration.durability = durability
    let realm = try Realm(configuration: configuration)
    let before = store.expected.count
    try realm.write { realm.create(SpecTextKey.self, value: ["key": "a"]) }
    #expect(Array(store.expected.dropFirst(before)) == [durability])
  }
}
