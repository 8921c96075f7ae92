import Cambium
import Foundation
import TestSupport
import Testing

final class SpecGuest: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = ""
  @Persisted var city: String?
  @Persisted var age = 0
  @Persisted var host: SpecGuest?
  @Persisted var friends: List<SpecGuest>
  @Persisted var room: SpecRoom?

  convenience init(_ id: Int, _ name: String, _ city: String?, _ age: Int = 0) {
    self.init()
    (self.id, self.name, self.city, self.age) = (id, name, city, age)
  }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private let guestTypes: [ObjectBase.Type] = [
  SpecGuest.self, SpecRoom.self, SpecHouse.self, SpecLamp.self, SpecMaker.self,
]

private func guests() -> [SpecGuest] {
  [
    SpecGuest(1, "Ann", "Bonn", 30), SpecGuest(2, "Bob", "Aachen", 40),
    SpecGuest(3, "Cid", "Bonn", 50), SpecGuest(4, "Dan", nil, 20),
    SpecGuest(5, "Eve", "Celle", 30), SpecGuest(6, "Abe", "Aachen", 30),
  ]
}

extension Realm {
  /// The guests by city: the keys, and the names in each section.
  fileprivate var byCity: SectionedResults<String?, SpecGuest> {
    objects(SpecGuest.self).sectioned(by: \.city)
  }
}

private func text<Key>(_ sections: SectionedResults<Key, SpecGuest>) -> String {
  sections.map { section in
    "\(section.key as Any? ?? "-"): \(section.map(\.name).sorted().joined(separator: " "))"
  }.joined(separator: ", ").replacing("Optional(", with: "").replacing(")", with: "")
    .replacing("\"", with: "").replacing("nil", with: "-")
}

/// Section B21: sections of results.
@Suite struct B21SectionTests {
  private func filled() throws -> Realm {
    let realm = try specRealm(guestTypes)
    try realm.write { realm.add(guests()) }
    return realm
  }

