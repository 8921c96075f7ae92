import Foundation
import TestSupport
import Testing

@testable import Cambium

/// Which values of a type are equal, and in which order they are sorted: one table of cases, asked of
/// properties, lists, sets, maps and values of any type.
@Suite struct OrderTableTests {
  /// Values of a type by rising order; those of one row are equal.
  private struct Table<Value> {
    let rows: [[Value]]
    /// Which row is of no number, and so no extreme.
    var nan: Int?
    /// Whether a query finds it; of `Float` and `Double` it is equal to nothing, not even to itself.
    var isNaNEqual = false
    /// Whether conditions may ask for less and more.
    var isOrdered = true

    /// The values with their rows, each value twice.
    var all: [(row: Int, value: Value)] {
      rows.enumerated().flatMap { row, values in (values + values).map { (row, $0) } }
    }

    /// The row of a value as it is written, which tells zeros apart.
    func row(_ value: Value?) -> Int? {
      value.flatMap { value in rows.firstIndex { $0.contains { text($0) == text(value) } } }
    }

    private func text(_ value: Value) -> String {
      switch (value as? AnyRealmValue).map({ AnyRealmValue._rlmDynamicValue($0) ?? "null" })
        ?? value
      {
      case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
      case let data as Data: "\(Array(data))"
      // Equal texts have equal bytes here.
      case let text as String: "\(Array(text.utf8))"
      case let other: "\(type(of: other)) \(other)"
      }
    }
  }

  private func check<Value>(
    _ table: Table<Value>, _ any: @escaping (Value) -> AnyRealmValue,
    extremes: (Results<FamilyOf<Value>>, FamilyOf<Value>) -> Void = { _, _ in }
  ) throws
  where Value: _PersistableInsideOptional & _RealmCollectionValueInsideOptional {
    var random = SeededGenerator(seed: 5)
    let realm = try Realm(
      configuration: specConfiguration([FamilyOf<Value>.self] + Family.linked))
    let cases = table.all.shuffled(using: &random)
    let owner = FamilyOf<Value>()
    owner.uid = -1
    let knot = FamilyKnot()
    realm.beginWrite()
    realm.add(owner)
    realm.add(knot)
    for (uid, (_, value)) in cases.enumerated() {
      realm.create(FamilyOf<Value>.self, value: ["uid": uid, "one": value, "maybe": value])
      owner.map["k\(uid)"] = value
      owner.maybeMap["k\(uid)"] = .some(value)
      knot.anyMap["k\(uid)"] = any(value)
    }
    realm.create(FamilyOf<Value>.self, value: ["uid": cases.count])
    owner.list.append(objectsIn: cases.map(\.value))
    owner.maybes.append(objectsIn: cases.map(\.value) + [nil])
    owner.set.insert(objectsIn: cases.map(\.value))
    owner.maybeSet.insert(objectsIn: cases.map(\.value) + [nil])
    owner.maybeMap["null"] = .some(nil)
    knot.anyList.append(objectsIn: cases.map { any($0.value) } + [.none])
    knot.anySet.insert(objectsIn: cases.map { any($0.value) } + [.none])
    try realm.commitWrite()
    let objects = realm.objects(FamilyOf<Value>.self).filter("uid >= 0 AND uid < \(cases.count)")
    try expectOrder(table, objects, owner, knot, any)
    try expectConditions(table, cases, realm, owner, knot, any)
    extremes(objects, owner)
    let anyRows = Table(rows: table.rows.map { $0.map(any) })
    // What is no number and no date has no extremes.
    if knot.anyList.min() != nil {
      #expect(anyRows.row(knot.anyList.min()) == 0 && anyRows.row(knot.anySet.min()) == 0)
      #expect(anyRows.row(knot.anyList.max()) == table.rows.count - 1)
      #expect(anyRows.row(knot.anyMap.max()) == table.rows.count - 1)
    }
  }

  // MARK: Order and equality

