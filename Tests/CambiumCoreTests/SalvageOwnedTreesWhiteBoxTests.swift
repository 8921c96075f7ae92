import TestSupport
import Testing

@testable import CambiumCore

/// A sound store that is read as if it were damaged.
extension ObservedStore: SalvageStore {
  var heads: [Head] { (try? newestHead()).map { [$0] } ?? [] }
  var pageExtent: Extent { Extent(address: 0, unitCount: 0) }

  /// From now on pages at `addresses` are not what was written.
  func damage(_ addresses: Set<UInt64>) {
    falsify { reference, page in
      guard addresses.contains(reference.address) else { return }
      let byte = page.bytes.load(fromByteOffset: 20, as: UInt8.self)
      page.bytes.storeBytes(of: byte ^ 4, toByteOffset: 20, as: UInt8.self)
    }
  }
}

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
    try fill { context in
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

  /// Makes the table with rows 6, 7 and 8, some of which own trees.
  private func fill(_ make: (WriteContext) throws -> [Int64: TreeRoot]) throws {
    let database = try Database(store: store)
    let transaction = try database.beginWrite()
    let table = try transaction.createTable(
      "notes", columns: [ColumnDescriptor(type: .bytes, isNullable: true, name: "list")])
    let roots = try make(transaction.context)
    for key in 6...8 as ClosedRange<Int64> {
      try table.insert(key: key, values: [(1, roots[key].map { .tree($0) } ?? .null)])
    }
    _ = try transaction.commit()
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
    try fill { context in
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
    try fill { context in
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
    try fill { context in
      let root = try rows(.position, 3, context) { Self.value($0) }
      return [7: root, 8: root]
    }
    let (report, database) = try salvage()
    #expect(try elements(database) == [0, 1, 2])
    #expect(report.losses.map(\.keys) == ["all elements of 'list' in row 8"])
    #expect(report.lostElementCount == 3)
  }

  @Test func `columns without values in the first leaf are copied from the others`() throws {
    try fill { context in
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

  // MARK: What ends it

  /// Cannot encode any page of a kind.
  private struct FailingCodec: PageCodec {
    let name = "failing"
    let kind: PageKind
    static let failure = StoreError.codecFailure(codec: "failing", reason: "no memory")

    func encode(
      _ page: UnsafeRawBufferPointer, kind: PageKind
    ) throws(StoreError) -> [UInt8] {
      if kind == self.kind { throw Self.failure }
      return Array(page)
    }

    func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

    func open(
      _ body: UnsafeRawBufferPointer, context: PageContext
    ) throws(StoreError) -> PageBuffer {
      let buffer = PageBuffer(byteCount: body.count)
      UnsafeMutableRawBufferPointer(start: buffer.bytes, count: body.count).copyMemory(from: body)
      return buffer
    }
  }

  @Test(arguments: PageKind.allCases)
  func `what the destination cannot write is not taken for damage`(kind: PageKind) throws {
    let kinds: [PageKind: TreeRoot.Kind] = [.keyLeaf: .key, .keyBranch: .key]
    try fill { context in
      let treeKind = kinds[kind] ?? .position
      if treeKind == .key {
        let editor = KeyTreeEditor(root: .empty(.key), context: context)
        for element in 0..<4000 { try editor.set(Array("\(element) \(element)".utf8), [1, 2, 3]) }
        return [7: try editor.flush()]
      }
      // More than one leaf of those that a destination makes.
      let editor = ColumnTreeEditor(
        root: .empty(.position),
        layout: ColumnLayout([ColumnSpec(id: 1, type: .bytes, isNullable: false)]),
        context: context)
      var generator = SeededGenerator(seed: 5)
      for element in 0..<400 {
        let value = (0..<(element == 5 ? 3000 : 500)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        try value.withUnsafeBytes { try editor.insert(at: element, values: [.bytes($0)]) }
      }
      return [7: try editor.flush()]
    }
    let database = try Database(
      store: HeapStore(codec: "failing"), codec: FailingCodec(kind: kind))
    #expect(throws: FailingCodec.failure) { try Salvage(store: store).run(into: database) }
    #expect(try database.snapshot().version == 0)
    // The transaction has ended.
    try database.beginWrite().rollback()
  }

  @Test func `a page that can be read only once ends it`() throws {
    var generator = SeededGenerator(seed: 6)
    let transaction = try Database(store: store).beginWrite()
    let table = try transaction.createTable(
      "notes", columns: [ColumnDescriptor(type: .bytes, isNullable: true, name: "text")])
    for key in 0..<3000 as Range<Int64> {
      let text = (0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) }
      try text.withUnsafeBytes { _ = try table.insert(key: key, values: [(1, .bytes($0))]) }
    }
    let tree = try #require(try transaction.commit().table("notes")?.groups[0])
    var leaves: [PageReference] = []
    try tree.walk({ if $1 == .columnLeaf { leaves.append($0) } }, tree: { _ in }, damage: { _ in })
    // So many that the first one has left the smallest cache when all were read.
    #expect(leaves.count > 50)
    let address = try #require(leaves.first).address
    let reads = ReadCounter()
    store.falsify { reference, page in
      guard reference.address == address else { return }
      reads.count += 1
      if reads.count > reads.soundCount {
        page.bytes.storeBytes(of: 0xff, toByteOffset: 20, as: UInt8.self)
      }
    }
    var results: [Int: Int] = [:]
    for soundCount in 0..<3 {
      (reads.count, reads.soundCount) = (0, soundCount)
      let catalog = try SalvageCatalog(
        store: store, codec: nil, cache: PageCache(byteCount: 0))
      let transaction = try Database(store: HeapStore()).beginWrite()
      var copy = SalvageCopy(transaction: transaction, progress: { _ in })
      let result = Result { () throws(StoreError) in try copy.take("notes", from: catalog) }
      switch result {
      case .success(let isTaken):
        #expect(isTaken)
        results[soundCount] = copy.report.losses.count
      case .failure(let error): #expect(error.damage(at: .none) != nil)
      }
      transaction.rollback()
    }
    // Lost; there when rows are looked through, and lost when they are copied; whole.
    #expect(results == [0: 1, 2: 0])
  }

  /// Unchecked: one thread reads.
  private final class ReadCounter: @unchecked Sendable {
    var count = 0
    var soundCount = 0
  }
}
