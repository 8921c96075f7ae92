import TestSupport
import Testing

@testable import CambiumCore

/// Damages pages of trees that rows own, and compares what is saved with what is reported.
@Suite struct SalvageOwnedTreesWhiteBoxTests {
  private let store = ObservedStore()
  private let elementCount = 40

  /// Long values of every tenth element lie in pages of their own.
  private static func value(_ element: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(element), count: element % 10 == 5 ? 3000 : 20)
  }

  private static func key(_ element: Int) -> Int64 { Int64(element * 3) }

  /// Three rows, of which 7 owns a tree of `kind`.
  private func makeStore(_ kind: TreeRoot.Kind) throws -> TreeRoot {
    var root = TreeRoot.empty(kind)
    try store.fillWithNotes { context in
      if kind == .key {
        let editor = KeyTreeEditor(
          root: .empty(.key), context: context,
          limits: KeyTreeEditor.Limits(leafByteCount: 256, branchByteCount: 256))
        for element in 0..<elementCount {
          try editor.set([UInt8(element)], Self.value(element))
        }
        root = try editor.flush()
      } else {
        root = try rows(kind, elementCount, context, smallShape(rows: 4, room: 4)) { element in
          Self.value(element)
        }
      }
      return [7: root]
    }
    return root
  }

  private func rows(
    _ kind: TreeRoot.Kind, _ count: Int, _ context: WriteContext,
    _ options: ColumnTreeOptions = ColumnTreeOptions(), _ value: (Int) -> [UInt8]
  ) throws -> TreeRoot {
    let editor = ColumnTreeEditor(
      root: .empty(kind),
      layout: ColumnLayout([ColumnSpec(id: 1, type: .bytes, isNullable: false)]),
      context: context, options: options)
    for element in 0..<count {
      try value(element).withUnsafeBytes { bytes in
        if kind == .position {
          try editor.insert(at: element, values: [.bytes(bytes)])
        } else {
          _ = try editor.insert(key: Self.key(element), values: [.bytes(bytes)])
        }
      }
    }
    return try editor.flush()
  }

  /// A tree by position with one row, which owns the tree at `root`.
  private func tree(owning root: TreeRoot, _ context: WriteContext) throws -> TreeRoot {
    let editor = ColumnTreeEditor(
      root: .empty(.position),
      layout: ColumnLayout([ColumnSpec(id: 2, type: .bytes, isNullable: true)]), context: context)
    try editor.insert(at: 0, values: [.tree(root)])
    return try editor.flush()
  }

  private func salvage() throws -> (SalvageReport, Database) {
    let database = try Database(store: HeapStore())
    let report = try Salvage(store: store).run(into: database)
    #expect(try database.verify().findings == [])
    #expect(report.lostRowCount == 0)
    #expect(report.losses.allSatisfy { $0.name == "notes" && $0.rowCount == nil })
    return (report, database)
  }

  /// The elements of the tree that row 7 owns.
  private func elements(_ database: Database) throws -> [Int] {
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("notes"))
    #expect(table.count == 3)
    let row = try #require(try table.seek(7))
    return try elements(try #require(row.column(1)?.bytes(row.row).tree), snapshot.source)
  }

  private func elements(_ root: TreeRoot, _ source: PageSource) throws -> [Int] {
    var elements: [Int] = []
    if root.kind == .key {
      var cursor = KeyTree(root: root, source: source).cursor()
      var isValid = try cursor.seekFirst()
      while isValid {
        let element = Int(cursor.key[0])
        #expect(try cursor.copyValue() == Self.value(element))
        elements.append(element)
        isValid = try cursor.next()
      }
      return elements
    }
    let tree = ColumnTree(root: root, source: source)
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      let column = try #require(cursor.leaf.column(1))
      for row in 0..<cursor.leaf.rowCount {
        let bytes = try #require(try tree.bytes(of: column.bytes(row)))
        let element = Int(bytes[0])
        #expect(bytes == Self.value(element))
        if root.kind == .column { #expect(cursor.leaf.key(at: row) == Self.key(element)) }
        elements.append(element)
      }
      isValid = try cursor.next()
    }
    return elements
  }

  private func pages(_ root: TreeRoot) throws -> [(PageReference, PageKind)] {
    let source = try PageSource.uncached(store)
    var pages: [(PageReference, PageKind)] = []
    if root.kind == .key {
      try KeyTree(root: root, source: source)
        .walk({ pages.append(($0, $1)) }, damage: { Issue.record("\($0)") })
    } else {
      try ColumnTree(root: root, source: source)
        .walk(
          { pages.append(($0, $1)) }, tree: { _ in }, damage: { Issue.record("\($0)") })
    }
    return pages
  }

  // MARK: Tests

  @Test(arguments: [TreeRoot.Kind.key, .column, .position])
  func `whatever page of an owned tree is damaged, its elements are missing and reported`(
    kind: TreeRoot.Kind
  ) throws {
    let root = try makeStore(kind)
    let pages = try pages(root)
    #expect(pages.count { $0.1 == .overflow } == 4)
    #expect(pages.count > 6)
    #expect(try elements(salvage().1) == Array(0..<elementCount))
    for (page, pageKind) in pages {
      store.damage([page.address])
      let (report, database) = try salvage()
      let saved = try elements(database)
      let lost = Array(Set(0..<elementCount).subtracting(saved)).sorted()
      #expect(saved == saved.sorted() && !lost.isEmpty)
      #expect(report.losses.count == 1)
      #expect(report.lostElementCount == lost.count)
      let loss = try #require(report.losses.first)
      let (first, last) = (try #require(lost.first), try #require(lost.last))
      #expect(lost == Array(first...last))
      if pageKind == .overflow { #expect(lost.count == 1 && first % 10 == 5) }
      if page == root.reference {
        #expect(loss.keys == "all elements of 'list' in row 7")
      } else if pageKind == .overflow {
        let name =
          kind == .key
          ? "elements \(Salvage.describe([UInt8(first)]))"
          : "element \(kind == .column ? Self.key(first) : Int64(first))"
        #expect(loss.keys == "\(name) of 'list' in row 7")
      } else if kind == .position {
        let name = first == last ? "element \(first)" : "elements \(first) to \(last)"
        #expect(loss.keys == "\(name) of 'list' in row 7")
      } else {
        #expect(loss.keys.hasPrefix("elements "))
        #expect(loss.keys.hasSuffix(" of 'list' in row 7"))
      }
    }
  }

  @Test(arguments: [TreeRoot.Kind.key, .column, .position], 1...6 as ClosedRange<UInt64>)
  func `of a tree with several damaged pages all else is kept`(
    kind: TreeRoot.Kind, seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let root = try makeStore(kind)
    let pages = try pages(root).filter { $0.0 != root.reference }
    let alone = try pages.map { page, _ in
      store.damage([page.address])
      return Set(0..<elementCount).subtracting(try elements(salvage().1))
    }
    for _ in 0..<6 {
      let chosen = pages.indices.filter { _ in Bool.random(using: &generator) }
      store.damage(Set(chosen.map { pages[$0].0.address }))
      let (report, database) = try salvage()
      let lost = chosen.reduce(into: Set<Int>()) { $0.formUnion(alone[$1]) }
      #expect(try elements(database) == (0..<elementCount).filter { !lost.contains($0) })
      #expect(report.lostElementCount == lost.count)
    }
  }

  @Test func `trees within trees are copied, and losses name the way to them`() throws {
    var inner = TreeRoot.empty(.position)
    try store.fillWithNotes { context in
      inner = try rows(.position, 10, context) { Self.value($0) }
      return [7: try tree(owning: inner, context)]
    }
    let value = try #require(try pages(inner).first { $0.1 == .overflow })
    for isDamaged in [false, true] {
      if isDamaged { store.damage([value.0.address]) }
      let (report, database) = try salvage()
      let snapshot = try database.snapshot()
      let row = try #require(try snapshot.table("notes")?.seek(7))
      let outer = ColumnTree(
        root: try #require(row.column(1)?.bytes(row.row).tree), source: snapshot.source)
      let element = try #require(try outer.select(0))
      let root = try #require(element.column(2)?.bytes(element.row).tree)
      #expect(
        try elements(root, snapshot.source)
          == (isDamaged ? [0, 1, 2, 3, 4, 6, 7, 8, 9] : Array(0..<10)))
      #expect(
        report.losses.map(\.keys)
          == (isDamaged ? ["element 5 of column 2 in element 0 of 'list' in row 7"] : []))
    }
  }

  @Test func `trees that lie too deep within trees are given up`() throws {
    try store.fillWithNotes { context in
      var root = try rows(.position, 3, context) { Self.value($0) }
      for _ in 0..<300 { root = try tree(owning: root, context) }
      return [7: root]
    }
    let (report, _) = try salvage()
    #expect(report.losses.count == 1)
    #expect(report.losses.first?.keys.hasPrefix("all elements of column 2 in") == true)
    #expect(report.losses.first?.reason.contains("too deep") == true)
  }

  @Test func `a tree that two rows own is copied once`() throws {
    try store.fillWithNotes { context in
      let root = try rows(.position, 3, context) { Self.value($0) }
      return [7: root, 8: root]
    }
    let (report, database) = try salvage()
    #expect(try elements(database) == [0, 1, 2])
    #expect(report.losses.map(\.keys) == ["all elements of 'list' in row 8"])
    #expect(report.lostElementCount == 3)
  }

  @Test func `columns without values in the first leaf are copied from the others`() throws {
    try store.fillWithNotes { context in
      let editor = ColumnTreeEditor(
        root: .empty(.position),
        layout: ColumnLayout([
          ColumnSpec(id: 1, type: .bytes, isNullable: false),
          ColumnSpec(id: 3, type: .int, isNullable: true),
        ]), context: context, options: smallShape(rows: 4, room: 4))
      for element in 0..<12 {
        let value: ColumnValue = element < 8 || element == 10 ? .null : .int(Int64(element))
        try Self.value(element).withUnsafeBytes { bytes in
          try editor.insert(at: element, values: [.bytes(bytes), value])
        }
      }
      return [7: try editor.flush()]
    }
    let (report, database) = try salvage()
    #expect(report.losses == [])
    let snapshot = try database.snapshot()
    let row = try #require(try snapshot.table("notes")?.seek(7))
    let tree = ColumnTree(
      root: try #require(row.column(1)?.bytes(row.row).tree), source: snapshot.source)
    for element in 0..<12 {
      let found = try #require(try tree.select(element))
      let column = found.column(3)
      let integer = column.flatMap { $0.isNull(found.row) ? nil : $0.int(found.row) }
      #expect(integer == (element < 8 || element == 10 ? nil : Int64(element)))
    }
  }
}
