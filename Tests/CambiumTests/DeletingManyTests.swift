import Cambium
import Foundation
import TestSupport
import Testing

/// Deleting many objects at once goes tree by tree; it must leave what deleting them one by one does.
@Suite struct DeletingManyTests {
  class Station: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var name: String
    @Persisted(indexed: true) var zone: Int?
    @Persisted var next: Station?
    @Persisted var lines: List<Line>
    @Persisted(originProperty: "next") var previous: LinkingObjects<Station>
    @Persisted(originProperty: "stops") var stopping: LinkingObjects<Line>
  }

  class Line: Object {
    @Persisted(primaryKey: true) var code: String
    @Persisted var terminus: Station?
    @Persisted var stops: List<Station>
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `deleting many objects is deleting each of them`(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let store = SampledStore.one(seed: seed, persistent: true)
    var random = SeededGenerator(seed: seed)
    let zoneLimit = Int.random(in: 0...4, using: &random)
    var states: [[String]] = []
    for index in 0..<2 {
      var random = SeededGenerator(seed: seed)
      var configuration = store.configuration(
        folder.file(["many", "each"][index]), [Station.self, Line.self])
      configuration.durability = .relaxed
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        try realm.write { fill(realm, &random) }
        try realm.write {
          if seed % 2 == 0 { fill(realm, &random, from: 1000) }
          let doomed = realm.objects(Station.self).where { $0.zone < zoneLimit || $0.zone == nil }
          if index == 0 {
            realm.delete(doomed)
          } else {
            for station in Array(doomed) { realm.delete(station) }
          }
        }
        states.append(state(of: realm))
        try realm.write {
          if index == 0 {
            realm.delete(realm.objects(Line.self))
          } else {
            for line in Array(realm.objects(Line.self)) { realm.delete(line) }
          }
        }
        states.append(state(of: realm))
      }
      try store.expectSound(configuration)
    }
    #expect(states[0] == states[2])
    #expect(states[1] == states[3])
  }

  @Test func `objects of several classes and accessors are deleted together`() throws {
    let realm = try testRealm([Station.self, Line.self])
    try realm.write {
      let stations = (0..<6).map { realm.create(Station.self, value: ["id": $0]) }
      let line = realm.create(Line.self, value: ["code": "a", "stops": stations])
      let twice = realm.object(ofType: Station.self, forPrimaryKey: 1)
      realm.delete([stations[0], line, stations[1], twice!, stations[4], stations[5]] as [Object])
      #expect(stations.map(\.isInvalidated) == [true, true, false, false, true, true])
      #expect(twice?.isInvalidated == true && line.isInvalidated)
    }
    #expect(realm.objects(Station.self).map(\.id) == [2, 3] && realm.objects(Line.self).isEmpty)
  }

  class Crowd: Object {
    @Persisted var members: MutableSet<Station>
    @Persisted var places: Map<String, Station?>
  }

  @Test(arguments: [3, 600]) func `who is deleted is gone from sets and maps, small and large`(
    count: Int
  ) throws {
    let realm = try testRealm([Station.self, Line.self, Crowd.self])
    try realm.write {
      let crowd = realm.create(Crowd.self)
      for id in 0..<count {
        let station = realm.create(Station.self, value: ["id": (id * 7919) % 1_000])
        crowd.members.insert(station)
        crowd.places["\(id)"] = station
        crowd.places["again \(id)"] = station
      }
      for id in [0, 7919 % 1_000] {
        let station = try #require(realm.object(ofType: Station.self, forPrimaryKey: id))
        realm.delete(station)
      }
      #expect(crowd.members.count == count - 2 && !crowd.members.contains { $0.id == 0 })
      let gone = crowd.places.filter { $0.value == nil }.map(\.key).sorted()
      #expect(gone == ["0", "1", "again 0", "again 1"])
      realm.delete(crowd.members)
      #expect(crowd.members.isEmpty && realm.objects(Station.self).isEmpty)
      #expect(crowd.places.allSatisfy { $0.value == nil } && crowd.places.count == 2 * count)
    }
  }

  @Test func `objects made again after all were deleted are others`() throws {
    let realm = try testRealm([Station.self, Line.self])
    realm.beginWrite()
    let first = realm.create(Station.self, value: ["id": 1])
    realm.deleteAll()
    #expect(first.isInvalidated)
    let second = realm.create(Station.self, value: ["id": 1])
    #expect(first.isInvalidated)
    #expect(!second.isInvalidated)
    try realm.commitWrite()
  }

  @Test func `what links twice is deleted once`() throws {
    let realm = try testRealm([Station.self, Line.self])
    try realm.write {
      let station = realm.create(Station.self, value: ["id": 1])
      let line = realm.create(Line.self, value: ["code": "a", "stops": [station, station]])
      realm.create(Line.self, value: ["code": "b", "stops": [station]])
      #expect(station.stopping.count == 3)
      realm.delete(station.stopping)
      #expect(line.isInvalidated)
      #expect(station.stopping.isEmpty)
    }
    #expect(realm.objects(Line.self).isEmpty)
  }

  @Test func `a sequence may have several accessors of an object`() throws {
    let realm = try testRealm([Station.self, Line.self])
    try realm.write {
      let stations = (0..<3).map { realm.create(Station.self, value: ["id": $0]) }
      let twins = Array(realm.objects(Station.self).sorted(by: \.id))
      realm.delete(stations[0...1] + twins[1...2])
      #expect(stations.allSatisfy(\.isInvalidated) && twins.allSatisfy(\.isInvalidated))
      let kept = realm.create(Line.self, value: ["code": "a"])
      let slice = realm.create(
        Line.self, value: ["code": "b", "stops": [["id": 7], ["id": 8], ["id": 9]]]
      ).stops
      realm.delete(slice[0...1])
      #expect(slice.map(\.id) == [9])
      #expect(!kept.isInvalidated)
    }
    #expect(realm.objects(Station.self).map(\.id) == [9])
  }

  @Test func `a list is walked once, however many of its objects are deleted`() throws {
    let count = 6000
    var reads: [Int] = []
    for isTogether in [false, true] {
      let store = SpyStore(name: UUID().uuidString)
      let realm = try Realm(configuration: store.configuration([Station.self, Line.self]))
      try realm.write {
        let line = realm.create(Line.self, value: ["code": "all"])
        line.stops.append(
          objectsIn: (0..<count).map { index in
            // Keys without order, so that the list's leaves are many.
            let id = Int(truncatingIfNeeded: UInt64(index) &* 0x9E37_79B9_7F4A_7C15)
            return Station(value: ["id": id, "zone": index < count - 100 ? 2 : 1])
          })
      }
      let line = try #require(realm.objects(Line.self).first)
      let doomed = realm.objects(Station.self).where { $0.zone == 1 }
      realm.beginWrite()
      let before = store.leafReadCount
      if isTogether {
        realm.delete(doomed)
      } else {
        for station in Array(doomed) { realm.delete(station) }
      }
      reads.append(store.leafReadCount - before)
      #expect(line.stops.count == count - 100)
      #expect(line.stops.allSatisfy { $0.zone == 2 })
      try realm.commitWrite()
    }
    // Each walk reads the leaves of the list that have not changed.
    #expect(reads[1] * 2 < reads[0], "\(reads) leaves")
  }

  private func fill(_ realm: Realm, _ random: inout SeededGenerator, from first: Int = 0) {
    let lines = (0..<20).map { index in
      realm.create(Line.self, value: ["code": "L\(first + index)"])
    }
    var stations: [Station] = []
    for index in 0..<300 {
      let station = Station()
      station.id = first + index * 3 % 301
      station.name = "Station \(Int.random(in: 0..<40, using: &random))"
      station.zone = index % 5 == 4 ? nil : Int.random(in: 0..<4, using: &random)
      station.next = stations.randomElement(using: &random)
      for _ in 0..<Int.random(in: 0..<3, using: &random) {
        if let line = lines.randomElement(using: &random) { station.lines.append(line) }
      }
      realm.add(station)
      stations.append(station)
    }
    for line in lines {
      line.terminus = stations.randomElement(using: &random)
      for _ in 0..<Int.random(in: 0..<60, using: &random) {
        if let station = stations.randomElement(using: &random) { line.stops.append(station) }
      }
    }
  }

  private func state(of realm: Realm) -> [String] {
    let stations = realm.objects(Station.self).sorted(by: \.id).map { station in
      let named = realm.objects(Station.self).where { $0.name == station.name }.count
      return "\(station.id) \(station.name) \(station.zone ?? -1) \(station.next?.id ?? -1) "
        + "\(Array(station.lines.map(\.code))) \(station.previous.map(\.id).sorted()) "
        + "\(station.stopping.map(\.code).sorted()) \(named)"
    }
    let lines = realm.objects(Line.self).sorted(by: \.code).map { line in
      "\(line.code) \(line.terminus?.id ?? -1) \(Array(line.stops.map(\.id)))"
    }
    return Array(stations) + Array(lines)
  }
}
