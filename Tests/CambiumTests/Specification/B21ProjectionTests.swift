import Cambium
import Foundation
import TestSupport
import Testing

final class GuestProjection: Projection<SpecGuest> {
  @Projected(\SpecGuest.name) var title
  @Projected(\SpecGuest.host?.name) var hostName
  @Projected(\SpecGuest.room?.name) var roomName
  @Projected(\SpecGuest.friends.projectTo.name) var friendNames: ProjectedCollection<String>
}

/// Section B21: projections.
@Suite struct B21ProjectionTests {
  private func filled() throws -> (Realm, SpecGuest) {
    let realm = try specRealm(guestTypes)
    let all = guests()
    all[0].host = all[1]
    all[0].friends.append(objectsIn: all[1...3])
    all[0].room = SpecRoom("blue")
    try realm.write { realm.add(all) }
    return (realm, all[0])
  }

  @Test func `a projection reads and writes the object`() throws {
    let (realm, ann) = try filled()
    let projection = GuestProjection(projecting: ann)
    #expect(projection.title == "Ann" && projection.hostName == "Bob")
    #expect(projection.roomName == "blue" && projection.friendNames.count == 3)
    #expect(Array(projection.friendNames) == ["Bob", "Cid", "Dan"])
    #expect(projection.friendNames.index(of: "Cid") == 1)
    #expect(projection.friendNames.index(matching: "age < 30") == 2)
    try realm.write {
      projection.title = "Anna"
      projection.friendNames[0] = "Bobby"
    }
    #expect(ann.name == "Anna" && ann.host?.name == "Bobby" && projection.hostName == "Bobby")
    #expect(projection.realm == realm && !projection.isFrozen)
    let unmanaged = GuestProjection(projecting: SpecGuest(9, "Zoe", nil))
    unmanaged.title = "Zoë"
    #expect(
      unmanaged.rootObject.name == "Zoë" && unmanaged.hostName == nil && unmanaged.realm == nil)
    #expect(projection == GuestProjection(projecting: ann))
    #expect(projection.hashValue == GuestProjection(projecting: ann).hashValue)
    #expect(projection != unmanaged && projection.description.contains("title(name) = Anna;"))
  }

  @Test func `results of projections are queried by the class's names`() throws {
    let (realm, ann) = try filled()
    let all = realm.objects(GuestProjection.self)
    #expect(all.count == 6 && Set(all.map(\.title)).count == 6)
    #expect(all.filter("age >= 40").sorted(byKeyPath: "name").map(\.title) == ["Bob", "Cid"])
    #expect(all.sorted(byKeyPath: "age").last?.title == "Cid" && all.max(ofProperty: "age") == 50)
    #expect(all.index(of: GuestProjection(projecting: ann)) != nil)
    let sections = all.sectioned(by: \.title)
    #expect(sections.allKeys == ["Abe", "Ann", "Bob", "Cid", "Dan", "Eve"])
    let frozen = all.freeze()
    try realm.write { realm.deleteAll() }
    #expect(all.isEmpty && frozen.count == 6 && frozen.first?.isFrozen == true)
    #expect(frozen.first?.thaw() == nil)
  }

  @Test func `references and frozen copies carry projections`() throws {
    let (realm, ann) = try filled()
    let projection = GuestProjection(projecting: ann)
    let (reference, configuration) = (ThreadSafeReference(to: projection), realm.configuration)
    let title = try onAnotherThread {
      try Realm(configuration: configuration).resolve(reference)?.title
    }
    #expect(title == "Ann")
    let (frozen, names) = (projection.freeze(), projection.friendNames.freeze())
    try realm.write {
      ann.name = "x"
      ann.friends.removeAll()
    }
    #expect(frozen.title == "Ann" && frozen.thaw()?.title == "x")
    #expect(names.count == 3 && names.thaw()?.isEmpty == true)
  }

  @Test func `observers are told projected properties by the projection's names`() async throws {
    let desk = try Desk(specConfiguration(guestTypes))
    desk.run { realm in
      realm.beginWrite()
      let all = guests()
      all[0].host = all[1]
      all[0].friends.append(all[2])
      realm.add(all)
      #expect(throws: Never.self) { try realm.commitWrite() }
      let projection = GuestProjection(projecting: all[0])
      desk.tokens = [
        projection.observe { desk.note("all", $0) },
        projection.observe(keyPaths: [\GuestProjection.hostName]) { desk.note("host", $0) },
        projection.friendNames.observe { [unowned desk] change in
          if case .update(let names, _, _, let modifications) = change, !names.isInvalidated {
            desk.note("friends: \(modifications) \(Array(names))")
          }
        },
      ]
    }
    func write(_ body: @Sendable (Realm, SpecGuest) -> Void) {
      desk.run { realm in
        guard let ann = realm.object(ofType: SpecGuest.self, forPrimaryKey: 1) else { return }
        realm.beginWrite()
        body(realm, ann)
        #expect(throws: Never.self) { try realm.commitWrite() }
      }
    }
    write { _, ann in
      ann.age = 99
      ann.name = "Anna"
    }
    #expect(await desk.next() == "all: title Ann>Anna")
    write { _, ann in ann.host?.name = "Bobby" }
    #expect(
      await Set([desk.next(), desk.next()])
        == ["all: hostName Bob>Bobby", "host: hostName Bob>Bobby"])
    write { _, ann in ann.friends[0].name = "Cyd" }
    #expect(
      await Set([desk.next(), desk.next()]) == ["all: friendNames ->-", #"friends: [0] ["Cyd"]"#])
    write { realm, ann in realm.delete(ann) }
    #expect(await Set([desk.next(), desk.next()]) == ["all: deleted", "host: deleted"])
  }

  @Test func `an empty array of key paths filters nothing`() async throws {
    let desk = try Desk(specConfiguration(guestTypes))
    try desk.run { realm in
      try realm.write { realm.add(guests()) }
      guard let ann = realm.object(ofType: SpecGuest.self, forPrimaryKey: 1) else { return }
      let projection = GuestProjection(projecting: ann)
      desk.tokens = [
        projection.observe(keyPaths: [String]()) { desk.note("names", $0) },
        projection.observe(keyPaths: [PartialKeyPath<GuestProjection>]()) {
          desk.note("paths", $0)
        },
      ]
      try realm.write { ann.name = "Anna" }
    }
    #expect(await desk.told() == ["names: title Ann>Anna", "paths: title Ann>Anna"])
  }

  @Test func `sections of projections have the order that is asked for`() throws {
    let (realm, _) = try filled()
    let path: KeyPath<GuestProjection, String> = \.title
    let sections = realm.objects(GuestProjection.self).sectioned(
      by: path, sortDescriptors: [SortDescriptor(keyPath: "name", ascending: false)])
    #expect(sections.allKeys == ["Eve", "Dan", "Cid", "Bob", "Ann", "Abe"])
  }
}

extension Desk {
  fileprivate func note(_ name: String, _ change: ObjectChange<GuestProjection>) {
    switch change {
    case .change(_, let properties):
      let texts = properties.map { "\($0.name) \($0.oldValue ?? "-")>\($0.newValue ?? "-")" }
      note("\(name): \(texts.joined(separator: ", "))")
    case .deleted: note("\(name): deleted")
    case .error: note("error")
    }
  }
}
