import CambiumCore
import CambiumFile
import TestSupport
import Testing

/// Rebuilding the free map of a store whose trees are sound.
struct RepairTests {
  private static let path = "simulated"

  private static func options(_ device: SimulatedDevice) -> FileStoreOptions {
    var options = CrashSettings.options(device)
    options.checkpointAfterRecordCount = 2
    // Each version has a record and pages of its own.
    options.storedLogByteCount = 0
    return options
  }

  /// A closed file, and which of its bytes belong to no tree: records and the free map.
  private static func makeFile() throws -> (bytes: [UInt8], trees: [Extent]) {
    let device = SimulatedDevice()
    let database = try Database(store: FileStore(path: path, options: options(device)))
    for round in 0..<8 as Range<Int64> {
      let transaction = try database.beginWrite()
      let table =
        try transaction.editTable("T")
        ?? transaction.createTable(
          "T", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "a")])
      for key in 0..<50 as Range<Int64> {
        _ = try table.insert(key: round * 50 + key, values: [(1, .int(key &* round))])
      }
      _ = try transaction.commit()
    }
    let trees = try database.walkNewest().extents
    try database.close()
    return (device.bytes, trees)
  }

  private static func sum(_ database: Database) throws -> (rows: Int, sum: Int64) {
    let table = try #require(try database.snapshot().table("T"))
    var cursor = table.groups[0].leafCursor()
    var (rows, sum) = (0, Int64(0))
    var isValid = try cursor.first()
    while isValid {
      for row in 0..<cursor.leaf.rowCount {
        rows += 1
        sum &+= cursor.leaf.column(1)?.int(row) ?? 0
      }
      isValid = try cursor.next()
    }
    return (rows, sum)
  }

  private static func open(_ device: SimulatedDevice) throws -> Database {
    try Database(store: FileStore(path: path, options: options(device)))
  }

  @Test func `a damaged byte of the free map is found, mended, and costs no data`() throws {
    let (bytes, trees) = try Self.makeFile()
    let expected = try Self.sum(Self.open(SimulatedDevice(bytes)))
    #expect(expected.rows == 400)
    var ofTrees = [Bool](repeating: false, count: bytes.count)
    for extent in trees {
      for offset in extent.byteOffset..<(extent.byteOffset + extent.byteCount) {
        ofTrees[offset] = true
      }
    }
    var foundCount = 0
    for offset in 12_288..<bytes.count where !ofTrees[offset] && bytes[offset] != 0 {
      guard Exhaustive.tries(offset, oneIn: 5) else { continue }
      var damaged = bytes
      damaged[offset] ^= 0x55
      let device = SimulatedDevice(damaged)
      let before = try Self.open(device)
      let findings = try before.verify().findings
      #expect(try Self.sum(before) == expected, "byte \(offset)")
      let isWritable = Result { try before.beginWrite().rollback() }
      try before.close()
      // Old records and old pages of the map lie about as well.
      if findings.isEmpty {
        try isWritable.get()
        continue
      }
      foundCount += 1
      if case .failure(let error) = isWritable {
        #expect("\(error)".contains("cambium verify \(Self.path) --repair"), "byte \(offset)")
      }
      // A repair is the same whatever byte it was.
      if foundCount % 16 != 0 { continue }
      let mended = try FileStore.repairFreeMap(path: Self.path, options: Self.options(device))
      #expect(mended == findings)
      let after = try Self.open(device)
      #expect(try after.verify().findings == [], "byte \(offset)")
      #expect(try Self.sum(after) == expected)
      let transaction = try after.beginWrite()
      let table = try #require(try transaction.editTable("T"))
      _ = try table.insert(key: 10_000, values: [(1, .int(1))])
      _ = try transaction.commit()
      #expect(try after.verify().findings == [], "byte \(offset)")
      try after.close()
    }
    #expect(foundCount > 30)
  }

  @Test func `a sound store is not touched`() throws {
    let device = SimulatedDevice(try Self.makeFile().bytes)
    #expect(
      try FileStore.repairFreeMap(path: Self.path, options: Self.options(device)) == [])
    #expect(device.operationCount == 0)
  }

  @Test func `a damaged tree is not papered over`() throws {
    let (bytes, trees) = try Self.makeFile()
    var damaged = bytes
    let page = try #require(trees.last)
    damaged[page.byteOffset + 20] ^= 1
    let device = SimulatedDevice(damaged)
    let error = #expect(throws: StoreError.self) {
      try FileStore.repairFreeMap(path: Self.path, options: Self.options(device))
    }
    #expect("\(String(describing: error))".contains("cannot be rebuilt"))
    #expect(device.bytes == damaged)
  }

  @Test func `power loss during a repair leaves the content, and another repair mends it`() throws {
    let (bytes, _) = try Self.makeFile()
    let expected = try Self.sum(Self.open(SimulatedDevice(bytes)))
    // The newest record: the page of a commit that the map needs.
    let broken = try Self.breakMap(bytes)
    let device = SimulatedDevice(broken)
    _ = try FileStore.repairFreeMap(path: Self.path, options: Self.options(device))
    var generator = SeededGenerator(seed: 4)
    for count in 0...device.operationCount {
      for mood in [0, 0.5, 1] {
        let image = device.crashImage(afterOperations: count, mood: mood, generator: &generator)
        let after = SimulatedDevice(image)
        #expect(try Self.sum(Self.open(after)) == expected, "operation \(count)")
        _ = try FileStore.repairFreeMap(path: Self.path, options: Self.options(after))
        let database = try Self.open(after)
        #expect(try database.verify().findings == [], "operation \(count)")
        #expect(try Self.sum(database) == expected)
        try database.close()
      }
    }
  }

  /// Damages the page that the newest head names as its record.
  private static func breakMap(_ bytes: [UInt8]) throws -> [UInt8] {
    var bytes = bytes
    // The head's reference to its record, as in the file format.
    let reference = bytes.withUnsafeBytes {
      PageReference(loadingFrom: $0.baseAddress! + 4096 + 88)
    }
    bytes[reference.byteOffset + 8] ^= 1
    return bytes
  }
}
