import TestSupport

@testable import CambiumCore

/// A cell as the model keeps it.
enum ModelValue: Hashable {
  case null
  case int(Int64)
  case bool(Bool)
  case float(UInt32)
  case double(UInt64)
  case wide(UInt64, UInt64)
  case bytes([UInt8])
  case tree(TreeRoot)

  /// Calls `body` with the cell as an editor takes it.
  func lend<Result>(_ body: (ColumnValue) throws -> Result) rethrows -> Result {
    switch self {
    case .null: try body(.null)
    case .int(let value): try body(.int(value))
    case .bool(let value): try body(.bool(value))
    case .float(let bits): try body(.float(Float(bitPattern: bits)))
    case .double(let bits): try body(.double(Double(bitPattern: bits)))
    case .wide(let low, let high): try body(.wide(low: low, high: high))
    case .bytes(let bytes): try bytes.withUnsafeBytes { try body(.bytes($0)) }
    case .tree(let root): try body(.tree(root))
    }
  }

  init(_ value: ColumnValue) {
    switch value {
    case .null: self = .null
    case .int(let value): self = .int(value)
    case .bool(let value): self = .bool(value)
    case .float(let value): self = .float(value.bitPattern)
    case .double(let value): self = .double(value.bitPattern)
    case .wide(let low, let high): self = .wide(low, high)
    case .bytes(let bytes): self = .bytes([UInt8](bytes))
    case .tree(let root): self = .tree(root)
    }
  }

  /// What a column holds that was never set.
  init(defaultOf spec: ColumnSpec) { self.init(spec.defaultValue) }
}

/// Calls `body` with a row as an editor takes it.
func lendRow<Result>(
  _ row: [ModelValue], _ body: (UnsafeBufferPointer<ColumnValue>) throws -> Result
) throws -> Result {
  var storage: [UnsafeMutableRawBufferPointer] = []
  defer { for buffer in storage { buffer.deallocate() } }
  let values = row.map { value -> ColumnValue in
    guard case .bytes(let bytes) = value else { return value.lend { $0 } }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    buffer.copyBytes(from: bytes)
    storage.append(buffer)
    return .bytes(UnsafeRawBufferPointer(buffer))
  }
  return try values.withUnsafeBufferPointer(body)
}

extension ColumnTree {
  /// The cell at `row` of `leaf`, for comparison with a model.
  func modelValue(_ leaf: ColumnLeaf, _ row: Int, _ spec: ColumnSpec) throws -> ModelValue {
    guard let column = leaf.column(spec.id) else { return ModelValue(defaultOf: spec) }
    if column.isNull(row) { return .null }
    if column.type != .bytes { return ModelValue(column.fixedValue(row) ?? .null) }
    let cell = column.bytes(row)
    if let root = cell.tree { return .tree(root) }
    return .bytes(try bytes(of: cell) ?? [])
  }

  /// All rows with their keys, in order.
  func contents(_ layout: ColumnLayout) throws -> [(key: Int64, row: [ModelValue])] {
    var rows: [(key: Int64, row: [ModelValue])] = []
    var cursor = leafCursor()
    guard try cursor.first() else { return [] }
    repeat {
      for row in 0..<cursor.leaf.rowCount {
        rows.append(
          (
            cursor.leaf.key(at: row),
            try layout.columns.map { try modelValue(cursor.leaf, row, $0) }
          ))
      }
    } while try cursor.next()
    return rows
  }
}

/// Makes cells that reach every encoding and its limits.
struct CellMaker {
  var generator: SeededGenerator
  /// Which shape values have at the moment; changes now and then, so that leaves differ.
  var mood = 0
  /// Roots that cells may own; each is used once.
  var nextTree: UInt64 = 1

  mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  mutating func cell(_ spec: ColumnSpec) -> ModelValue {
    if spec.isNullable, number(6) == 0 { return .null }
    switch spec.type {
    case .int: return .int(integer())
    case .bool: return .bool(mood % 3 == 0 ? true : number(2) == 0)
    case .float: return .float(mood % 3 == 0 ? 0 : Float(number(100)).bitPattern)
    case .double:
      let special: [Double] = [.nan, .infinity, -0.0, 0, .leastNonzeroMagnitude, 1.5]
      return .double(
        mood % 3 == 0
          ? (1.25).bitPattern : (special.randomElement(using: &generator) ?? 0).bitPattern)
    case .wide: return wide()
    case .bytes: return .bytes(bytes())
    }
  }