  private func expectOrder<Value>(
    _ table: Table<Value>, _ objects: Results<FamilyOf<Value>>, _ owner: FamilyOf<Value>,
    _ knot: FamilyKnot, _ any: (Value) -> AnyRealmValue
  ) throws {
    let rows = table.all.map(\.row)
    let anyRows = Table(rows: table.rows.map { $0.map(any) })
    let once = Array(table.rows.indices)
    for isRising in [true, false] {
      func ordered(_ rows: [Int]) -> [Int?] { isRising ? rows : rows.reversed() }
      // Null is below all.
      func withNull(_ rows: [Int]) -> [Int?] { ordered([-1] + rows).map { $0 == -1 ? nil : $0 } }
      let order = [Cambium.SortDescriptor(keyPath: "self", ascending: isRising)]
      func objectRows(_ key: String) -> [Int?] {
        objects.sorted(byKeyPath: key, ascending: isRising).map {
          table.row(key == "one" ? $0.one : $0.maybe)
        }
      }
      #expect(objectRows("one") == ordered(rows))
      #expect(objectRows("maybe") == ordered(rows))
      #expect(owner.list.sorted(by: order).map(table.row) == ordered(rows))
      #expect(owner.maybes.sorted(by: order).map(table.row) == withNull(rows))
      #expect(owner.set.sorted(by: order).map(table.row) == ordered(once))
      #expect(owner.maybeSet.sorted(by: order).map(table.row) == withNull(once))
      #expect(owner.map.sorted(by: order).map(table.row) == ordered(rows))
      #expect(owner.maybeMap.sorted(by: order).map(table.row) == withNull(rows))
      #expect(knot.anyList.sorted(by: order).map(anyRows.row) == withNull(rows))
      #expect(knot.anySet.sorted(by: order).map(anyRows.row) == withNull(once))
      #expect(knot.anyMap.sorted(by: order).map(anyRows.row) == ordered(rows))
    }
    #expect(Set(objects.distinct(by: ["one"]).map { table.row($0.one) }) == Set(once))
    #expect(objects.distinct(by: ["maybe"]).count == once.count)
    #expect(owner.list.distinct(by: ["self"]).count == once.count)
    #expect(owner.maybes.distinct(by: ["self"]).count == once.count + 1)
    #expect(owner.set.count == once.count && owner.maybeSet.count == once.count + 1)
    #expect(knot.anyList.distinct(by: ["self"]).count == once.count + 1)
    #expect(knot.anySet.count == once.count + 1)
  }

  // MARK: Conditions

