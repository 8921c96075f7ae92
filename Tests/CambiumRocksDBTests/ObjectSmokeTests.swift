#if RocksDB
  import Cambium
  import CambiumRocksDB
  import Foundation
  import TestSupport
  import Testing

  final class Harbour: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var ships: List<Ship>
  }

  final class Ship: Object {
    @Persisted(primaryKey: true) var number: Int
    @Persisted(indexed: true) var name: String
    @Persisted var tonnage: Double
    @Persisted var log: Data?
    @Persisted var sister: Ship?
    @Persisted(originProperty: "ships") var harbours: LinkingObjects<Harbour>
  }

  /// The object layer over RocksDB does what it does over a file.
  struct ObjectSmokeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func configuration(_ store: Realm.Store) -> Realm.Configuration {
      var configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder.file(store.kind)))
      configuration.store = store
      configuration.objectTypes = [Harbour.self, Ship.self]
      return configuration
    }

    private func fill(_ realm: Realm, seed: UInt64) throws {
      var generator = SeededGenerator(seed: seed)
      try realm.write {
        let harbours = (0..<5).map { realm.create(Harbour.self, value: ["name": "harbour \($0)"]) }
        var last: Ship?
        for number in 0..<400 {
          let ship = Ship()
          ship.number = number
          ship.name = "ship \(Int.random(in: 0..<40, using: &generator))"
          ship.tonnage = Double(Int.random(in: 1...9_000, using: &generator))
          ship.log = number % 7 == 0 ? Data(generator.bytes(count: number * 20)) : nil
          ship.sister = last
          realm.add(ship)
          harbours[number % 5].ships.append(ship)
          last = ship
        }
      }
      for round in 0..<10 {
        try realm.write {
          let old = realm.objects(Ship.self).where {
            $0.number >= round * 3 && $0.number < round * 4
          }
          realm.delete(old)
          for ship in realm.objects(Ship.self).filter("name == 'ship \(round)'") {
            ship.tonnage += 1
          }
        }
      }
    }

    /// Everything that is asked of a Realm, as text.
    private func answers(_ realm: Realm) -> [String] {
      let ships = realm.objects(Ship.self)
      let heavy = ships.where { $0.tonnage > 4_500 }.sorted(byKeyPath: "number")
      let harbours = realm.objects(Harbour.self).sorted(byKeyPath: "name")
      let all = Array(ships.sorted(byKeyPath: "number"))
      return [
        "\(ships.count) \(Array(heavy).map(\.number))",
        "\(Array(ships.filter("name == 'ship 7'").sorted(byKeyPath: "number")).map(\.number))",
        "\(ships.sum(ofProperty: "tonnage") as Double)",
        "\(Array(harbours).map { Array($0.ships).map(\.number) })",
        "\(all.map { $0.harbours.count })",
        "\(all.map { $0.sister?.number ?? -1 })",
        "\(all.map { $0.log?.count ?? -1 })",
      ]
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `objects, lists, links, queries and reopening agree with the file store`(seed: UInt64)
      throws
    {
      var expected: [String] = []
      for store in [Realm.Store.file, .rocksDB()] {
        try autoreleasepool {
          let realm = try Realm(configuration: configuration(store))
          try fill(realm, seed: seed)
          let found = answers(realm)
          if expected.isEmpty { expected = found }
          #expect(found == expected)
          let frozen = realm.freeze()
          try realm.write { realm.delete(realm.objects(Ship.self)) }
          #expect(answers(frozen) == expected)
          #expect(realm.objects(Ship.self).isEmpty)
        }
        try autoreleasepool {
          let realm = try Realm(configuration: configuration(store))
          #expect(realm.objects(Harbour.self).count == 5)
          #expect(realm.objects(Ship.self).isEmpty)
          try fill2(realm)
        }
      }
    }

    private func fill2(_ realm: Realm) throws {
      try realm.write { realm.add(Ship(value: ["number": 1, "name": "again"])) }
      #expect(realm.object(ofType: Ship.self, forPrimaryKey: 1)?.name == "again")
      realm.beginWrite()
      realm.add(Ship(value: ["number": 2]))
      realm.cancelWrite()
      #expect(realm.objects(Ship.self).count == 1)
    }

    @Test func `copies go from one kind of store to another`() throws {
      let source = configuration(.file)
      let destination = configuration(.rocksDB())
      let realm = try Realm(configuration: source)
      try fill(realm, seed: 4)
      try realm.writeCopy(configuration: destination)
      let copy = try Realm(configuration: destination)
      #expect(answers(copy) == answers(realm))
    }

    @Test func `a file is named where RocksDB was chosen, and the other way round`() throws {
      try autoreleasepool { _ = try Realm(configuration: configuration(.file)) }
      try autoreleasepool { _ = try Realm(configuration: configuration(.rocksDB())) }
      var wrong = configuration(.file)
      wrong.store = .rocksDB()
      let error = #expect(throws: RLMError.self) { try Realm(configuration: wrong) }
      #expect("\(String(describing: error))".contains("file"))
      wrong = configuration(.rocksDB())
      wrong.store = .file
      #expect(throws: RLMError.self) { try Realm(configuration: wrong) }
    }
  }
#endif
