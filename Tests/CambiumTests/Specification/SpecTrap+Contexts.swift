import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

// Misuse of contexts, references, versions and transactions.
extension SpecTrap {
  static let confinement: [SpecTrap] = [
    SpecTrap("reading a property elsewhere", wrongThread) {
      try elsewhere(try ann().1) { _ = $0.name }
    },
    SpecTrap("writing a property elsewhere", wrongThread) {
      let (realm, person) = try ann()
      realm.beginWrite()
      try elsewhere(person) { $0.name = "x" }
    },
    SpecTrap("counting a list elsewhere", wrongThread) {
      try elsewhere(try ann().1.dogs) { _ = $0.count }
    },
    SpecTrap("counting results elsewhere", wrongThread) {
      try elsewhere(try ann().0.objects(SpecDog.self)) { _ = $0.count }
    },
    SpecTrap("counting linking objects elsewhere", wrongThread) {
      try elsewhere(try ann().1.dogs[0].owners) { _ = $0.count }
    },
    SpecTrap("objects elsewhere", wrongThread) {
      try elsewhere(try ann().0) { _ = $0.objects(SpecDog.self) }
    },
    SpecTrap("a lookup elsewhere", wrongThread) {
      try elsewhere(try ann().0) { _ = $0.object(ofType: SpecPerson.self, forPrimaryKey: 1) }
    },
    SpecTrap("a transaction elsewhere", wrongThread) {
      try elsewhere(try ann().0) { try $0.write {} }
    },
    SpecTrap("refresh elsewhere", wrongThread) { try elsewhere(try ann().0) { $0.refresh() } },
    SpecTrap("invalidate elsewhere", wrongThread) {
      try elsewhere(try ann().0) { $0.invalidate() }
    },
    SpecTrap("freeze elsewhere", wrongThread) { try elsewhere(try ann().1) { _ = $0.freeze() } },
    SpecTrap("a reference made elsewhere", wrongThread) {
      try elsewhere(try ann().1) { _ = ThreadSafeReference(to: $0) }
    },
    SpecTrap("printing elsewhere", wrongThread) { try elsewhere(try ann().1) { _ = "\($0)" } },
    SpecTrap("an object of a thread that has ended", wrongThread) {
      let configuration = specConfiguration()
      let keeper = try Realm(configuration: configuration)
      let dog = try onAnotherThread {
        Smuggled(value: try Realm(configuration: configuration).addDogs("Ben")[0])
      }
      for _ in 0..<50 { try onAnotherThread { _ = dog.value.isFrozen } }
      keeper.refresh()
      try onAnotherThread { _ = dog.value.name }
    },
    SpecTrap("opening for another queue", "Realm opened from incorrect dispatch queue.") {
      _ = try Realm(
        configuration: specConfiguration(), queue: DispatchQueue(label: "somewhere else"))
    },
    SpecTrap("opening for a global queue", "Realms can only be confined to serial queues") {
      _ = try Realm(configuration: specConfiguration(), queue: .global())
    },
    SpecTrap("a queue's Realm off the queue", wrongThread) {
      let queue = DispatchQueue(label: "spec")
      let realm = try queue.sync {
        Smuggled(value: try Realm(configuration: specConfiguration(), queue: queue))
      }
      try onAnotherThread { _ = realm.value.isEmpty }
    },
    SpecTrap("counting results of a queue on a thread that ran it", wrongThread) {
      _ = try ofQueue().results.count
    },
    SpecTrap("reading a property of a queue on a thread that ran it", wrongThread) {
      _ = try ofQueue().object.name
    },
    SpecTrap("reading a list of a queue on a thread that ran it", wrongThread) {
      _ = try ofQueue().object.nicknames.count
    },
    SpecTrap("following a link of a queue on a thread that ran it", wrongThread) {
      _ = try ofQueue().object.favorite
    },
    SpecTrap("walking results of a queue on a thread that ran it", wrongThread) {
      for person in try ofQueue().results { _ = person }
    },
    SpecTrap("a transaction of a queue on a thread that ran it", wrongThread) {
      try ofQueue().results.realm?.write {}
    },
    SpecTrap("assigning what belongs to a queue on a thread that ran it", wrongThread) {
      try ofQueue().object.name = "x"
    },
    SpecTrap("reading a property of a queue on another queue of the thread", wrongThread) {
      let person = Smuggled(value: try ofQueue().object)
      DispatchQueue(label: "spec").sync { _ = person.value.name }
    },
    SpecTrap("reading a property of the main queue on a thread that ran it", wrongThread) {
      // The main queue is drained by threads of a pool here, so a block runs where it was called from.
      try onAnotherThread {
        let person = try DispatchQueue.main.sync { try filled(specRealm()) }
        _ = person.value.name
      }
    },
    SpecTrap("counting results of the main queue on a thread that ran it", wrongThread) {
      try onAnotherThread {
        let person = try DispatchQueue.main.sync { try filled(specRealm()) }
        _ = person.value.nicknames.count
      }
    },
    SpecTrap("resolving twice", "Can only resolve a thread safe reference once.") {
      let (realm, person) = try ann()
      let reference = ThreadSafeReference(to: person)
      _ = realm.resolve(reference)
      _ = realm.resolve(reference)
    },
    SpecTrap("a reference to an unmanaged object", "Cannot construct reference to unmanaged object")
    { _ = ThreadSafeReference(to: SpecDog()) },
    SpecTrap("a reference to a deleted object", "Cannot construct reference to invalidated object")
    {
      let (realm, person) = try ann()
      try realm.write { realm.delete(person) }
      _ = ThreadSafeReference(to: person)
    },
    SpecTrap(
      "resolving in another database",
      "Cannot resolve a thread safe reference in the Realm at path"
    ) {
      let reference = ThreadSafeReference(to: try ann().1)
      _ = try specRealm().resolve(reference)
    },
    SpecTrap("freezing an unmanaged object", "Unmanaged objects cannot be frozen.") {
      _ = SpecDog().freeze()
    },
    SpecTrap("thawing an unmanaged object", "Unmanaged objects cannot be thawed.") {
      _ = SpecDog().thaw()
    },
    SpecTrap("freezing a deleted object", "Object has been deleted or invalidated.") {
      let (realm, person) = try ann()
      try realm.write { realm.delete(person) }
      _ = person.freeze()
    },
    SpecTrap(
      "freezing what is new", "Cannot freeze an object in the same write transaction as it was"
    ) {
      let realm = try specRealm()
      realm.beginWrite()
      _ = realm.create(SpecDog.self).freeze()
    },
    SpecTrap(
      "freezing an unmanaged list",
      "This method may only be called on RLMArray instances retrieved from an RLMRealm"
    ) { _ = List<Int>().freeze() },
    SpecTrap(
      "reading an invalidated frozen Realm",
      "Cannot read from a frozen Realm which has been invalidated."
    ) {
      let frozen = try ann().0.freeze()
      frozen.invalidate()
      _ = frozen.objects(SpecDog.self).count
    },
  ]