  @Test func `elements with equal keys stand together, sections in order`() throws {
    let realm = try filled()
    let all = realm.objects(SpecGuest.self)
    #expect(text(realm.byCity) == "-: Dan, Aachen: Abe Bob, Bonn: Ann Cid, Celle: Eve")
    #expect(realm.byCity.allKeys == [nil, "Aachen", "Bonn", "Celle"])
    #expect(text(all.sectioned(by: \.city, ascending: false)).hasPrefix("Celle: Eve, Bonn"))
    let byLetter = all.sectioned(sortDescriptors: [SortDescriptor(keyPath: "name")]) {
      String($0.name.prefix(1))
    }
    #expect(
      byLetter.allKeys == ["A", "B", "C", "D", "E"] && byLetter[0].map(\.name) == ["Abe", "Ann"])
    // Equal keys that are apart share a section.
    let byAge = all.sectioned(by: { $0.age }, sortDescriptors: [SortDescriptor(keyPath: "id")])
    #expect(byAge.allKeys == [30, 40, 50, 20] && byAge[0].map(\.id) == [1, 5, 6])
    let both = all.sectioned(
      by: \.city,
      sortDescriptors: [
        SortDescriptor(keyPath: "city"), SortDescriptor(keyPath: "name", ascending: false),
      ])
    #expect(both[1].map(\.name) == ["Bob", "Abe"])
    #expect(both[IndexPath(indexes: [2, 0])].name == "Cid")
    #expect(both.count == 4 && both[1].count == 2 && both[1].id == "Aachen")
    let list = List<Int>()
    list.append(objectsIn: [1, 2, 3])
    #expect(all.where { $0.age > 90 }.sectioned(by: \.city).isEmpty)
  }

  @Test func `values are sectioned, too`() throws {
    let realm = try specRealm([SpecSets.self, SpecSetMember.self])
    try realm.write {
      let sets = realm.create(SpecSets.self, value: ["ints": [1, 2, 3, 4, 5]])
      let parity = sets.ints.sectioned(by: { $0 % 2 }, ascending: false)
      #expect(parity.allKeys == [1, 0] && Array(parity[0]) == [5, 3, 1])
    }
  }

  @Test func `sections are live and keep to their keys`() throws {
    let realm = try filled()
    let sections = realm.byCity
    let (bonn, celle) = (sections[2], sections[3])
    let path = IndexPath(item: 1, section: 2)
    #expect(sections[path] == bonn[1] && (path.section, path.item, path.row) == (2, 1, 1))
    try realm.write {
      realm.add(SpecGuest(7, "Fay", "Aalen"))
      realm.object(ofType: SpecGuest.self, forPrimaryKey: 5)?.city = "Bonn"
      #expect(sections.count == 4 && bonn.count == 3)
    }
    #expect(bonn.key == "Bonn" && bonn.map(\.name).sorted() == ["Ann", "Cid", "Eve"])
    #expect(celle.isInvalidated && celle.isEmpty && !bonn.isInvalidated)
    #expect(sections.allKeys == [nil, "Aachen", "Aalen", "Bonn"])
    let frozen = sections.freeze()
    let frozenSection = bonn.freeze()
    try realm.write { realm.deleteAll() }
    #expect(sections.isEmpty && frozen.count == 4 && frozen.isFrozen)
    #expect(frozenSection.count == 3 && frozenSection.thaw()?.isInvalidated == true)
    #expect(frozen.thaw()?.count == 0 && sections == sections && sections != realm.byCity)
  }

  @Test func `references lead to sections elsewhere`() throws {
    let realm = try filled()
    let configuration = realm.configuration
    let (all, one) = (
      ThreadSafeReference(to: realm.byCity), ThreadSafeReference(to: realm.byCity[2])
    )
    let found = try onAnotherThread {
      let realm = try Realm(configuration: configuration)
      return [realm.resolve(all)?.count, realm.resolve(one)?.count]
    }
    #expect(found == [4, 2])
  }

  /// What observers of all sections, and of that of Bonn, are told of a change.
  private func tell(_ change: @Sendable (Realm) -> Void) async throws -> [String] {
    let desk = try Desk(specConfiguration(guestTypes))
    desk.run { realm in
      realm.beginWrite()
      realm.add(guests())
      #expect(throws: Never.self) { try realm.commitWrite() }
      let sections = realm.byCity
      func note<C>(_ name: String, _ change: SectionedResultsChange<C>) {
        func paths(_ paths: [IndexPath]) -> [[Int]] { paths.map { Array($0) } }
        switch change {
        case .initial: desk.note("initial")
        case .update(_, let deletions, let insertions, let modifications, let came, let gone):
          desk.note(
            "\(name) -\(paths(deletions)) +\(paths(insertions)) ~\(paths(modifications)) "
              + "S+\(Array(came)) S-\(Array(gone))")
        }
      }
      desk.tokens = [
        sections.observe { note("all", $0) }, sections[2].observe { note("bonn", $0) },
      ]
    }
    #expect(await [desk.next(), desk.next()] == ["initial", "initial"])
    desk.run { realm in
      realm.beginWrite()
      change(realm)
      #expect(throws: Never.self) { try realm.commitWrite() }
      // Observers are told here, if they were not yet.
      realm.refresh()
      desk.note("end")
    }
    var told: [String] = []
    while let next = await Optional(desk.next()), next != "end" { told.append(next) }
    return told
  }

  private static func guest(_ realm: Realm, _ id: Int) -> SpecGuest? {
    realm.object(ofType: SpecGuest.self, forPrimaryKey: id)
  }

  @Test func `observers are told places of elements and sections`() async throws {
    let added = try await tell { $0.add(SpecGuest(7, "Fay", "Aalen")) }
    #expect(added == ["all -[] +[[2, 0]] ~[] S+[2] S-[]"])
    let deleted = try await tell { realm in
      if let gone = Self.guest(realm, 5) { realm.delete(gone) }
    }
    #expect(deleted == ["all -[] +[] ~[] S+[] S-[3]"])
    let moved = try await tell { Self.guest($0, 2)?.city = "Bonn" }
    #expect(
      moved == [
        "all -[[1, 0]] +[[2, 1]] ~[] S+[] S-[]", "bonn -[] +[[2, 1]] ~[] S+[] S-[]",
      ])
    let modified = try await tell { Self.guest($0, 3)?.age = 51 }
    #expect(modified == ["all -[] +[] ~[[2, 1]] S+[] S-[]", "bonn -[] +[] ~[[2, 1]] S+[] S-[]"])
    let ended = try await tell { realm in
      for id in [1, 3] { Self.guest(realm, id)?.city = nil }
    }
    #expect(ended.count == 2 && ended[1] == "bonn -[] +[] ~[] S+[] S-[2]")
    #expect(ended[0].hasSuffix("S+[] S-[2]"))
  }

  @Test(arguments: 0..<20) func `changes lead from one layout to the next`(seed: UInt64)
    async throws
  {
    var random = SeededGenerator(seed: seed)
    let desk = try Desk(specConfiguration(guestTypes))
    // The names in each section, as an observer who applies what it is told has them.
    final class Copy: @unchecked Sendable { var sections: [[Int]] = [] }
    let copy = Copy()
    desk.run { realm in
      desk.tokens = [
        realm.objects(SpecGuest.self).sectioned(
          by: { $0.age / 10 }, sortDescriptors: [SortDescriptor(keyPath: "age")]
        ).observe { change in
          switch change {
          case .initial(let sections): copy.sections = sections.map { $0.map(\.id) }
          case .update(let sections, let deletions, let insertions, _, let came, let gone):
            for path in deletions.reversed() { copy.sections[path[0]].remove(at: path[1]) }
            for section in gone.reversed() { copy.sections.remove(at: section) }
            for section in came { copy.sections.insert([], at: section) }
            for path in insertions {
              copy.sections[path[0]].insert(sections[path].id, at: path[1])
            }
            #expect(copy.sections == sections.map { $0.map(\.id) }, "seed \(seed)")
          }
          desk.note("told")
        }
      ]
    }
    #expect(await desk.next() == "told")
    for step in 0..<12 {
      let writes = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        (
          Int.random(in: 0..<12, using: &random), Int.random(in: 0..<40, using: &random),
          Int.random(in: 0..<4, using: &random)
        )
      }
      desk.run { realm in
        realm.beginWrite()
        for (id, age, kind) in writes {
          if kind == 0 {
            if let gone = Self.guest(realm, id) { realm.delete(gone) }
          } else {
            realm.add(SpecGuest(id, "n", nil, age), update: .modified)
          }
        }
        // Whatever else happened, something did.
        realm.add(SpecGuest(100, "n", nil, step), update: .modified)
        #expect(throws: Never.self) { try realm.commitWrite() }
      }
      #expect(await desk.next() == "told")
    }
  }
}

// MARK: - Projections

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
      func note(_ name: String, _ change: ObjectChange<GuestProjection>) {
        switch change {
        case .change(_, let properties):
          let texts = properties.map {
            "\($0.name) \($0.oldValue ?? "-")>\($0.newValue ?? "-")"
          }
          desk.note("\(name): \(texts.joined(separator: ", "))")
        case .deleted: desk.note("\(name): deleted")
        case .error: desk.note("error")
        }
      }
      desk.tokens = [
        projection.observe { note("all", $0) },
        projection.observe(keyPaths: [\GuestProjection.hostName]) { note("host", $0) },
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
}
