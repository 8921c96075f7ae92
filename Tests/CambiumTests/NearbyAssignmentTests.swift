import Cambium
import Foundation
import TestSupport
import Testing

/// Objects that are changed and read where the transaction changed something last.
@Suite struct NearbyAssignmentTests {
  class Cell: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var int: Int
    @Persisted var optionalInt: Int?
    @Persisted var small: Int8
    @Persisted var flag: Bool
    @Persisted var float: Float
    @Persisted var double: Double?
    @Persisted var date: Date
    @Persisted var uuid: UUID?
    @Persisted var text: String
    @Persisted(indexed: true) var indexed: Int
    @Persisted var next: Cell?
  }

  private struct Plain: Equatable {
    var int = 0
    var optionalInt: Int?
    var small: Int8 = 0
    var flag = false
    var float: Float = 0
    var double: Double?
    var date = Date(timeIntervalSince1970: 0)
    var uuid: UUID?
    var text = ""
    var indexed = 0
    var next: Int?

    init() {}

    init(_ cell: Cell) {
      (int, optionalInt, small, flag) = (cell.int, cell.optionalInt, cell.small, cell.flag)
      (float, double, date, uuid) = (cell.float, cell.double, cell.date, cell.uuid)
      (text, indexed, next) = (cell.text, cell.indexed, cell.next?.id)
    }
  }

  private static func integer(_ random: inout SeededGenerator) -> Int {
    // Mostly what fits in the place of others, sometimes what does not.
    Int.random(in: 0..<12, using: &random) == 0
      ? Int.random(in: .min ... .max, using: &random) : Int.random(in: 0...100, using: &random)
  }

  /// Changes one property in the object and in its model.
  private static func change(
    _ cell: Cell, _ plain: inout Plain, _ others: [Int: Cell], _ random: inout SeededGenerator
  ) {
    let number = integer(&random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 11: (cell.int, plain.int) = (number, number)
    case 1:
      let value = number % 3 == 0 ? nil : number
      (cell.optionalInt, plain.optionalInt) = (value, value)
    case 2:
      let value = Int8(truncatingIfNeeded: number)
      (cell.small, plain.small) = (value, value)
    case 3: (cell.flag, plain.flag) = (number % 2 == 0, number % 2 == 0)
    case 4: (cell.float, plain.float) = (Float(number), Float(number))
    case 5:
      let value = number % 3 == 0 ? nil : Double(number) / 3
      (cell.double, plain.double) = (value, value)
    case 6:
      let value = Date(timeIntervalSince1970: Double(number % 1_000_000))
      (cell.date, plain.date) = (value, value)
    case 7:
      let value = number % 3 == 0 ? nil : UUID()
      (cell.uuid, plain.uuid) = (value, value)
    case 8:
      let value = String(repeating: "x", count: abs(number % 9))
      (cell.text, plain.text) = (value, value)
    case 9: (cell.indexed, plain.indexed) = (number, number)
    default:
      let value = others.values.first
      (cell.next, plain.next) = (value, value?.id)
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `objects hold what they were given, in a transaction and after it`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Cell.self]))
    var model: [Int: Plain] = [:]
    var nextID = 0
    for round in 0..<40 {
      let before = model
      var cells: [Int: Cell] = [:]
      for cell in realm.objects(Cell.self) { cells[cell.id] = cell }
      realm.beginWrite()
      for _ in 0..<Int.random(in: 1...120, using: &random) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where round < 30:
          let cell = Cell()
          // Some before the others, so that their rows move.
          cell.id = nextID % 3 == 0 ? -nextID : nextID
          nextID += 1
          realm.add(cell)
          (cells[cell.id], model[cell.id]) = (cell, Plain(cell))
        case 1 where Int.random(in: 0..<4, using: &random) == 0:
          guard let (id, cell) = cells.randomElement(using: &random) else { continue }
          realm.delete(cell)
          (cells[id], model[id]) = (nil, nil)
          for other in model.keys where model[other]?.next == id { model[other]?.next = nil }
        default:
          guard let id = cells.keys.sorted().randomElement(using: &random), let cell = cells[id]
          else { continue }
          // A few changes of the same object, or of its neighbours.
          for step in 0..<Int.random(in: 1...4, using: &random) {
            guard let cell = round % 2 == 0 ? cell : cells[id + step] else { continue }
            Self.change(cell, &model[cell.id, default: Plain()], cells, &random)
            #expect(Plain(cell) == model[cell.id], "seed \(seed), round \(round), \(cell.id)")
          }
        }
      }
      for (id, cell) in cells { #expect(Plain(cell) == model[id], "seed \(seed), round \(round)") }
      if Int.random(in: 0..<5, using: &random) == 0 {
        realm.cancelWrite()
        model = before
      } else {
        try realm.commitWrite()
      }
      #expect(realm.objects(Cell.self).count == model.count)
      for cell in realm.objects(Cell.self) {
        #expect(Plain(cell) == model[cell.id], "seed \(seed), round \(round), \(cell.id)")
        #expect(realm.objects(Cell.self).where { $0.indexed == cell.indexed }.contains(cell))
      }
    }
  }

  @Test func `an update that says what is there already tells nobody, near a change as elsewhere`()
    async throws
  {
    let desk = try Desk(
      Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Cell.self]))
    try desk.queue.sync {
      let realm: Realm = desk.realm
      try realm.write {
        for id in 0..<3 { realm.create(Cell.self, value: ["id": id, "int": 5]) }
      }
      desk.tokens = [realm.objects(Cell.self).observe(keyPaths: ["int"]) { desk.note($0) }]
    }
    #expect(await desk.next() == "initial 3")
    try desk.queue.sync {
      let realm: Realm = desk.realm
      let cells = Array(realm.objects(Cell.self))
      try realm.write {
        (cells[0].flag, cells[0].flag) = (true, false)
        realm.create(Cell.self, value: ["id": 0, "int": 5], update: .modified)
        realm.create(Cell.self, value: ["id": 1, "int": 6], update: .modified)
        // An assignment is a change, whatever was there.
        cells[2].int = 5
      }
    }
    #expect(await desk.next() == "-[] +[] ~[1, 2]")
  }
}
