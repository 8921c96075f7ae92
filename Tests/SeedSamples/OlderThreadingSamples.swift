import Dispatch
import Foundation
import RealmSwift
import TestSupport
import Testing

extension SeedSamples {
  /// The older document on threading; what it shares with the newer one stands there.
  @Suite(.serialized) struct OlderThreading {
    @Test(arguments: Place.allCases)
    func `Frozen Objects, and Modify a Frozen Object`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
      let setUp = try Realm()
      try setUp.write { setUp.add(Item(value: ["status": "Open"])) }

      let realm = try! Realm()
      // Get an immutable copy of the realm that can be passed across threads
      let frozenRealm = realm.freeze()
      assert(frozenRealm.isFrozen)
      let tasks = realm.objects(Item.self)
      // You can freeze collections
      let frozenTasks = tasks.freeze()
      assert(frozenTasks.isFrozen)
      // You can still read from frozen realms
      let frozenTasks2 = frozenRealm.objects(Item.self)
      assert(frozenTasks2.isFrozen)
      let task = tasks.first!
      assert(!task.realm!.isFrozen)
      // You can freeze objects
      let frozenTask = task.freeze()
      assert(frozenTask.isFrozen)
      // Frozen objects have a reference to a frozen realm
      assert(frozenTask.realm!.isFrozen)
      if realm.isFrozen {
        Issue.record("live")
      }

      // Read from a frozen realm
      let frozen = frozenRealm.objects(Item.self)
      // The collection that we pull from the frozen realm is also frozen
      assert(frozen.isFrozen)
      // Get an individual task from the collection
      let first = frozen.first!
      // To modify the task, you must first thaw it
      // You can also thaw collections and realms
      let thawedTask = first.thaw()
      // Check to make sure this task is valid. An object is
      // invalidated when it is deleted from its managing realm,
      // or when its managing realm has invalidate() called on it.
      assert(thawedTask?.isInvalidated == false)
      // Thawing the task also thaws the frozen realm it references
      assert(thawedTask!.realm!.isFrozen == false)
      // Let's make the code easier to follow by naming the thawed realm
      let thawedRealm = thawedTask!.realm!
      // Now, you can modify the task
      try! thawedRealm.write {
        thawedTask!.status = "Done"
      }
      XCTAssertEqual(first.status, "Open")
      XCTAssertEqual(realm.objects(Item.self).first?.status, "Done")
    }

    @Test(arguments: Place.allCases)
    func `Refreshing Realms`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
      let realm = try Realm()
      if (!realm.autorefresh) {
        // Manually refresh
        realm.refresh()
      }
      XCTAssertEqual(realm.autorefresh, true)
    }
  }
}
