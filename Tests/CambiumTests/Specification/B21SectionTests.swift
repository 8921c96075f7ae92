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

let guestTypes: [ObjectBase.Type] = [
  SpecGuest.self, SpecRoom.self, SpecHouse.self, SpecLamp.self, SpecMaker.self,
]

func guests() -> [SpecGuest] {
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

  /// A desk at which all sections, and that of Bonn, are observed; the first calls were made.
  private func observed(keyPaths: [String]? = nil) async throws -> Desk {
    let desk = try Desk(specConfiguration(guestTypes))
    try desk.run { realm in
      try realm.write { realm.add(guests()) }
      let sections = realm.byCity
      desk.tokens = [
        sections.observe(keyPaths: keyPaths) { desk.note("all", $0) },
        sections[2].observe(keyPaths: keyPaths) { desk.note("bonn", $0) },
      ]
    }
    #expect(await [desk.next(), desk.next()] == ["all initial", "bonn initial"])
    return desk
  }

  /// What the observers at a desk are told of a change.
  private func told(_ desk: Desk, _ change: (Realm) -> Void) async throws -> [String] {
    try await desk.told { realm in try realm.write { change(realm) } }
  }

  /// What observers of all sections, and of that of Bonn, are told of a change.
  private func tell(_ change: @Sendable (Realm) -> Void) async throws -> [String] {
    try await told(observed(), change)
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

  @Test func `what follows a skipped write is told by the places that it left`() async throws {
    let desk = try await observed()
    func skip(_ change: (Realm) -> Void) throws {
      try desk.run { realm in
        try realm.write(withoutNotifying: desk.tokens) { change(realm) }
      }
    }
    func delete(_ id: Int) async throws -> [String] {
      try await told(desk) { realm in
        if let gone = Self.guest(realm, id) { realm.delete(gone) }
      }
    }
    try skip { $0.add(SpecGuest(7, "Fay", "Bonn")) }
    #expect(await desk.told() == [])
    #expect(
      try await delete(7) == [
        "all -[[2, 2]] +[] ~[] S+[] S-[]", "bonn -[[2, 2]] +[] ~[] S+[] S-[]",
      ]
    )
    try skip { Self.guest($0, 5)?.city = "Cork" }
    #expect(
      try await delete(1) == [
        "all -[[2, 0]] +[] ~[] S+[] S-[]", "bonn -[[2, 0]] +[] ~[] S+[] S-[]",
      ]
    )
    #expect(try await delete(5) == ["all -[] +[] ~[] S+[] S-[3]"])
    try skip { $0.add(SpecGuest(8, "Zoe", "Zell")) }
    #expect(try await delete(8) == ["all -[] +[] ~[] S+[] S-[3]"])
  }

  @Test func `an element comes to another section whatever the key paths name`() async throws {
    let desk = try await observed(keyPaths: ["name"])
    #expect(try await told(desk) { Self.guest($0, 3)?.age = 51 } == [])
    // It keeps its place in the results.
    #expect(
      try await told(desk) { Self.guest($0, 5)?.city = "Cork" }
        == ["all -[] +[[3, 0]] ~[] S+[3] S-[3]"])
    #expect(
      try await told(desk) { Self.guest($0, 3)?.name = "Cyd" }
        == ["all -[] +[] ~[[2, 1]] S+[] S-[]", "bonn -[] +[] ~[[2, 1]] S+[] S-[]"])
  }

  @Test func `an element comes to another section by what it links to`() async throws {
    let desk = try Desk(specConfiguration(guestTypes))
    try desk.run { realm in
      let all = guests()
      all[3].host = all[0]
      try realm.write { realm.add(all) }
      desk.tokens = [
        realm.objects(SpecGuest.self).sectioned(
          by: { $0.host?.name ?? "-" }, sortDescriptors: [SortDescriptor(keyPath: "id")]
        ).observe(keyPaths: ["age"]) { desk.note("all", $0) }
      ]
    }
    #expect(await desk.next() == "all initial")
    #expect(
      try await told(desk) { Self.guest($0, 1)?.name = "Anna" }
        == ["all -[] +[[1, 0]] ~[] S+[1] S-[1]"])
  }

  @Test func `a section that changes its place is gone and comes anew, but for its own observers`()
    async throws
  {
    let desk = try Desk(specConfiguration(guestTypes))
    try desk.run { realm in
      try realm.write { realm.add(guests()) }
      let sections = realm.objects(SpecGuest.self).sectioned(
        by: { $0.city ?? "-" }, sortDescriptors: [SortDescriptor(keyPath: "age")])
      #expect(sections.map(\.key) == ["-", "Bonn", "Celle", "Aachen"])
      desk.tokens = [
        sections.observe { desk.note("all", $0) }, sections[1].observe { desk.note("bonn", $0) },
        sections[2].observe { desk.note("celle", $0) },
      ]
    }
    for name in ["all", "bonn", "celle"] { #expect(await desk.next() == "\(name) initial") }
    #expect(
      try await told(desk) { Self.guest($0, 5)?.age = 60 } == [
        "all -[] +[[3, 0]] ~[] S+[3] S-[2]", "celle -[[2, 0]] +[[3, 0]] ~[] S+[] S-[]",
      ])
  }

  @Test(arguments: 0..<20) func `changes lead from one layout to the next`(seed: UInt64)
    async throws
  {
    var random = SeededGenerator(seed: seed)
    let desk = try Desk(specConfiguration(guestTypes))
    // The names in each section, as an observer who applies what it is told has them.
    final class Copy: @unchecked Sendable { var sections: [[Int]] = [] }
    let copy = Copy()
    // By the age sections stay in their order; by the key they follow what is in them.
    func sections(_ realm: Realm) -> SectionedResults<Int, SpecGuest> {
      realm.objects(SpecGuest.self).sectioned(
        by: { seed % 2 == 0 ? $0.age / 10 : $0.id % 4 },
        sortDescriptors: [SortDescriptor(keyPath: "age")])
    }
    desk.run { realm in
      desk.tokens = [
        sections(realm).observe { change in
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
      // Who is not told knows it already.
      let isSkipped = step % 3 == 1
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
        #expect(throws: Never.self) {
          try realm.commitWrite(withoutNotifying: isSkipped ? desk.tokens : [])
        }
        if isSkipped { copy.sections = sections(realm).map { $0.map(\.id) } }
      }
      if !isSkipped { #expect(await desk.next() == "told") }
    }
  }
}
