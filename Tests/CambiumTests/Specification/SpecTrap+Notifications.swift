import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// A person by another name.
private final class CallerProjection: Projection<SpecPerson> {
  @Projected(\SpecPerson.name) var title
}

// Misuse of observers and of asynchronous writes.
extension SpecTrap {
  /// Runs `body` on a queue with its own Realm, in which there is one person.
  private static func onQueue(
    _ configuration: Realm.Configuration = specConfiguration(),
    _ body: (Realm, SpecPerson) throws -> Void
  ) throws {
    let queue = DispatchQueue(label: "spec")
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      let person = SpecPerson(1, "Ann")
      try realm.write { realm.add(person) }
      try body(realm, person)
    }
  }

  private static let unscheduled = "Can only add notification blocks from within runloops."
  private static let changed =
    "Cannot create asynchronous query after making changes in a write transaction."
  private static let frozen = "Frozen Realms do not change and do not have change notifications."

  static let notifications: [SpecTrap] = [
    SpecTrap("observing a Realm on a bare thread", unscheduled) {
      try onAnotherThread { _ = try specRealm().observe { _, _ in } }
    },
    SpecTrap("observing results on a bare thread", unscheduled) {
      try onAnotherThread { _ = try specRealm().objects(SpecDog.self).observe { _ in } }
    },
    SpecTrap("observing an object on a bare thread", unscheduled) {
      try onAnotherThread {
        _ = try ann().1.observe { (_: ObjectChange<SpecPerson>) in }
      }
    },
    SpecTrap("observing elsewhere", wrongThread) {
      try onQueue { realm, _ in
        try elsewhere(realm) { _ = $0.objects(SpecDog.self).observe { _ in } }
      }
    },
    SpecTrap(
      "observing an unmanaged list",
      "Change notifications are only supported on managed collections."
    ) { _ = SpecPerson().dogs.observe { _ in } },
    SpecTrap(
      "observing an unmanaged object",
      "Only objects which are managed by a Realm support change notifications"
    ) { _ = SpecDog().observe { (_: ObjectChange<SpecDog>) in } },
    SpecTrap("observing a deleted object", "Object has been deleted or invalidated.") {
      try onQueue { realm, person in
        try realm.write { realm.delete(person) }
        _ = person.observe { (_: ObjectChange<SpecPerson>) in }
      }
    },
    SpecTrap("observing a frozen Realm", frozen) {
      try onQueue { realm, _ in _ = realm.freeze().observe { _, _ in } }
    },
    SpecTrap("observing frozen results", frozen) {
      try onQueue { realm, _ in _ = realm.objects(SpecDog.self).freeze().observe { _ in } }
    },
    SpecTrap("observing a frozen object", frozen) {
      try onQueue { _, person in
        _ = person.freeze().observe { (_: ObjectChange<SpecPerson>) in }
      }
    },
    SpecTrap("observing results after changes", changed) {
      try onQueue { realm, person in
        realm.beginWrite()
        person.name = "x"
        _ = realm.objects(SpecDog.self).observe { _ in }
      }
    },
    SpecTrap("observing results on a queue after changes", changed) {
      try onQueue { realm, person in
        realm.beginWrite()
        person.name = "x"
        _ = realm.objects(SpecDog.self).observe(on: DispatchQueue(label: "other")) { _ in }
      }
    },
    SpecTrap("observing an object after changes", changed) {
      try onQueue { realm, person in
        realm.beginWrite()
        person.name = "x"
        _ = person.observe { (_: ObjectChange<SpecPerson>) in }
      }
    },
    SpecTrap(
      "a key path of an object that leads nowhere",
      "Invalid property name: property 'alter' not found in object of type 'SpecPerson'"
    ) {
      try onQueue { _, person in
        _ = person.observe(keyPaths: ["alter"]) { (_: ObjectChange<SpecPerson>) in }
      }
    },
    SpecTrap(
      "a key path of results that leads nowhere behind a link",
      "Property 'alter' in KeyPath 'favorite.alter' is not a valid property in SpecDog."
    ) {
      try onQueue { realm, _ in
        _ = realm.objects(SpecPerson.self).observe(keyPaths: ["favorite.alter"]) { _ in }
      }
    },
    SpecTrap(
      "a key path of a projection that leads nowhere",
      "Invalid property name: property 'title' not found in object of type 'SpecPerson'"
    ) {
      try onQueue { _, person in
        _ = CallerProjection(projecting: person).observe(keyPaths: ["title"]) { _ in }
      }
    },
    SpecTrap(
      "a key path of a projection that leads nowhere behind a link",
      "Property 'alter' in KeyPath 'favorite.alter' is not a valid property in SpecDog."
    ) {
      try onQueue { _, person in
        _ = CallerProjection(projecting: person).observe(keyPaths: ["favorite.alter"]) { _ in }
      }
    },
    SpecTrap(
      "skipping the observer of another Realm",
      "Incorrect Realm: only notifications for the Realm being modified can be skipped."
    ) {
      try onQueue { realm, _ in
        var token: NotificationToken?
        try onQueue { other, _ in token = other.objects(SpecDog.self).observe { _ in } }
        try realm.write(withoutNotifying: [token].compactMap { $0 }) {}
      }
    },
    SpecTrap("ending the observer of a Realm elsewhere", wrongThread) {
      try onQueue { realm, _ in
        let token = Smuggled(value: realm.observe { _, _ in })
        _ = try onAnotherThread { token.value.invalidate() }
      }
    },
    SpecTrap(
      "an asynchronous write on a bare thread",
      "Cannot schedule async transaction. Make sure you are running from inside a run loop."
    ) { try onAnotherThread { _ = try specRealm().writeAsync {} } },
    SpecTrap(
      "an asynchronous write of a frozen Realm", "Can't perform transactions on a frozen Realm"
    ) {
      try onQueue { realm, _ in realm.freeze().beginAsyncWrite {} }
    },
    SpecTrap("an asynchronous write elsewhere", wrongThread) {
      try onQueue { realm, _ in try elsewhere(realm) { $0.writeAsync {} } }
    },
    SpecTrap(
      "an asynchronous commit of nothing", "Can't commit a non-existing write transaction"
    ) { try onQueue { realm, _ in realm.commitAsyncWrite() } },
    SpecTrap("wrapping an unmanaged object", "Only managed objects may be wrapped as thread safe.")
    {
      _ = ThreadSafe(wrappedValue: SpecDog())
    },
  ]
}
