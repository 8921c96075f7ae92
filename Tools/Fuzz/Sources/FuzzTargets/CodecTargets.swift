@testable import CambiumCore

/// Keys and values through a tree and back, beside a dictionary.
enum KeyCodec {
  static func run(_ bytes: UnsafeRawBufferPointer) {
    guard let transaction = Planted()?.transaction else { return }
    var supply = ByteSupply(bytes)
    var model: [[UInt8]: [UInt8]] = [:]
    let editor = KeyTreeEditor(root: .empty(.key), context: transaction.context)
    do throws(StoreError) {
      var steps = 0
      while !supply.isEmpty, steps < 2000 {
        steps += 1
        switch supply.byte() % 8 {
        case 0:
          let key = supply.run(atMost: 8)
          let isFound = try editor.remove(key)
          precondition(isFound == (model.removeValue(forKey: key) != nil), "remove")
        case 1: _ = try editor.flush()
        case 2:
          // Many at once, so that pages split.
          let key = supply.run(atMost: 20)
          for index in 0..<supply.byte() { try put(key + [index], [index], editor, &model) }
        case 3: try put(supply.run(atMost: 512), supply.run(atMost: 3000), editor, &model)
        default: try put(supply.run(atMost: 12), supply.run(atMost: 40), editor, &model)
        }
      }
      let tree = KeyTree(root: try editor.flush(), source: transaction.source)
      precondition(tree.count == model.count, "count")
      var cursor = tree.cursor()
      var isValid = try cursor.seekFirst()
      for key in model.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        precondition(isValid && cursor.key == key, "order")
        let (found, sought) = (try cursor.copyValue(), try tree.value(for: key))
        precondition(found == model[key] && sought == model[key], "value")
        isValid = try cursor.next()
      }
      precondition(!isValid, "end")
      try tree.walk({ _, _ throws(StoreError) in }, damage: { preconditionFailure("\($0)") })
    } catch {
      preconditionFailure("\(error)")
    }
  }

  private static func put(
    _ key: [UInt8], _ value: [UInt8], _ editor: KeyTreeEditor, _ model: inout [[UInt8]: [UInt8]]
  ) throws(StoreError) {
    let isNew = try editor.set(key, value)
    precondition(isNew == (model.updateValue(value, forKey: key) == nil), "set")
  }
}

/// Rows of every type through a tree and back, beside a dictionary.
enum ColumnCodec {
  private enum Cell: Equatable {
    case null
    case bits(UInt64, UInt64)
    case bytes([UInt8])
  }

  private static let layout = ColumnLayout(
    [ColumnType.int, .bool, .float, .double, .wide, .bytes].flatMap { type in
      [
        ColumnSpec(id: UInt16(type.rawValue) * 2, type: type, isNullable: false),
        ColumnSpec(id: UInt16(type.rawValue) * 2 + 1, type: type, isNullable: true),
      ]
    })