  /// Two words: all alike, of few or many bits, the high one below zero, too.
  private mutating func wide() -> ModelValue {
    func word(_ bits: UInt64) -> UInt64 { bits == 64 ? .max : (1 << bits) - 1 }
    let widths: [UInt64] = [0, 1, 3, 8, 16, 31, 32, 64]
    let (low, high) = (word(widths[mood % 8]), word(widths[(mood / 8 + mood) % 8]))
    let base: UInt64 = mood % 3 == 0 ? 7 : mood % 3 == 1 ? 0 : ~40
    return .wide((generator.next() & low) &+ (base & 0xff), (generator.next() & high) &+ base)
  }

  private mutating func integer() -> Int64 {
    switch mood % 8 {
    case 0: return 42
    case 1: return Int64(number(2))
    case 2: return Int64(number(16)) - 3
    case 3: return Int64(number(256))
    case 4: return 1_000_000 + Int64(number(60000))
    case 5: return Int64(number(1 << 31)) * (number(2) == 0 ? 1 : -1)
    case 6: return [Int64.min, Int64.max, 0, -1].randomElement(using: &generator) ?? 0
    default: return Int64.max - Int64(number(300))
    }
  }

  private mutating func bytes() -> [UInt8] {
    switch mood % 7 {
    case 0: return Array("constant".utf8)
    case 1: return Array("user\(number(1000))@example.com".utf8)
    case 2: return Array(["DL", "UA", "AA", "B6"][number(4)].utf8)
    case 3: return Array(["red", "green", "", "aubergine"][number(4)].utf8)
    case 4: return (0..<number(40)).map { _ in UInt8(number(256)) }
    case 5: return number(12) == 0 ? text(number(3000)) : text(number(300))
    default: return Array(String(10000 + number(90000)).utf8)
    }
  }

  mutating func text(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(97 + ($0 * 7 + count) % 26) }
  }

  /// A root such as a row may own; it names no page.
  mutating func tree() -> TreeRoot {
    nextTree += 1
    return TreeRoot(
      reference: PageReference(
        checksum: nextTree, extent: Extent(address: 1 << 40 + nextTree, unitCount: 1),
        kind: .keyLeaf,
        born: 1), height: 1, kind: .key, rowCount: 3)
  }
}

/// The seven kinds of columns a model test uses.
let everyColumn: [ColumnSpec] = [
  ColumnSpec(id: 2, type: .int, isNullable: false),
  ColumnSpec(id: 3, type: .int, isNullable: true),
  ColumnSpec(id: 5, type: .bool, isNullable: true),
  ColumnSpec(id: 8, type: .float, isNullable: false),
  ColumnSpec(id: 9, type: .double, isNullable: true),
  ColumnSpec(id: 11, type: .wide, isNullable: false),
  ColumnSpec(id: 300, type: .bytes, isNullable: true),
  ColumnSpec(id: 301, type: .bytes, isNullable: false),
]

extension ColumnTree {
  /// Everything a walk finds wrong, and the extents it visits.
  func walked() throws -> (findings: [Damage], extents: [Extent], trees: [TreeRoot]) {
    var extents: [Extent] = []
    var trees: [TreeRoot] = []
    var findings: [Damage] = []
    try walk { reference, _ in
      extents.append(reference.extent)
    } tree: { root in
      trees.append(root)
    } damage: { finding in
      findings.append(finding)
    }
    return (findings, extents, trees)
  }
}

/// Small leaves and branches, so that few rows make high trees.
func smallShape(rows: Int = 5, room: Int = 3) -> ColumnTreeOptions {
  var options = ColumnTreeOptions()
  options.maximumRowCount = rows
  options.minimumRowCount = 1
  options.branchRoom = room
  options.writeAheadByteCount = 0
  return options
}
