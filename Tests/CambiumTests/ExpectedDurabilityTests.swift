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

  @Test(arguments: Durability.allCases)
  func `a store over another one hands it on`(durability: Durability) throws {
    let store = SpyStore(name: UUID().uuidString)
    let writer = try RelayingAll(inner: store).beginWrite()
    writer.expect(durability)
    writer.abort()
    #expect(store.expected == [durability])
  }
}

/// A store that answers nothing itself.
private final class RelayingAll: RelayingStore {
  let inner: any PageStore

  init(inner: any PageStore) { self.inner = inner }

  func beginWrite() throws(StoreError) -> any PageWriter { Writer(inner: try inner.beginWrite()) }

  private final class Writer: RelayingWriter {
    let inner: any PageWriter

    init(inner: any PageWriter) { self.inner = inner }
  }
}
