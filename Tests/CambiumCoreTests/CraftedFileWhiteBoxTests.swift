import TestSupport
import Testing

@testable import CambiumCore

/// Files whose pages are whole one by one and lie together: what somebody makes who knows the format.
@Suite struct CraftedFileTests {
  /// A store of one version, whose trees `craft` writes page by page; it returns them by name.
  ///
  /// Tables say that `nextColumn` is the number of their next column, and the catalog that its layout has
  /// `layoutGeneration`. The catalog has values under `valueKeys`.
  private func store(
    nextColumn: UInt16? = nil, layoutGeneration: UInt64? = nil, valueKeys: [[UInt8]] = [],
    _ craft: (WriteContext) throws -> [String: TreeRoot] = { _ in [:] }
  ) throws -> HeapStore {
    let store = HeapStore()
    let writer = try store.beginWrite()
    let context = WriteContext(
      source: PageSource(
        pin: try store.pin(), store: store, codec: nil, trust: TrustTable(bitCount: 8),
        cache: PageCache(byteCount: 0)),
      writer: writer, codec: nil, store: store.identity)
    let catalog = KeyTreeEditor(root: .empty(.key), context: context)
    if let layoutGeneration {
      _ = try catalog.set(
        Catalog.layoutGenerationKey, CatalogEntry.value(layoutGeneration).bytes)
    }
    for key in valueKeys { _ = try catalog.set(key, CatalogEntry.value([1]).bytes) }
    for (name, root) in try craft(context) {
      if root.kind == .key {
        _ = try catalog.set(Catalog.key(name), CatalogEntry.keyTree(root).bytes)
      } else {
        let column = ColumnDescriptor(type: .bytes, isNullable: true, name: "column")
        var record = TableRecord(
          id: 1, nextKey: 1 << 40, nextColumn: 1, groups: [[]], attributes: [])
        try record.append(column)
        let roots = CatalogEntry.TableRoots(
          id: 1, nextKey: record.nextKey, nextColumn: nextColumn ?? record.nextColumn,
          roots: [root])
        let description = CatalogEntry.TableDescription(groups: record.groups, attributes: [])
        _ = try catalog.set(Catalog.key(name), CatalogEntry.table(roots).bytes)
        _ = try catalog.set(
          Catalog.descriptionKey(name), CatalogEntry.tableDescription(description).bytes)
      }
    }
    _ = try writer.publish(root: try catalog.flush(), durability: .full, metadata: [])
    return store
  }

  @Test(arguments: [0, 1] as [UInt16])
  func `a table whose next column has the number of one that it has is damaged`(
    nextColumn: UInt16
  ) throws {
    let store = try store(nextColumn: nextColumn) { context in
      ["table": try rows(0..<3, of: .null, context)]
    }
    let database = try Database(store: store)
    #expect(throws: StoreError.self) { _ = try database.snapshot().table("table") }
    let transaction = try database.beginWrite()
    #expect(throws: StoreError.self) { _ = try transaction.editTable("table") }
    transaction.rollback()
    #expect(try database.verify().findings != [])
  }

  @Test func `the last number that a layout can have is followed by the first`() throws {
    let store = try store(layoutGeneration: .max) { context in
      ["table": try rows(0..<3, of: .null, context)]
    }
    let database = try Database(store: store)
    let transaction = try database.beginWrite()
    _ = try transaction.editTable("table")?.addColumn(name: "b", type: .int, isNullable: true)
    let snapshot = try transaction.commit()
    #expect(try snapshot.catalog.layoutGeneration() == 0)
    #expect(try snapshot.table("table")?.record.columns.count == 2)
  }

  private func write(_ page: KeyPage, _ context: WriteContext) throws -> PageReference {
    let byteCount = page.tighten()
    return try context.write(
      UnsafeRawBufferPointer(start: page.bytes, count: byteCount), kind: page.kind)
  }