  static func run(_ bytes: UnsafeRawBufferPointer) {
    guard let transaction = Planted()?.transaction else { return }
    var supply = ByteSupply(bytes)
    var model: [Int64: [Cell]] = [:]
    let editor = ColumnTreeEditor(
      root: .empty(.column), layout: layout, context: transaction.context)
    do throws(StoreError) {
      var steps = 0
      while !supply.isEmpty, steps < 1000 {
        steps += 1
        try step(&supply, editor, &model)
      }
      let tree = ColumnTree(root: try editor.flush(), source: transaction.source)
      precondition(tree.count == model.count, "count")
      var keys = model.keys.sorted()[...]
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        for row in 0..<cursor.leaf.rowCount {
          let key = cursor.leaf.key(at: row)
          precondition(key == keys.popFirst(), "order")
          let cells = try read(cursor.leaf, row, tree)
          precondition(cells == model[key], "row \(key)")
        }
        isValid = try cursor.next()
      }
      precondition(keys.isEmpty, "end")
      try tree.walk(
        { _, _ throws(StoreError) in }, tree: { _ throws(StoreError) in },
        damage: { preconditionFailure("\($0)") })
    } catch {
      preconditionFailure("\(error)")
    }
  }

  private static func step(
    _ supply: inout ByteSupply, _ editor: ColumnTreeEditor, _ model: inout [Int64: [Cell]]
  ) throws(StoreError) {
    switch supply.byte() % 8 {
    case 0:
      let key = Int64(supply.byte())
      let isFound = try editor.remove(key: key)
      precondition(isFound == (model.removeValue(forKey: key) != nil), "remove")
    case 1: _ = try editor.flush()
    case 2, 3:
      let key = Int64(supply.byte())
      let place = supply.number(below: layout.columns.count)
      let spec = layout.columns[place]
      let cell = cell(spec, &supply)
      let isFound = try lend(cell, spec) { value throws(StoreError) in
        try editor.update(key: key, column: spec.id, value: value)
      }
      precondition(isFound == (model[key] != nil), "update")
      model[key]?[place] = cell
    case 4:
      // Many alike, so that encodings and splits come into play.
      let key = Int64(bitPattern: supply.word())
      let row = layout.columns.map { cell($0, &supply) }
      for index in 0..<Int64(supply.byte()) { try insert(key &+ index &* 3, row, editor, &model) }
    default:
      let key = supply.byte() < 200 ? Int64(supply.byte()) : Int64(bitPattern: supply.word())
      try insert(key, layout.columns.map { cell($0, &supply) }, editor, &model)
    }
  }

  private static func insert(
    _ key: Int64, _ row: [Cell], _ editor: ColumnTreeEditor, _ model: inout [Int64: [Cell]]
  ) throws(StoreError) {
    // Bytes first come in with an update: a row has to be lent as a whole.
    let values = zip(layout.columns, row).map { spec, cell -> ColumnValue in
      if case .bytes = cell { return spec.defaultValue }
      return value(cell, spec)
    }
    let isNew = try editor.insert(key: key, values: values)
    precondition(isNew == (model[key] == nil), "insert")
    guard isNew else { return }
    model[key] = row
    for (spec, cell) in zip(layout.columns, row) {
      guard case .bytes = cell else { continue }
      _ = try lend(cell, spec) { value throws(StoreError) in
        try editor.update(key: key, column: spec.id, value: value)
      }
    }
  }

  private static func cell(_ spec: ColumnSpec, _ supply: inout ByteSupply) -> Cell {
    let mood = supply.byte()
    if spec.isNullable, mood % 4 == 0 { return .null }
    switch spec.type {
    case .int: return .bits(mood < 128 ? UInt64(supply.byte()) : supply.word(), 0)
    case .bool: return .bits(UInt64(mood & 1), 0)
    case .float: return .bits(UInt64(UInt32(truncatingIfNeeded: supply.word())), 0)
    case .double: return .bits(mood < 128 ? 0 : supply.word(), 0)
    case .wide: return .bits(UInt64(mood), mood < 128 ? 0 : supply.word())
    case .bytes: return .bytes(supply.run(atMost: mood > 250 ? 3000 : 30))
    }
  }

  private static func value(_ cell: Cell, _ spec: ColumnSpec) -> ColumnValue {
    guard case .bits(let low, let high) = cell else { return .null }
    switch spec.type {
    case .int: return .int(Int64(bitPattern: low))
    case .bool: return .bool(low == 1)
    case .float: return .float(Float(bitPattern: UInt32(low)))
    case .double: return .double(Double(bitPattern: low))
    case .wide: return .wide(low: low, high: high)
    case .bytes: return .null
    }
  }

  private static func lend<Result>(
    _ cell: Cell, _ spec: ColumnSpec, _ body: (ColumnValue) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard case .bytes(let bytes) = cell else { return try body(value(cell, spec)) }
    let result = bytes.withUnsafeBytes { buffer in
      Swift.Result<Result, StoreError> { () throws(StoreError) in try body(.bytes(buffer)) }
    }
    return try result.get()
  }

  private static func read(
    _ leaf: ColumnLeaf, _ row: Int, _ tree: ColumnTree
  ) throws(StoreError) -> [Cell] {
    var cells: [Cell] = []
    for spec in layout.columns {
      guard let column = leaf.column(spec.id) else {
        cells.append(defaultCell(spec))
        continue
      }
      if column.isNull(row) {
        cells.append(.null)
        continue
      }
      switch spec.type {
      case .int: cells.append(.bits(UInt64(bitPattern: column.int(row)), 0))
      case .bool: cells.append(.bits(column.bool(row) ? 1 : 0, 0))
      case .float: cells.append(.bits(UInt64(column.float(row).bitPattern), 0))
      case .double: cells.append(.bits(column.double(row).bitPattern, 0))
      case .wide:
        let (low, high) = column.wide(row)
        cells.append(.bits(low, high))
      case .bytes: cells.append(.bytes(try tree.bytes(of: column.bytes(row)) ?? []))
      }
    }
    return cells
  }

  private static func defaultCell(_ spec: ColumnSpec) -> Cell {
    if spec.isNullable { return .null }
    return spec.type == .bytes ? .bytes([]) : .bits(0, 0)
  }
}

/// Entries of the catalog: what can be decoded is encoded to what decodes alike.
enum CatalogCodec {
  static func run(_ bytes: UnsafeRawBufferPointer) {
    let stored = [UInt8](bytes)
    if let entry = CatalogEntry(stored) {
      let again = entry.bytes
      precondition(CatalogEntry(again)?.bytes == again, "an entry does not survive its own form")
    }
    if bytes.count >= TreeRoot.byteCount, let root = TreeRoot(loadingFrom: bytes) {
      let again = root.storedBytes.withUnsafeBytes { TreeRoot(loadingFrom: $0) }
      precondition(again == root, "a root does not survive its own form")
    }
    if let cell = OverflowCell(bytes) {
      _ = cell.overflow
      _ = cell.root
    }
  }
}
