import CPlatform
import TestSupport
import Testing

@testable import CambiumCore

/// Sorting the rows of a tree by its columns, against an array of rows.
struct RowSortWhiteBoxTests {
  private struct Row {
    var key: Int64
    var cells: [ModelValue]
  }

  /// A tree whose leaves differ in their encodings, and whose first leaves lack columns.
  private func makeTree(
    seed: UInt64, kind: TreeRoot.Kind = .column, codec: (any PageCodec)? = nil
  ) throws -> (bench: ColumnWorkbench, rows: [Row]) {
    let shape = seed % 3 == 0 ? ColumnTreeOptions() : smallShape(rows: 40, room: 5)
    let bench = ColumnWorkbench(
      Array(everyColumn.prefix(2)), kind: kind, options: shape, codec: codec)
    var maker = CellMaker(generator: SeededGenerator(seed: seed))
    var rows: [Row] = []
    var key: Int64 = -300
    for round in 0..<5 {
      try bench.write { editor, _ in
        if round == 1 { editor.layout = ColumnLayout(everyColumn) }
        for row in 0..<(150 + maker.number(300)) {
          if row % 40 == 0, maker.number(2) == 0 { maker.mood = maker.number(56) }
          key += seed % 2 == 0 || maker.number(9) > 0 ? 1 : Int64(maker.number(1000))
          let cells = editor.layout.columns.map { maker.cell($0) }
          let place = rows.count
          try lendRow(cells) { cells in
            if kind == .position {
              try editor.insert(at: place, values: cells)
            } else {
              _ = try editor.insert(key: key, values: cells)
            }
          }
          let rest = everyColumn.dropFirst(cells.count).map { ModelValue(defaultOf: $0) }
          rows.append(Row(key: kind == .position ? Int64(place) : key, cells: cells + rest))
        }
      }
    }
    return (bench, rows)
  }