  /// A tree of rows under `keys`, or as many by position, each of which holds `value`.
  private func rows(
    _ keys: Range<Int64>, of value: ColumnValue, kind: TreeRoot.Kind = .column,
    _ context: WriteContext
  ) throws -> TreeRoot {
    let layout = ColumnLayout([ColumnSpec(id: 1, type: .bytes, isNullable: true)])
    let editor = ColumnTreeEditor(root: .empty(kind), layout: layout, context: context)
    for key in keys {
      if kind == .position {
        try editor.insert(at: editor.count, values: [value])
      } else {
        try editor.insert(key: key, values: [value])
      }
    }
    return try editor.flush()
  }

  private func findings(_ store: HeapStore) throws -> [String] {
    try Database(store: store).verify().findings
  }

  @Test(arguments: [[], [0x78, 0], [0xFF]] as [[UInt8]])
  func `a key of the catalog that is no name is damage, also for who copies`(key: [UInt8]) throws {
    let store = try store(valueKeys: [Catalog.key("value"), key])
    let database = try Database(store: store)
    let snapshot = try database.snapshot()
    #expect(throws: StoreError.self) { try snapshot.names(withPrefix: "") }
    #expect(try snapshot.value("value") == [1])
    let copy = try Database(store: HeapStore())
    #expect(throws: StoreError.self) { try database.copy(to: copy) }
  }

  @Test func `pages of trees within trees are visited down to a depth`() throws {
    func pageCount(depth: Int) throws -> Int {
      let store = try store { context in
        var root = try rows(0..<1, of: .null, context)
        for _ in 0..<depth { root = try rows(0..<1, of: .tree(root), context) }
        return ["table": root]
      }
      let database = try Database(store: store)
      var count = 0
      try database.forEachStoredPage(of: try database.snapshot(), unless: { _ in false }) { _, _ in
        count += 1
      }
      return count
    }
    #expect(try pageCount(depth: 200) == 202)
    #expect(throws: StoreError.self) { try pageCount(depth: 300) }
  }

  // MARK: Pages that name each other many times

  @Test func `a key tree whose branches name one child twice is walked once`() throws {
    let store = try store { context in
      let leaf = KeyTreeEditor(root: .empty(.key), context: context)
      _ = try leaf.set([1], [1])
      var root = try leaf.flush()
      for _ in 2...32 {
        let page = KeyPage(kind: .keyBranch, capacity: 1024)
        let entries = KeyEntryList(isLeaf: false)
        for separator in [[], [0x40]] as [[UInt8]] {
          separator.withUnsafeBytes {
            entries.appendChild($0, root.reference, rowCount: Int(root.rowCount))
          }
        }
        try entries.fill(page, 0..<2)
        root = TreeRoot(
          reference: try write(page, context), height: root.height + 1, kind: .key,
          rowCount: root.rowCount * 2)
      }
      return ["crafted": root]
    }
    let findings = try findings(store)
    #expect(findings.contains { $0.contains("reached a second time") })
    #expect(findings.count < 100)
  }

  @Test func `a table whose branches name one child a hundred times is walked once`() throws {
    let store = try store { context in
      var root = try rows(0..<2, of: .null, context)
      for level in 1...6 {
        let branch = DirtyBranch(level: level, isPositional: false, room: 100)
        for child in 0..<100 {
          branch.insert(
            Child(separator: Int64(child), reference: root.reference, rowCount: root.rowCount),
            at: child)
        }
        root = TreeRoot(
          reference: try context.write(branch), height: root.height + 1, kind: .column,
          rowCount: root.rowCount * 100)
      }
      return ["crafted": root]
    }
    let findings = try findings(store)
    #expect(findings.contains { $0.contains("reached a second time") })
  }

  @Test func `rows that own one tree many times are walked once`() throws {
    let store = try store { context in
      var root = try rows(0..<1, of: .null, kind: .position, context)
      for _ in 0..<20 { root = try rows(0..<10, of: .tree(root), kind: .position, context) }
      return ["crafted": try rows(0..<10, of: .tree(root), context)]
    }
    #expect(try findings(store).contains { $0.contains("reached a second time") })
  }