  private func expectConditions<Value>(
    _ table: Table<Value>, _ cases: [(row: Int, value: Value)], _ realm: Realm,
    _ owner: FamilyOf<Value>, _ knot: FamilyKnot, _ any: (Value) -> AnyRealmValue
  ) throws {
    let objects = realm.objects(FamilyOf<Value>.self).filter("uid >= 0")
    func rows(_ symbol: String, _ value: Value) -> [Int] {
      objects.filter("maybe \(symbol) %@", value).compactMap { table.row($0.maybe) }.sorted()
    }
    for (row, values) in table.rows.enumerated() {
      for value in values {
        let isNaN = row == table.nan && !table.isNaNEqual
        let equal = isNaN ? [] : cases.map(\.row).filter { $0 == row }
        #expect(rows("==", value) == equal, "\(value)")
        #expect(
          objects.filter("maybe != %@", value).count == cases.count + 1 - equal.count, "\(value)")
        #expect(
          objects.filter("one IN %@", [value]).filter("uid < \(cases.count)").count
            == equal.count, "\(value)")
        let mine = realm.objects(FamilyOf<Value>.self)
        for key in ["list", "maybes", "set", "maybeSet", "map.@allValues", "maybeMap.@allValues"] {
          #expect(
            mine.filter("ANY \(key) == %@", value).count == (isNaN ? 0 : 1), "\(key) \(value)")
        }
        for key in ["anyList", "anySet", "anyMap.@allValues"] {
          // Among values of any type all numbers are equal to themselves.
          let found = realm.objects(FamilyKnot.self).filter("ANY \(key) == %@", any(value))
          #expect(found.count == 1, "\(key) \(value)")
        }
        if !isNaN {
          let first = owner.list.index(of: value)
          #expect(first.map { table.row(owner.list[$0]) } == row, "\(value)")
          #expect(owner.set.contains(value) && owner.maybeSet.contains(value), "\(value)")
          #expect(knot.anySet.contains(any(value)), "\(value)")
        }
        guard table.isOrdered else { continue }
        let numbers = cases.map(\.row).filter { !isNaN && ($0 != table.nan || table.isNaNEqual) }
          .sorted()
        #expect(rows("<", value) == numbers.filter { $0 < row }, "\(value)")
        #expect(rows("<=", value) == numbers.filter { $0 <= row }, "\(value)")
        #expect(rows(">", value) == numbers.filter { $0 > row }, "\(value)")
        #expect(rows(">=", value) == numbers.filter { $0 >= row }, "\(value)")
      }
    }
    #expect(objects.filter("maybe == nil").count == 1)
    #expect(objects.filter("maybe != nil").count == cases.count)
  }

  // MARK: Extremes

  /// The same for numbers and dates, which have a least and a greatest.
  private func checkNumbers<Value>(
    _ table: Table<Value>, _ any: @escaping (Value) -> AnyRealmValue
  ) throws
  where
    Value: _PersistableInsideOptional & _RealmCollectionValueInsideOptional & MinMaxType,
    Value.PersistedType: MinMaxType
  {
    try check(table, any) { objects, owner in
      let rows = table.rows.indices.filter { $0 != table.nan }
      let (low, high) = (rows.first, rows.last)
      #expect(table.row(objects.min(ofProperty: "one")) == low)
      #expect(table.row(objects.max(ofProperty: "one")) == high)
      #expect(table.row(objects.min(ofProperty: "maybe")) == low)
      #expect(table.row(objects.max(ofProperty: "maybe")) == high)
      #expect(table.row(owner.list.min()) == low && table.row(owner.list.max()) == high)
      #expect(table.row(owner.maybes.min() ?? nil) == low)
      #expect(table.row(owner.maybes.max() ?? nil) == high)
      #expect(table.row(owner.set.min()) == low && table.row(owner.set.max()) == high)
      #expect(table.row(owner.map.min()) == low && table.row(owner.map.max()) == high)
    }
  }

  // MARK: The table

  @Test func `integers and truth values`() throws {
    try checkNumbers(Table(rows: [[Int.min], [-256], [-1], [0], [1], [255], [1 << 53], [Int.max]]))
    {
      .int($0)
    }
    try checkNumbers(Table(rows: [[Int8.min], [-1], [0], [1], [Int8.max]])) { .int(Int($0)) }
    try check(Table(rows: [[false], [true]], isOrdered: false)) { .bool($0) }
  }

  @Test func `floating numbers, of which one is none`() throws {
    try checkNumbers(
      Table(
        rows: [
          [.nan], [-Double.infinity], [-1.5], [-.leastNonzeroMagnitude], [-0.0, 0.0], [0.1],
          [0.5], [.infinity],
        ], nan: 0)
    ) { .double($0) }
    try checkNumbers(
      Table(
        rows: [
          [.nan], [-Float.infinity], [-2.25], [-0.0, 0.0], [0.1], [.greatestFiniteMagnitude],
        ],
        nan: 0)
    ) { .float($0) }
  }

  @Test func `decimals of equal and unequal digits`() throws {
    func decimals(_ texts: String...) throws -> [Decimal128] {
      try texts.map { try Decimal128(string: $0) }
    }
    try checkNumbers(
      Table(
        rows: [
          decimals("NaN"), decimals("-Infinity"), decimals("-1E3", "-1000"), decimals("-0.5"),
          decimals("0", "-0", "0.00"), decimals("1E-30"), decimals("1", "1.0", "10E-1"),
          decimals("9999999999999999999999999999999999"), decimals("Infinity"),
        ], nan: 0, isNaNEqual: true)
    ) { .decimal128($0) }
  }

  @Test func `texts and data by their bytes`() throws {
    let texts = ["", "A", "Z", "a", "aa", "b", "e\u{301}", "z", "\u{E9}", "\u{FFFD}", "\u{1F600}"]
    try check(Table(rows: texts.map { [$0] })) { .string($0) }
    try check(
      Table(rows: [[], [0], [0, 0], [1], [127], [128], [255], [255, 0]].map { [Data($0)] })
    ) { .data($0) }
  }

  @Test func `dates, also before 1970 and between two seconds`() throws {
    let seconds = [-62_135_596_800.0, -1.5, -1, -0.25, 0, 0.25, 1, 1.5, 253_402_300_799]
    try checkNumbers(Table(rows: seconds.map { [Date(timeIntervalSince1970: $0)] })) { .date($0) }
  }

  @Test func `identifiers`() throws {
    let tails: [UInt32] = [0, 1, 255, 256, .max]
    let ids = [0, 1, 1 << 63].flatMap { head in tails.map { ObjectId(head: head, tail: $0) } }
    try check(Table(rows: ids.map { [$0] }, isOrdered: false)) { .objectId($0) }
    let firsts: [(UInt8, UInt8)] = [
      (0, 0), (0, 1), (0, 255), (1, 0), (127, 9), (128, 0), (255, 255),
    ]
    try check(
      Table(
        rows: firsts.map { [UUID(uuid: ($0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $1))] },
        isOrdered: false)
    ) { .uuid($0) }
  }
}