  /// Negative, zero or positive as a value sorts before, with or behind another one.
  fileprivate func order(_ left: ModelValue, _ right: ModelValue) -> Int {
    func compare<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
      left < right ? -1 : left == right ? 0 : 1
    }
    func doubles(_ left: Double, _ right: Double) -> Int {
      if left.isNaN || right.isNaN { return compare(left.isNaN ? 0 : 1, right.isNaN ? 0 : 1) }
      return compare(left, right)
    }
    switch (left, right) {
    case (.null, .null): return 0
    case (.null, _): return -1
    case (_, .null): return 1
    case (.int(let left), .int(let right)): return compare(left, right)
    case (.bool(let left), .bool(let right)): return compare(left ? 1 : 0, right ? 1 : 0)
    case (.float(let left), .float(let right)):
      return doubles(Double(Float(bitPattern: left)), Double(Float(bitPattern: right)))
    case (.double(let left), .double(let right)):
      return doubles(Double(bitPattern: left), Double(bitPattern: right))
    case (.wide(let low, let high), .wide(let otherLow, let otherHigh)):
      return high == otherHigh ? compare(low, otherLow) : compare(high, otherHigh)
    case (.bytes(let left), .bytes(let right)):
      return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    default: return 0
    }
  }

  private func sorted(_ rows: [Row], _ terms: [SortTerm]) -> [Int64] {
    let places = terms.map { term in everyColumn.firstIndex(of: term.column) ?? 0 }
    let sorted = rows.indices.sorted { left, right in
      for (term, place) in zip(terms, places) {
        let order = order(rows[left].cells[place], rows[right].cells[place])
        if order != 0 { return term.isAscending ? order < 0 : order > 0 }
      }
      return left < right
    }
    return sorted.map { rows[$0].key }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>, [false, true])
  func `rows come in the order of any columns, all or the first of them`(
    seed: UInt64, areDecoded: Bool
  ) throws {
    let (bench, rows) = try makeTree(
      seed: seed, kind: seed % 4 == 0 ? .position : .column, codec: areDecoded ? MaskCodec() : nil)
    var generator = SeededGenerator(seed: seed)
    let held = try bench.snapshot()
    for round in 0..<24 {
      var terms: [SortTerm] = []
      if round < everyColumn.count {
        terms = [SortTerm(everyColumn[round], isAscending: seed % 2 == 0)]
      } else {
        for column in everyColumn.shuffled(using: &generator).prefix(round % 5) {
          terms.append(SortTerm(column, isAscending: Bool.random(using: &generator)))
        }
      }
      let expected = sorted(rows, terms)
      #expect(try held.tree.keys(sortedBy: terms) == expected)
      for limit in [0, 1, 7, rows.count / 9, rows.count / 8 + 1, rows.count, rows.count + 5] {
        // In parts that have some leaves each, one or none.
        let partCount = [1, 2, 3, 100].randomElement(using: &generator)
        let found = try held.tree.keys(sortedBy: terms, limit: limit, partCount: partCount)
        #expect(found == Array(expected.prefix(limit)))
      }
    }
  }

  /// Leaves whose texts all begin alike, some of them for longer than others, sorted by those texts.
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `what all texts begin with changes no order`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let columns = [
      ColumnSpec(id: 1, type: .int, isNullable: false),
      ColumnSpec(id: 2, type: .bytes, isNullable: seed % 2 == 0),
    ]
    let bench = ColumnWorkbench(columns, options: smallShape(rows: 40, room: 5))
    let beginning = [UInt8](repeating: 66, count: Int.random(in: 1...40, using: &generator))
    var rows: [(key: Int64, age: Int64, text: [UInt8]?)] = []
    try bench.write { editor, _ in
      var family: [UInt8] = []
      for index in 0..<700 {
        if index % 100 == 0 {
          family = [UInt8](
            repeating: UInt8.random(in: 0...3, using: &generator),
            count: Int.random(in: 0...20, using: &generator))
        }
        let length = Int.random(in: 0...12, using: &generator)
        let rest = (0..<length).map { _ in UInt8.random(in: 0...2, using: &generator) }
        // Some seeds have one that does not begin so, and some none that is missing.
        let breaks = seed % 3 == 0 && index == 555
        let isNull = seed % 4 == 0 && Int.random(in: 0..<5, using: &generator) == 0
        let text = breaks ? [66] : isNull ? nil : beginning + family + rest
        let age = Int64.random(in: 0...1, using: &generator)
        rows.append((Int64(index), age, text))
        try lendRow([.int(age), text.map { .bytes($0) } ?? .null]) {
          _ = try editor.insert(key: Int64(index), values: $0)
        }
      }
    }
    let held = try bench.snapshot()
    for isAscending in [true, false] {
      for hasAge in [true, false] {
        let text = SortTerm(columns[1], isAscending: isAscending)
        let terms = hasAge ? [SortTerm(columns[0]), text] : [text]
        let expected = rows.sorted { left, right in
          if hasAge, left.age != right.age { return left.age < right.age }
          if left.text != right.text {
            guard let one = left.text, let other = right.text else {
              return (left.text == nil) == isAscending
            }
            return one.lexicographicallyPrecedes(other) == isAscending
          }
          return left.key < right.key
        }.map(\.key)
        #expect(try held.tree.keys(sortedBy: terms) == expected)
        let first = try held.tree.keys(sortedBy: terms, limit: 90, partCount: 2)
        #expect(first == Array(expected.prefix(90)))
      }
    }
    let shared = try SharedPrefix.count(of: columns[1], in: held.tree)
    #expect(shared <= beginning.count, "seed \(seed)")
    if seed % 3 == 0 { #expect(shared <= 1) } else { #expect(shared > 0) }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `rows that agree in many bytes are told apart by the rest`(seed: UInt64) throws {
    let columns = [
      ColumnSpec(id: 1, type: .int, isNullable: seed % 2 == 0),
      ColumnSpec(id: 2, type: .bytes, isNullable: seed % 3 == 0),
    ]
    let bench = ColumnWorkbench(columns)
    var generator = SeededGenerator(seed: seed)
    var rows: [(key: Int64, age: Int64, text: [UInt8])] = []
    try bench.write { editor, _ in
      for index in 0..<3000 {
        let age = Int64.random(in: 0...2, using: &generator)
        // Zeros at the end, and one beginning for most.
        let text =
          [UInt8](repeating: 65, count: Int.random(in: 0...20, using: &generator))
          + [UInt8](repeating: 0, count: Int.random(in: 0...2, using: &generator))
        let key = Int64(index) * (seed % 2 == 0 ? 1 : 3)
        rows.append((key, age, text))
        try lendRow([.int(age), .bytes(text)]) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    rows.sort { left, right in
      if left.age != right.age { return left.age > right.age }
      if left.text != right.text { return left.text.lexicographicallyPrecedes(right.text) }
      return left.key < right.key
    }
    let terms = [SortTerm(columns[0], isAscending: false), SortTerm(columns[1])]
    let held = try bench.snapshot()
    #expect(try held.tree.keys(sortedBy: terms) == rows.map(\.key))
    #expect(try held.tree.keys(sortedBy: terms, limit: 300) == rows.prefix(300).map(\.key))
  }

  @Test(arguments: [0, 1, 2, 19, 20, 21, 700, 40_000])
  func `items come out in the order of their 128 bits`(count: Int) {
    var generator = SeededGenerator(seed: UInt64(count))
    for width in [0, 1, 11, 30, 64] {
      var model: [SortItem] = (0..<count).map { place in
        let mask: UInt64 = width == 64 ? .max : (1 << UInt64(width)) - 1
        let high = UInt64.random(in: 0 ... .max, using: &generator) & mask
        let low = UInt64.random(in: 0...3, using: &generator) << 32 | UInt64(place)
        return SortItem(high: high << UInt64((64 - width) / 2), low: low)
      }
      let items = UnsafeMutablePointer<SortItem>.allocate(capacity: max(1, count))
      defer { items.deallocate() }
      items.initialize(from: model, count: count)
      ItemSorter().sort(items, count)
      model.sort { $0 < $1 }
      let found = (0..<count).map { items[$0] }
      #expect(found.elementsEqual(model) { $0.high == $1.high && $0.low == $1.low })
    }
  }

  @Test(arguments: [0, 1, 7, 8, 9, 10, 11, 12, 13, 40])
  func `rows whose first values begin alike are told apart by what differs`(count: Int) throws {
    let columns = [
      ColumnSpec(id: 1, type: .bytes, isNullable: false),
      ColumnSpec(id: 2, type: .bytes, isNullable: false),
    ]
    let bench = ColumnWorkbench(columns)
    var generator = SeededGenerator(seed: UInt64(count))
    let start = [UInt8](repeating: 111, count: count)
    var rows: [(key: Int64, first: [UInt8], second: [UInt8])] = []
    try bench.write { editor, _ in
      for key in 0..<600 as Range<Int64> {
        // All the same, a few, or many.
        let kinds = [1, 3, 200][Int(key % 3) < 2 ? count % 3 : 0]
        let first =
          start + (kinds == 1 ? [] : [UInt8.random(in: 0..<UInt8(kinds), using: &generator)])
        let second = (0..<3).map { _ in UInt8.random(in: 97...100, using: &generator) }
        rows.append((key, first, second))
        try lendRow([.bytes(first), .bytes(second)]) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    rows.sort { left, right in
      if left.first != right.first { return left.first.lexicographicallyPrecedes(right.first) }
      if left.second != right.second { return left.second.lexicographicallyPrecedes(right.second) }
      return left.key < right.key
    }
    let terms = columns.map { SortTerm($0) }
    let held = try bench.snapshot()
    for partCount in 1...3 {
      let found = try held.tree.keys(sortedBy: terms, limit: nil, partCount: partCount)
      #expect(found == rows.map(\.key))
    }
  }

  @Test(arguments: [true, false])
  func `a value outside of its leaf shares no beginning with others`(isAscending: Bool) throws {
    let column = ColumnSpec(id: 1, type: .bytes, isNullable: false)
    let bench = ColumnWorkbench([column], options: smallShape(rows: 40, room: 5))
    var texts: [[UInt8]] = (0..<200).map { [UInt8](repeating: 66, count: 10) + [UInt8($0 % 7)] }
    // It is below all others, and would be above them without its first ten bytes.
    texts[99] = [UInt8](repeating: 65, count: 100_000)
    try bench.write { editor, _ in
      for (key, text) in texts.enumerated() {
        try lendRow([.bytes(text)]) { _ = try editor.insert(key: Int64(key), values: $0) }
      }
    }
    let expected = texts.indices.sorted { left, right in
      texts[left] == texts[right]
        ? left < right : texts[left].lexicographicallyPrecedes(texts[right]) == isAscending
    }
    let held = try bench.snapshot()
    let found = try held.tree.keys(sortedBy: [SortTerm(column, isAscending: isAscending)])
    #expect(found == expected.map { Int64($0) })
  }

  @Test(arguments: [true, false])
  func `leaves without the column share no beginning with others`(isAscending: Bool) throws {
    let number = ColumnSpec(id: 1, type: .int, isNullable: false)
    let text = ColumnSpec(id: 2, type: .bytes, isNullable: false)
    let bench = ColumnWorkbench([number], options: smallShape(rows: 40, room: 5))
    var texts: [Int64: [UInt8]] = [:]
    try bench.write { editor, _ in
      for key in 0..<200 as Range<Int64> {
        texts[key] = []
        try lendRow([.int(key)]) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    try bench.write { editor, _ in
      editor.layout = ColumnLayout([number, text])
      for key in 1_000..<1_200 as Range<Int64> {
        let value = [UInt8](repeating: 66, count: 10) + (key % 3 == 0 ? [] : [1])
        texts[key] = value
        try lendRow([.int(key), .bytes(value)]) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    let expected = texts.sorted { left, right in
      left.value == right.value
        ? left.key < right.key : left.value.lexicographicallyPrecedes(right.value) == isAscending
    }
    let held = try bench.snapshot()
    let found = try held.tree.keys(sortedBy: [SortTerm(text, isAscending: isAscending)])
    #expect(found == expected.map(\.key))
  }

  @Test func `no rows, and rows of one leaf, are sorted`() throws {
    let column = ColumnSpec(id: 1, type: .bytes, isNullable: false)
    let bench = ColumnWorkbench([column])
    for partCount in [nil, 1, 2] {
      let tree = try bench.snapshot().tree
      #expect(try tree.keys(sortedBy: [SortTerm(column)], limit: nil, partCount: partCount) == [])
    }
    try bench.write { editor, _ in
      for (key, text) in ["b", "", "a", "b"].enumerated() {
        try lendRow([.bytes(Array(text.utf8))]) {
          _ = try editor.insert(key: Int64(key), values: $0)
        }
      }
    }
    let tree = try bench.snapshot().tree
    #expect(try tree.keys(sortedBy: [SortTerm(column)]) == [1, 2, 0, 3])
    #expect(try tree.keys(sortedBy: [SortTerm(column, isAscending: false)]) == [0, 3, 2, 1])
    #expect(try tree.keys(sortedBy: []) == [0, 1, 2, 3])
  }
}

extension RowSortWhiteBoxTests {
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `many rows of a few values are sorted by what follows`(seed: UInt64) throws {
    let columns = [
      ColumnSpec(id: 1, type: .bytes, isNullable: true),
      ColumnSpec(id: 2, type: .wide, isNullable: seed % 2 == 0),
      ColumnSpec(id: 3, type: .double, isNullable: true),
    ]
    let bench = ColumnWorkbench(columns)
    var generator = SeededGenerator(seed: seed)
    var rows: [(key: Int64, cells: [ModelValue])] = []
    // Texts that agree in more bytes than a prefix has, one too long for a leaf among them.
    let stem = [UInt8](repeating: 66, count: Int(seed) * 13)
    let texts = [[], [0], [0, 0], [1], stem, stem + [0], stem + [9, 9]].map { ModelValue.bytes($0) }
    let long = ModelValue.bytes(stem + [UInt8](repeating: 9, count: 3000))
    try bench.write { editor, _ in
      for key in 0..<4000 as Range<Int64> {
        let text = Int.random(in: 0..<9, using: &generator)
        let isNull = Int.random(in: 0..<5, using: &generator) == 0
        let words = (0..<2).map { _ in UInt64.random(in: 0...2, using: &generator) << 62 }
        let cells: [ModelValue] = [
          text == 8 ? .null : text == 7 && key % 50 == 0 ? long : texts[text % 7],
          isNull && seed % 2 == 0 ? .null : .wide(words[0], words[1]),
          isNull ? .null : .double(Double(Int.random(in: -2...2, using: &generator)).bitPattern),
        ]
        rows.append((key, cells))
        try lendRow(cells) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    let held = try bench.snapshot()
    for round in 0..<6 {
      let directions = (0..<3).map { round >> $0 & 1 == 0 }
      let places = [[0, 1, 2], [0, 2, 1], [1, 0, 2]][round % 3]
      let terms = zip(places, directions).map { SortTerm(columns[$0], isAscending: $1) }
      let expected = rows.sorted { left, right in
        for (place, isAscending) in zip(places, directions) {
          let order = order(left.cells[place], right.cells[place])
          if order != 0 { return isAscending ? order < 0 : order > 0 }
        }
        return left.key < right.key
      }
      #expect(try held.tree.keys(sortedBy: terms) == expected.map(\.key))
      #expect(
        try held.tree.keys(sortedBy: terms, limit: 200) == expected.prefix(200).map(\.key))
    }
  }

  @Test func `squeezed words keep the bits of the mask in their order`() {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<200 {
      let bits = UInt64.random(in: 0 ... .max, using: &generator)
      let mask = [bits, bits & 0x1f1f_1f1f, .max, 0, 1 << 63, bits >> 33][
        Int.random(in: 0..<6, using: &generator)]
      var words = (0..<5).map { _ in UInt64.random(in: 0 ... .max, using: &generator) }
      let expected = words.map { word in
        var (result, end): (UInt64, UInt64) = (0, 0)
        for bit in 0..<64 as Range<UInt64> where mask >> bit & 1 == 1 {
          result |= (word >> bit & 1) << end
          end += 1
        }
        return result
      }
      #expect(words.map { cambium_portable_squeeze($0, mask) } == expected)
      cambium_squeeze_words(&words, 8, words.count, mask)
      #expect(words == expected)
    }
  }
}