  @Test func `of many findings the first thousand are kept`() throws {
    let store = ObservedStore()
    let filling = try Database(store: store).beginWrite()
    let tree = try filling.editKeyTree("values")
    let value = [UInt8](repeating: 1, count: 2_000)
    for key in 0..<1_500 as Range<Int> {
      _ = try tree.set([UInt8(key >> 8), UInt8(key & 0xff)], value)
    }
    _ = try filling.commit()
    store.falsify { reference, buffer in
      if reference.rawKind == PageKind.overflow.rawValue {
        buffer.bytes.storeBytes(of: 2, as: UInt8.self)
      }
    }
    let findings = try Database(store: store).verify().findings
    #expect(findings.count == 1_001)
    #expect(findings.last == "500 more findings are left out")
  }

  // MARK: Counts that are only claimed

  /// A table of two leaves whose branch claims so many rows for each.
  private func twoLeaves(claiming claims: UInt64...) throws -> HeapStore {
    try store { context in
      let branch = DirtyBranch(level: 1, isPositional: false, room: 8)
      for (index, keys) in ([0..<5, 100..<110] as [Range<Int64>]).enumerated() {
        let leaf = try rows(keys, of: .null, context).reference
        let child = Child(
          separator: keys.lowerBound, reference: leaf, rowCount: claims[index])
        branch.insert(child, at: index)
      }
      let root = TreeRoot(
        reference: try context.write(branch), height: 2, kind: .column,
        rowCount: claims[0] + claims[1])
      return ["crafted": root]
    }
  }

  @Test(arguments: [1 << 47, 1 << 48, UInt64(Int64.max) - 5])
  func `a commit survives counts that a branch only claims`(claim: UInt64) throws {
    let database = try Database(store: try twoLeaves(claiming: 5, claim))
    do {
      let transaction = try database.beginWrite()
      let table = try #require(try transaction.editTable("crafted"))
      // A leaf that has lost a row and is small asks whether it fits together with the next one.
      try table.remove(key: 0)
      for key in 5..<20 as Range<Int64> { try table.insert(key: key, values: [(1, .null)]) }
      _ = try transaction.commit()
    } catch let error as StoreError {
      guard case .damaged = error else { throw error }
    }
    #expect(try !database.verify().findings.isEmpty)
  }

  @Test func `more rows can be removed than a branch claims`() throws {
    let database = try Database(store: try twoLeaves(claiming: 5, 1))
    do {
      let transaction = try database.beginWrite()
      let table = try #require(try transaction.editTable("crafted"))
      try table.remove(key: 0)
      for key in 100..<103 as Range<Int64> { try table.remove(key: key) }
      _ = try transaction.commit()
    } catch let error as StoreError {
      guard case .damaged = error else { throw error }
    }
  }

  @Test func `a row that only a branch knows of is not found by its position`() throws {
    let database = try Database(store: try twoLeaves(claiming: 1_000, 10))
    let tree = try #require(try database.snapshot().table("crafted")).groups[0]
    var cursor = tree.leafCursor()
    #expect(try cursor.seek(toIndex: 4))
    #expect(throws: StoreError.self) { try cursor.seek(toIndex: 5) }
    #expect(try cursor.seek(toIndex: 1_009))
  }

  @Test func `a position behind the last row of a leaf is refused`() throws {
    var root = TreeRoot.empty(.position)
    let store = try store { context in
      root = try rows(0..<10, of: .null, kind: .position, context)
      root.rowCount = 100
      return ["crafted": try rows(0..<1, of: .tree(root), context)]
    }
    let database = try Database(store: store)
    let changes: [(ColumnTreeEditor) throws -> Void] = [
      { try $0.remove(at: 10) }, { try $0.update(at: 99, column: 1, value: .null) },
      { _ = try $0.value(at: 10, column: 1) },
    ]
    for change in changes {
      let transaction = try database.beginWrite()
      let layout = ColumnLayout([ColumnSpec(id: 1, type: .bytes, isNullable: true)])
      let list = ColumnTreeEditor(root: root, layout: layout, context: transaction.context)
      try list.update(at: 9, column: 1, value: .null)
      #expect(throws: StoreError.self) { try change(list) }
      transaction.rollback()
    }
  }

