@testable import CambiumCore

/// Reads a tree in every way there is.
enum TreeExercise {
  /// No honest input needs more steps; damaged trees may be large without being wrong.
  private static let stepLimit = 20_000

  // MARK: Keys

  static func read(_ tree: KeyTree) {
    tolerating { () throws(StoreError) in
      var cursor = tree.cursor()
      var isValid = try cursor.seekFirst()
      var steps = 0
      var keys: [[UInt8]] = []
      while isValid, steps < stepLimit {
        if steps % 16 == 0 { keys.append(cursor.key) }
        _ = cursor.hasPrefix([0])
        _ = try cursor.copyValue()
        steps += 1
        isValid = try cursor.next()
      }
      isValid = try cursor.seekLast()
      while isValid, steps > 0 {
        steps -= 1
        isValid = try cursor.previous()
      }
      for key in keys.prefix(32) + [[], [0xff, 0xff], Array(repeating: 0x61, count: 600)] {
        try look(for: key, in: tree)
      }
      _ = try cursor.seek(toRank: tree.count / 2)
      _ = try tree.count(in: KeyRange(from: [1], to: [200]))
    }
    tolerating { () throws(StoreError) in
      try KeyTree.diff(old: KeyTree(root: .empty(.key), source: tree.source), new: tree) {
        _ throws(StoreError) in
      }
    }
    tolerating { () throws(StoreError) in
      try tree.walk({ _, _ throws(StoreError) in }, damage: { _ = $0.description })
    }
  }

  private static func look(for key: [UInt8], in tree: KeyTree) throws(StoreError) {
    _ = try tree.value(for: key)
    _ = try tree.contains(key)
    _ = try tree.rank(of: key)
    var cursor = tree.cursor()
    if try cursor.seek(to: key) { _ = cursor.key }
    if try cursor.seek(below: key) { _ = cursor.key }
  }

  /// Changes a tree that was stored, and reads what becomes of it.
  static func editKeys(_ root: TreeRoot, _ context: WriteContext) {
    tolerating { () throws(StoreError) in
      let editor = KeyTreeEditor(root: root, context: context)
      var keys: [[UInt8]] = []
      var cursor = editor.tree.cursor()
      var isValid = try cursor.seekFirst()
      while isValid, keys.count < 40 {
        keys.append(cursor.key)
        isValid = try cursor.next()
      }
      for (index, key) in keys.enumerated() {
        switch index % 3 {
        case 0: _ = try editor.set(key, [UInt8](repeating: 7, count: index * 90))
        case 1: _ = try editor.remove(key)
        default: _ = try editor.set(Array((key + [0]).prefix(512)), [1])
        }
      }
      let written = try editor.flush()
      read(KeyTree(root: written, source: context.source))
      try editor.removeAll()
      _ = try editor.flush()
    }
  }

  // MARK: Rows

  static func read(_ tree: ColumnTree) {
    var ids: Set<UInt16> = [0, 1]
    var keys: [Int64] = [0, -1, .min, .max]
    tolerating { () throws(StoreError) in
      var cursor = tree.leafCursor(reading: [1, 2])
      var isValid = try cursor.first()
      var rowCount = 0
      while isValid, rowCount < stepLimit {
        let leaf = cursor.leaf
        ids.formUnion(leaf.columnIDs)
        rowCount += leaf.rowCount
        if leaf.rowCount > 0 { keys.append(leaf.key(at: leaf.rowCount / 2)) }
        try LeafExercise(leaf: leaf, tree: tree).run()
        isValid = try cursor.next()
      }
      isValid = try cursor.last()
      while isValid, rowCount > 0 {
        rowCount -= max(1, cursor.leaf.rowCount)
        isValid = try cursor.previous()
      }
    }
    for key in keys.prefix(40) {
      tolerating { () throws(StoreError) in
        _ = try tree.seek(key)
        _ = try tree.rank(of: key)
        _ = try tree.select(Int(truncatingIfNeeded: key))
        for id in ids.prefix(8) {
          if let row = try tree.seek(key), let column = row.column(id), column.type == .bytes {
            _ = try tree.bytes(of: column.bytes(row.row))
          }
        }
      }
    }
    for id in ids.prefix(16) {
      tolerating { () throws(StoreError) in
        let integers = ColumnSpec(id: id, type: .int, isNullable: true)
        _ = try tree.countInts(of: integers, in: -5...1000)
        let doubles = ColumnSpec(id: id, type: .double, isNullable: false)
        _ = try tree.sumDoubles(of: doubles)
      }
    }
    compare(tree)
  }

  private static func compare(_ tree: ColumnTree) {
    tolerating { () throws(StoreError) in _ = try tree.statistics() }
    tolerating { () throws(StoreError) in
      try tree.walk(
        { _, _ throws(StoreError) in }, tree: { _ throws(StoreError) in },
        damage: { _ = $0.description })
    }
    if tree.isPositional { return }
    tolerating { () throws(StoreError) in
      let empty = ColumnTree(root: .empty(.column), source: tree.source)
      _ = try ColumnTree.diff(old: empty, new: tree)
    }
  }

  /// Changes a tree that was stored, and reads what becomes of it.
  static func editRows(_ root: TreeRoot, _ context: WriteContext) {
    tolerating { () throws(StoreError) in
      let tree = ColumnTree(root: root, source: context.source)
      let editor = ColumnTreeEditor(
        root: root, layout: try tree.storedLayout(), context: context)
      let row = editor.layout.columns.map(\.defaultValue)
      if root.kind == .position {
        for position in [0, editor.count / 2] {
          try editor.insert(at: position, values: row)
          for column in editor.layout.columns {
            let value = try editor.value(at: position + 1, column: column.id)
            try editor.update(at: position, column: column.id, value: value)
          }
        }
        try editor.remove(at: editor.count / 2)
      } else {
        try change(rowsOf: editor, row)
      }
      let written = try editor.flush()
      read(ColumnTree(root: written, source: context.source))
      try editor.removeAll()
      _ = try editor.flush()
    }
  }

  private static func change(
    rowsOf editor: ColumnTreeEditor, _ row: [ColumnValue]
  ) throws(StoreError) {
    var keys: [Int64] = []
    var cursor = editor.tree.leafCursor()
    if try cursor.first() {
      for index in 0..<min(20, cursor.leaf.rowCount) { keys.append(cursor.leaf.key(at: index)) }
    }
    for (index, key) in keys.enumerated() {
      switch index % 3 {
      case 0: _ = try editor.remove(key: key)
      case 1: _ = try editor.insert(key: key &+ 1, values: row)
      default:
        for (place, column) in editor.layout.columns.enumerated() {
          _ = try editor.value(key: key, column: column.id)
          _ = try editor.update(key: key, column: column.id, value: row[place])
        }
      }
    }
  }
}