  static let transactions: [SpecTrap] = [
    SpecTrap("nesting", "The Realm is already in a write transaction") {
      let realm = try specRealm()
      realm.beginWrite()
      realm.beginWrite()
    },
    SpecTrap("nesting write", "The Realm is already in a write transaction") {
      let realm = try specRealm()
      try realm.write { try realm.write {} }
    },
    SpecTrap("commit outside", "Can't commit a non-existing write transaction") {
      try specRealm().commitWrite()
    },
    SpecTrap("cancel outside", "Can't cancel a non-existing write transaction") {
      try specRealm().cancelWrite()
    },
    SpecTrap("writing a frozen Realm", "Can't perform transactions on a frozen Realm") {
      try specRealm().freeze().write {}
    },
    SpecTrap("writing a Realm that is only read", "Can't perform transactions on read-only Realms.")
    { try readOnly().write {} },
    SpecTrap("refreshing a Realm that is only read", "Read-only Realms do not change") {
      try readOnly().refresh()
    },
    SpecTrap("autorefresh of a frozen Realm", "Auto-refresh cannot be enabled for frozen Realms.") {
      try specRealm().freeze().autorefresh = true
    },
    SpecTrap(
      "assigning outside", "Attempting to modify object outside of a write transaction - call"
    ) {
      try ann().1.name = "x"
    },
    SpecTrap("assigning by name outside", "outside of a write transaction") {
      try ann().1["name"] = "x"
    },
    SpecTrap("adding outside", "Can only add, remove, or create objects in a Realm in a write") {
      try specRealm().add(SpecDog())
    },
    SpecTrap("creating outside", "Can only add, remove, or create objects in a Realm in a write") {
      try specRealm().create(SpecDog.self)
    },
    SpecTrap("deleting outside", "Can only add, remove, or create objects in a Realm in a write") {
      let (realm, person) = try ann()
      realm.delete(person)
    },
    SpecTrap(
      "deleting everything outside", "Can only add, remove, or create objects in a Realm in a write"
    ) { try specRealm().deleteAll() },
    SpecTrap("appending outside", "Cannot modify List outside of a write transaction.") {
      try ann().1.nicknames.append("x")
    },
    SpecTrap("setting a key outside", "outside of a write transaction") {
      try ann().0.objects(SpecDog.self).setValue(3, forKey: "age")
    },
    SpecTrap("modifying a frozen object", "Attempting to modify a frozen object - call thaw") {
      let (realm, person) = try ann()
      let frozen = person.freeze()
      realm.beginWrite()
      frozen.name = "x"
    },
    SpecTrap("modifying a frozen list", "Attempting to modify a frozen object - call thaw") {
      let (realm, person) = try ann()
      let frozen = person.nicknames.freeze()
      realm.beginWrite()
      frozen.append("x")
    },
    SpecTrap(
      "the same thread with another version", "already opened with different schema version"
    ) {
      var configuration = specConfiguration()
      let realm = try Realm(configuration: configuration)
      configuration.schemaVersion = 1
      _ = try Realm(configuration: configuration)
      _ = realm.isEmpty
    },
    SpecTrap("a short key", "Encryption key must be exactly 64 bytes long") {
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: "/tmp/x.realm"), encryptionKey: Data(count: 3)))
    },
    SpecTrap("an encrypted Realm in memory", "Encryption is not supported for in-memory realms") {
      _ = try Realm(
        configuration: Realm.Configuration(
          inMemoryIdentifier: "x", encryptionKey: Data(count: 64)))
    },
    SpecTrap("an empty identifier", "In-memory identifier must not be empty") {
      _ = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: ""))
    },
    SpecTrap("neither path nor identifier", "must specify a path or an in-memory identifier.") {
      _ = try Realm(configuration: Realm.Configuration(fileURL: nil))
    },
    SpecTrap("resetting what is only read", "Cannot set `deleteRealmIfMigrationNeeded` when") {
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: "/tmp/x.realm"), readOnly: true,
          deleteRealmIfMigrationNeeded: true))
    },
  ]

  private static func readOnly() throws -> Realm {
    let folder = try TemporaryFolder()
    var configuration = specFile(folder)
    do { _ = try Realm(configuration: configuration) }
    configuration.readOnly = true
    let realm = try Realm(configuration: configuration)
    return realm
  }

  /// What belongs to a queue, read there once, by a block that ran on this thread.
  private static func ofQueue() throws -> (results: Results<SpecPerson>, object: SpecPerson) {
    let queue = DispatchQueue(label: "spec")
    let person = try queue.sync {
      try filled(try Realm(configuration: specConfiguration(), queue: queue))
    }
    // The queue itself lets it be read.
    let (text, results) = queue.sync {
      (
        person.value.name + person.value.nicknames[0],
        Smuggled(value: person.value.realm?.objects(SpecPerson.self))
      )
    }
    #expect(text == "AnnA")
    return (try #require(results.value), person.value)
  }

  private static func filled(_ realm: Realm) throws -> Smuggled<SpecPerson> {
    let person = SpecPerson(1, "Ann")
    person.favorite = SpecDog()
    person.nicknames.append("A")
    try realm.write { realm.add(person) }
    _ = (person.name, person.nicknames.count, person.favorite?.name)
    return Smuggled(value: person)
  }
}
