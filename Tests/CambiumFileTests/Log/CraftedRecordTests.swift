import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Records of small commits that no commit has made: whoever can write the lock file may put anything there.
struct CraftedRecordTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  /// What a store has in the file, and the records of the small commits that follow, as the engine made them.
  private struct Sample {
    var store: FileStore
    var database: Database
    var stored: Head
    var records: [[UInt8]]

    /// The bytes of a stored page.
    func read(_ reference: PageReference, _ kind: PageKind) throws(StoreError) -> [UInt8] {
      let pin = try store.pin()
      let page = try store.read(reference, at: pin)
      defer { withExtendedLifetime((page, pin)) {} }
      let bytes = unsafe UnsafeRawBufferPointer(
        start: page.bytes, count: min(page.byteCount, reference.byteCount))
      guard unsafe Checksum.hash(bytes) == reference.checksum else {
        throw .damaged(Damage(.checksum, at: reference, "a stored page"))
      }
      return unsafe Array(bytes)
    }
  }

  private func sample() throws -> Sample {
    let options = FileStoreOptions.withoutTimers
    let store = try FileStore(path: path, options: options)
    let database = try Database(store: store)
    let first = try database.beginWrite()
    let editor = try first.createTable(
      "a",
      columns: [
        ColumnDescriptor(type: .bytes, isNullable: false, name: "text"),
        ColumnDescriptor(type: .int, isNullable: false, name: "number"),
      ])
    for key in 0..<4000 as Range<Int64> {
      let text = withUnsafeBytes(of: key &* 0x1e37_79b9_7f4a_7c15) { Array($0) }
      _ = try text.withUnsafeBytes {
        try editor.insert(key: key, values: [(1, .bytes($0)), (2, .int(key))])
      }
    }
    let keys = try first.editKeyTree("keys")
    for key in 0..<2000 { try keys.set(Array("key \(key)".utf8), Array("\(key)".utf8)) }
    _ = try first.commit()
    // Makes room for those that follow.
    let second = try database.beginWrite(expecting: .relaxed)
    try second.setValue("room", [1])
    _ = try second.commit(durability: .relaxed)
    try database.sync()
    let stored = try database.snapshot().head
    for step in 0..<12 {
      let transaction = try database.beginWrite(expecting: .relaxed)
      let editor = try #require(try transaction.editTable("a"))
      try editor.update(key: Int64(step % 3 * 700), column: 2, value: .int(Int64(step)))
      try transaction.editKeyTree("keys").set(
        Array("key \(step % 4 * 300)".utf8), [UInt8(step)])
      _ = try transaction.commit(durability: .relaxed)
    }
    let log = SharedLog(memory: store.memory)
    var (records, end, version): ([[UInt8]], Int, Version) = ([], 0, stored.version)
    while let found = log.record(of: version + 1, after: stored.version, at: end) {
      records.append(try #require(SharedLog.parts(found.record)).record)
      end = found.end
      version += 1
    }
    #expect(records.count == 12)
    return Sample(store: store, database: database, stored: stored, records: records)
  }

  /// What becomes of records; throws when they are refused.
  private func replay(_ records: [[UInt8]], _ sample: Sample) throws(StoreError) -> Head {
    var replay = ResidenceReplay(onto: nil, root: sample.stored.root, read: sample.read)
    for record in records { try replay.apply(record) }
    var head = sample.stored
    head.version += Version(records.count)
    head.root = replay.root
    head.residence = try replay.finish()
    return head
  }

  /// Reads everything that hangs from `head`; what is wrong is thrown or found.
  private func read(_ head: Head, _ sample: Sample) throws(StoreError) {
    let pin = try sample.store.pin()
    let crafted = unsafe Pin(
      head: head, base: pin.base, readableByteCount: pin.readableByteCount
    ) { withExtendedLifetime(pin) {} }
    let snapshot = sample.database.adopt(crafted)
    if let table = try snapshot.table("a") {
      var cursor = table.groups[0].leafCursor()
      var isValid = try cursor.first()
      while isValid { isValid = try cursor.next() }
    }
    if let tree = try snapshot.keyTree("keys") {
      var cursor = tree.cursor()
      var isValid = try cursor.seekFirst()
      while isValid { isValid = try cursor.next() }
    }
  }

  @Test func `the records of honest commits make what these have made`() throws {
    let sample = try sample()
    let head = try replay(sample.records, sample)
    try read(head, sample)
    let newest = try sample.database.snapshot().head
    #expect(head.version == newest.version && head.root == newest.root)
    let (mine, theirs) = (try #require(head.residence), try #require(newest.residence))
    #expect(Set(mine.freedReferences) == Set(theirs.freedReferences))
    for (index, page) in theirs.pages.all.enumerated() {
      #expect(mine.pages.dirtyPage(at: index)?.kind == page?.kind)
    }
    try sample.database.close()
  }

  /// Flips bits, cuts, and puts numbers of all kinds; nothing stops the process, and what is not refused is read.
  @Test(arguments: Exhaustive.seeds(20, few: 3))
  func `a record in which anything was changed is refused or read`(seed: UInt64) throws {
    let sample = try sample()
    var random = SeededGenerator(seed: seed)
    var (refusedCount, readCount) = (0, 0)
    for _ in 0..<400 {
      var records = sample.records
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = Int.random(in: records.indices, using: &random)
        RecordMutation.apply(to: &records[index], &random)
      }
      do throws(StoreError) {
        let head = try replay(records, sample)
        readCount += 1
        do throws(StoreError) { try read(head, sample) } catch { _ = error.description }
      } catch {
        guard case .damaged = error else { throw error }
        refusedCount += 1
      }
    }
    #expect(refusedCount > 40, "\(refusedCount), \(readCount)")
    try sample.database.close()
  }

  // MARK: Links

  private static func node(
    height: Int, children: [PageReference], room: Int = 2
  ) -> DirtyPage {
    let branch = DirtyBranch(level: height - 1, isPositional: false, room: room)
    branch.setChildren(
      children.enumerated().map { index, reference in
        Child(separator: Int64(index) * 10, reference: reference, rowCount: 3)
      }[...])
    return branch
  }

  /// The record of a catalog with one entry, whose leaf comes behind `pages`.
  private func record(
    naming entry: CatalogEntry, _ pages: [DirtyPage], _ source: PageSource
  ) throws -> [UInt8] {
    let leaf = KeyPage(kind: .keyLeaf, capacity: 512)
    let (key, value) = (Catalog.key("a"), entry.bytes)
    #expect(leaf.reserve(key.count + value.count + 16, limit: 512))
    unsafe key.withUnsafeBytes { key in
      unsafe value.withUnsafeBytes { value in
        unsafe leaf.insert(at: 0, suffix: key, StoredValue(bytes: value, isOverflow: false))
      }
    }
    try leaf.freeze()
    let reference = PageReference(dirty: pages.count, kind: .keyLeaf)
    return ResidenceRecord(
      root: TreeRoot(reference: reference, height: 1, kind: .key, rowCount: 1),
      changes: (pages + [leaf]).enumerated().map { DirtyPages.Change(index: $0, page: $1) },
      freed: [], source: source
    ).bytes
  }

  private func replayAlone(_ record: [UInt8]) throws {
    var replay = ResidenceReplay(onto: nil, root: .empty(.key)) { reference, _ throws(StoreError) in
      throw .damaged(Damage(.reference, at: reference, "no page is stored"))
    }
    try replay.apply(record)
    _ = try replay.finish()
  }

  @Test func `branches in memory that lead in circles, or to other levels, are refused`() throws {
    let sample = try sample()
    let source = try sample.database.snapshot().source
    let branch = PageReference(dirty: 0, kind: .columnBranch)
    let other = PageReference(dirty: 1, kind: .columnBranch)
    let third = PageReference(dirty: 2, kind: .columnBranch)
    let leaf = PageReference(dirty: 1, kind: .columnLeaf)
    let stored = PageReference(
      checksum: 1, extent: Extent(address: 9, unitCount: 4), kind: .columnLeaf, born: 1)
    func made(_ height: UInt8, _ pages: [DirtyPage]) throws -> [UInt8] {
      let root = TreeRoot(reference: branch, height: height, kind: .column, rowCount: 6)
      let table = CatalogEntry.TableRoots(id: 9, nextKey: 9, nextColumn: 2, roots: [root])
      return try record(naming: .table(table), pages, source)
    }
    func expectRefused(_ height: UInt8, _ pages: [DirtyPage], _ what: String) throws {
      let record = try made(height, pages)
      #expect(throws: StoreError.self, "\(what)") { try replayAlone(record) }
    }
    let below = [
      Self.node(height: 2, children: [stored, stored]),
      Self.node(height: 2, children: [stored, stored]),
    ]
    try replayAlone(made(3, [Self.node(height: 3, children: [other, third])] + below))
    try expectRefused(3, [Self.node(height: 3, children: [branch, branch])], "a page below itself")
    try expectRefused(
      3,
      [
        Self.node(height: 3, children: [other, other]),
        Self.node(height: 3, children: [branch, branch]),
      ], "two pages below each other")
    try expectRefused(
      3, [Self.node(height: 3, children: [other, other]), below[0]], "a page with two parents")
    try expectRefused(
      2, [Self.node(height: 2, children: [leaf, leaf])], "a leaf that is not there")
    try expectRefused(
      2,
      [
        Self.node(height: 2, children: [leaf, PageReference(dirty: 2, kind: .columnLeaf)]),
        Self.node(height: 2, children: [branch, branch]),
      ], "a branch in the place of a leaf")
    try expectRefused(
      4, [Self.node(height: 3, children: [other, third])] + below, "a root of another height")
    try sample.database.close()
  }

  @Test func `a key tree in memory that is a table's is refused, and so is a catalog`() throws {
    let sample = try sample()
    let source = try sample.database.snapshot().source
    let stored = PageReference(
      checksum: 1, extent: Extent(address: 9, unitCount: 4), kind: .columnLeaf, born: 1)
    let root = TreeRoot(
      reference: PageReference(dirty: 0, kind: .columnBranch), height: 2, kind: .column, rowCount: 6
    )
    let branch = Self.node(height: 2, children: [stored, stored])
    let named = try record(naming: .keyTree(root), [branch], source)
    #expect(throws: StoreError.self) { try replayAlone(named) }
    let catalog = ResidenceRecord(
      root: root, changes: [DirtyPages.Change(index: 0, page: branch)], freed: [], source: source
    ).bytes
    #expect(throws: StoreError.self) { try replayAlone(catalog) }
    try sample.database.close()
  }

  @Test func `a record that would make more pages than fit into memory is refused`() throws {
    let sample = try sample()
    let source = try sample.database.snapshot().source
    var leaf = PageReference.none
    let tree = try #require(try sample.database.snapshot().table("a")).groups[0]
    try tree.walk(
      { if $1 == .columnLeaf, !$0.isDirty { leaf = $0 } }, tree: { _ in }, damage: { _ in })
    try #require(!leaf.isNone)
    var made = ResidenceRecord(root: .empty(.key), changes: [], freed: [], source: source).bytes
    func put(_ number: Int) { withUnsafeBytes(of: UInt32(number).littleEndian) { made += $0 } }
    let count = 9 << 20 / leaf.byteCount
    made.replaceSubrange(
      TreeRoot.byteCount..<TreeRoot.byteCount + 4,
      with: withUnsafeBytes(of: UInt32(count).littleEndian) { Array($0) })
    var reference = [UInt8](repeating: 0, count: PageReference.byteCount)
    unsafe reference.withUnsafeMutableBytes { bytes in
      if let start = bytes.baseAddress { unsafe leaf.store(to: start) }
    }
    for index in 0..<count {
      put(index)
      made += [leaf.rawKind, ResidenceRecord.Form.patchedCopy.rawValue, 0, 0]
      put(leaf.byteCount)
      put(reference.count)
      made += reference
    }
    #expect(throws: StoreError.self) { _ = try replay([made], sample) }
    try sample.database.close()
  }

  @Test func `a record that patches stored pages for ever is refused`() throws {
    var readCount = 0
    var replay = ResidenceReplay(onto: nil, root: .empty(.key)) { _, _ in
      readCount += 1
      return [UInt8](repeating: 0, count: 1 << 20)
    }
    let stored = PageReference(
      checksum: 1, extent: Extent(address: 9, unitCount: 4), kind: .columnLeaf, born: 1)
    var writer = ByteWriter()
    writer.put(TreeRoot.empty(.key).storedBytes)
    writer.put(UInt32(5_000))
    writer.put(UInt32(0))
    for index in 0..<5_000 as Range<UInt32> {
      writer.put(index)
      writer.put(stored.rawKind)
      writer.put(ResidenceRecord.Form.patchedCopy.rawValue)
      writer.putZeros(2)
      // 64 bytes, which are copied from the page's beginning.
      writer.put(UInt32(64))
      writer.put(UInt32(PageReference.byteCount + 12))
      var reference = [UInt8](repeating: 0, count: PageReference.byteCount)
      unsafe reference.withUnsafeMutableBytes { bytes in
        if let start = bytes.baseAddress { unsafe stored.store(to: start) }
      }
      writer.put(reference)
      for number in [0, 64, 0] as [UInt32] { writer.put(number) }
    }
    #expect(throws: StoreError.self) { try replay.apply(writer.bytes) }
    #expect(readCount == 64)
  }

  // MARK: Stored pages

  @Test func `roots in a stored page that name pages in memory are not believed`() throws {
    let sample = try sample()
    try sample.database.sync()
    let leaf = PageReference(dirty: 0, kind: .columnLeaf)
    let crafting = try sample.database.beginWrite()
    for name in ["b", "c"] {
      _ = try crafting.createTable(
        name, columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
    }
    try crafting.flushTrees()
    let root = TreeRoot(reference: leaf, height: 1, kind: .column, rowCount: 3)
    _ = try crafting.names.set(
      Catalog.key("b"),
      CatalogEntry.table(
        CatalogEntry.TableRoots(id: 9, nextKey: 9, nextColumn: 2, roots: [root])
      ).bytes)
    _ = try crafting.names.set(
      Catalog.key("k"),
      CatalogEntry.keyTree(
        TreeRoot(
          reference: PageReference(dirty: 1, kind: .keyLeaf), height: 1, kind: .key, rowCount: 3)
      ).bytes)
    _ = try crafting.commit()
    // What was crafted is known to that one.
    let database = try Database(store: sample.store)
    // Whether or not something lies in memory.
    for _ in 0..<2 {
      let snapshot = try database.snapshot()
      #expect(throws: StoreError.self) { try snapshot.table("b") }
      #expect(throws: StoreError.self) { try snapshot.keyTree("k") }
      #expect(try snapshot.table("a") != nil)
      let transaction = try database.beginWrite(expecting: .relaxed)
      #expect(throws: StoreError.self) { try transaction.editTable("b") }
      #expect(throws: StoreError.self) { try transaction.editKeyTree("k") }
      transaction.rollback()
      // Nor is the page that has them copied to memory, where roots are believed.
      for number in 0..<20 as Range<Int64> {
        let changing = try database.beginWrite(expecting: .relaxed)
        try #require(try changing.editTable("a")).update(key: 1, column: 2, value: .int(number))
        _ = try? changing.commit(durability: .relaxed)
      }
      #expect(try database.snapshot().head.residence == nil)
    }
    try? database.close()
  }
}

extension ResidenceRecord {
  fileprivate var bytes: [UInt8] {
    [UInt8](limit: byteLimit) { write(to: &$0) }
  }
}
