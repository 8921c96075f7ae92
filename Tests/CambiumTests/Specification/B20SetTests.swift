import Cambium
import Foundation
import TestSupport
import Testing

/// Section B20.3: what observers of sets are told.
@Suite struct B20SetTests {
  private static let types = B14SetTests.types

  @Test func `observers of a set are told what came and went`() async throws {
    let desk = try Desk(specConfiguration(Self.types))
    try desk.run { realm in
      try realm.write {
        let sets = realm.create(
          SpecSets.self, value: ["ints": Array(stride(from: 0, to: 20, by: 2))])
        sets.members.insert(objectsIn: (0..<3).map { SpecSetMember(value: ["name": "\($0)"]) })
      }
      let sets = try #require(realm.objects(SpecSets.self).first)
      desk.tokens = [sets.ints.observe { [unowned desk] in desk.note($0) }]
    }
    #expect(await desk.next() == "initial 10")
    let other = try Desk(desk.configuration)
    func write(_ body: (SpecSets) -> Void) throws {
      try other.run { realm in
        try realm.write { body(realm.objects(SpecSets.self).first!) }
      }
    }
    try write { sets in
      // Nothing changes.
      sets.ints.insert(4)
      sets.ints.remove(5)
    }
    try write { sets in
      sets.ints.insert(5)
      sets.ints.remove(0)
      sets.ints.insert(objectsIn: [100, 101])
    }
    var told = await desk.next()
    #expect(told == "-[0] +[2, 10, 11] ~[]")
    try write { $0.ints.removeAll() }
    told = await desk.next()
    #expect(told == "-\(Array(0..<12)) +[] ~[]")
    desk.run { realm in
      let sets = realm.objects(SpecSets.self).first!
      desk.tokens = [sets.members.observe { [unowned desk] in desk.note($0) }]
    }
    #expect(await desk.next() == "initial 3")
    try write { sets in sets.members[1].age = 5 }
    told = await desk.next()
    #expect(told == "-[] +[] ~[1]")
    try write { sets in sets.realm?.delete(sets.members[0]) }
    told = await desk.next()
    #expect(told == "-[0] +[] ~[]")
  }

  @Test func `observers of a set that is emptied and filled again are told so`() async throws {
    let desk = try Desk(specConfiguration(Self.types))
    try desk.run { realm in
      try realm.write {
        let sets = realm.create(SpecSets.self, value: ["ints": [1, 2, 3]])
        sets.members.insert(objectsIn: (0..<3).map { SpecSetMember(value: ["name": "\($0)"]) })
      }
      let sets = try #require(realm.objects(SpecSets.self).first)
      desk.tokens = [sets.ints.observe { [unowned desk] in desk.note($0) }]
    }
    #expect(await desk.next() == "initial 3")
    let other = try Desk(desk.configuration)
    func write(_ body: (SpecSets) -> Void) throws {
      try other.run { realm in
        try realm.write { body(realm.objects(SpecSets.self).first!) }
      }
    }
    try write { sets in
      sets.ints.removeAll()
      sets.ints.insert(objectsIn: [3, 2])
      sets.ints.insert(7)
    }
    var told = await desk.next()
    #expect(told == "-[0, 1, 2] +[0, 1, 2] ~[]")
    // What came and went before or after that changes nothing of it.
    try write { sets in
      sets.ints.insert(1)
      sets.ints.removeAll()
      sets.ints.insert(7)
      sets.ints.insert(8)
      sets.ints.remove(8)
    }
    told = await desk.next()
    #expect(told == "-[0, 1, 2] +[0] ~[]")
    desk.run { realm in
      let sets = realm.objects(SpecSets.self).first!
      desk.tokens = [sets.members.observe { [unowned desk] in desk.note($0) }]
    }
    #expect(await desk.next() == "initial 3")
    try write { sets in
      let members = Array(sets.members)
      sets.members.removeAll()
      sets.members.insert(objectsIn: members.dropFirst())
    }
    told = await desk.next()
    #expect(told == "-[0, 1, 2] +[0, 1] ~[]")
  }
}
