import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// Section B3: versions and refresh.
@Suite struct B03VersionTests {
  @Test func `an instance stays at its version until it is refreshed`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let all = realm.objects(SpecDog.self)
    let ben = try realm.addDogs("Ben")[0]
    try onAnotherThread {
      let other = try Realm(configuration: configuration)
      try other.write {
        other.objects(SpecDog.self).first?.name = "Benno"
        other.create(SpecDog.self, value: ["name": "Lita"])
      }
    }
    #expect(ben.name == "Ben")
    #expect(all.count == 1)
    #expect(realm.refresh())
    #expect(ben.name == "Benno")
    #expect(all.count == 2)
    #expect(!realm.refresh())
  }

  @Test func `several commits elsewhere are one step`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    try onAnotherThread {
      let other = try Realm(configuration: configuration)
      for name in ["a", "b", "c"] { try other.addDogs(name) }
    }
    #expect(realm.refresh())
    #expect(realm.objects(SpecDog.self).count == 3)
    #expect(!realm.refresh())
  }

  @Test func `a write begins at the newest version`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    #expect(realm.isEmpty)
    try onAnotherThread { _ = try Realm(configuration: configuration).addDogs("Ben") }
    try realm.write {
      #expect(realm.objects(SpecDog.self).count == 1)
      #expect(!realm.refresh())
    }
  }

  @Test func `opening shows the newest version`() throws {
    let configuration = specConfiguration()
    let keeper = try Realm(configuration: configuration)
    try onAnotherThread { _ = try Realm(configuration: configuration).addDogs("Ben") }
    let seen = try onAnotherThread {
      try Realm(configuration: configuration).objects(SpecDog.self).count
    }
    #expect(seen == 1)
    #expect(keeper.isEmpty)
  }

  @Test func `refresh after invalidation reports a move`() throws {
    let realm = try specRealm()
    realm.invalidate()
    #expect(realm.refresh())
    #expect(!realm.refresh())
  }

  @Test func `a frozen Realm never refreshes nor autorefreshes`() throws {
    let realm = try specRealm()
    let frozen = realm.freeze()
    try realm.addDogs("Ben")
    #expect(!frozen.refresh())
    #expect(frozen.isEmpty)
    #expect(!frozen.autorefresh)
    frozen.autorefresh = false
  }

  @Test func `readers neither wait for a writer nor see its changes`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    realm.beginWrite()
    realm.create(SpecDog.self)
    let seen = try onAnotherThread {
      let other = try Realm(configuration: configuration)
      return (other.isEmpty, other.refresh(), other.objects(SpecDog.self).count)
    }
    #expect(seen == (true, false, 0))
    try realm.commitWrite()
  }
}