  @Test(arguments: [nil, 1, 1 << 20] as [Int?])
  func `sorting rows that are only claimed throws`(limit: Int?) throws {
    let database = try Database(store: try twoLeaves(claiming: 1 << 29, 1 << 29))
    let table = try #require(try database.snapshot().table("crafted"))
    #expect(throws: StoreError.self) {
      _ = try table.groups[0].keys(
        sortedBy: [SortTerm(ColumnSpec(id: 1, type: .bytes, isNullable: true))],
        limit: limit)
    }
  }

  @Test func `memory that the system refuses ends no process`() {
    var isGiven = false
    if LargeMemory<Int64>(trying: 1 << 57) != nil { isGiven = true }
    #expect(!isGiven)
  }

  @Test func `a root with more rows than any tree can have is refused`() throws {
    let reference = PageReference(
      checksum: 1, extent: Extent(address: 8, unitCount: 1), kind: .columnLeaf, born: 1)
    for (rowCount, isRead) in [(1 << 48, true), (1 << 48 + 1, false)] as [(UInt64, Bool)] {
      let root = TreeRoot(reference: reference, height: 1, kind: .column, rowCount: rowCount)
      let read = root.storedBytes.withUnsafeBytes { TreeRoot(loadingFrom: $0) }
      #expect((read == root) == isRead)
    }
  }

  // MARK: Nodes larger than any that is written

  /// A branch above leaves of one key each.
  private func branch(
    _ keys: [[UInt8]], _ context: WriteContext
  ) throws -> PageReference {
    let page = KeyPage(kind: .keyBranch, capacity: KeyNode.maximumByteCount)
    let entries = KeyEntryList(isLeaf: false)
    for (index, key) in keys.enumerated() {
      let leaf = KeyTreeEditor(root: .empty(.key), context: context)
      _ = try leaf.set(key, [1])
      let reference = try leaf.flush().reference
      (index == 0 ? [] : key).withUnsafeBytes {
        entries.appendChild($0, reference, rowCount: 1)
      }
    }
    try entries.fill(page, 0..<entries.count)
    return try write(page, context)
  }

  @Test func `a branch that outgrows its page throws instead of ending the process`() throws {
    let prefix = [UInt8](repeating: 1, count: 480)
    let large = (0..<1_200 as Range<Int>).map { prefix + [UInt8($0 >> 8), UInt8($0 & 0xff), 1, 1] }
    let small: [[UInt8]] = [[0, 1], [0, 2]]
    let store = try store { context in
      let top = KeyPage(kind: .keyBranch, capacity: 1024)
      let entries = KeyEntryList(isLeaf: false)
      for (separator, keys) in [([], small), ([1], large)] as [([UInt8], [[UInt8]])] {
        let child = try branch(keys, context)
        separator.withUnsafeBytes { entries.appendChild($0, child, rowCount: keys.count) }
      }
      try entries.fill(top, 0..<2)
      return [
        "crafted": TreeRoot(
          reference: try write(top, context), height: 3, kind: .key,
          rowCount: UInt64(small.count + large.count))
      ]
    }
    let database = try Database(store: store)
    #expect(try database.verify().findings == [])
    let transaction = try database.beginWrite()
    let tree = try transaction.editKeyTree("crafted")
    // The small branch is left with one child, and takes others from the large one.
    let error = #expect(throws: StoreError.self) { _ = try tree.remove(small[0]) }
    guard case .damaged(let damage)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(damage.rule == .bounds)
    #expect(throws: StoreError.damaged(damage)) { _ = try transaction.commit() }
  }
}
