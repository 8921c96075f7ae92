import Foundation
import RealmSwift
import TestSupport
import Testing

extension SeedSamples {
  /// The document on write transactions.
  @Suite(.serialized) struct Writes {
    @Test(arguments: Place.allCases)
    func `Run a transaction`(place: Place) throws {
      let folder = try place.makeDefault()
      defer { withExtendedLifetime(folder) {} }
      // Open the default realm.
      let realm = try! Realm()
      // Prepare to handle exceptions.
      do {
        // Open a thread-safe transaction.
        try realm.write {
          // Make any writes within this code block.
          // Realm automatically cancels the transaction
          // if this code throws an exception. Otherwise,
          // Realm automatically commits the transaction
          // after the end of this code block.
        }
      } catch let error as NSError {
        // Failed to write to realm.
        // ... Handle error ...
        Issue.record(error)
      }
    }

    @MainActor @Test(arguments: Place.allCases)
    func `Interface-driven writes`(place: Place) async throws {
      let folder = try place.makeDefault()
      let realm = try await Realm()
      let (told, tell) = AsyncStream.makeStream(of: String.self)
      let token = realm.objects(Dog.self).observe { change in
        switch change {
        case .initial: tell.yield("initial")
        case .update(_, _, let insertions, _): tell.yield("\(insertions)")
        case .error: tell.yield("error")
        }
      }
      var changes = told.makeAsyncIterator()
      XCTAssertEqual(await changes.next(), "initial")
      // The interface shows this one already.
      try realm.write(withoutNotifying: [token]) {
        realm.add(Dog(value: ["name": "Ben", "age": 13]))
      }
      try realm.write { realm.add(Dog(value: ["name": "Lita", "age": 9])) }
      XCTAssertEqual(await changes.next(), "[1]")
      token.invalidate()
      withExtendedLifetime(folder) {}
    }
  }
}
