import CambiumCore
import Foundation
import SimulatedCluster
import TestSupport
import Testing

@testable import CambiumCluster

/// Pages of a cluster in a file on a local disk.
@Suite struct LocalCacheTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private var path: String { folder.file("pages") }
  private let uuid = (UInt64(1), UInt64(2))

  /// A file of `segmentCount` segments that is written at once.
  private func cache(_ segmentCount: Int = 2, uuid: (UInt64, UInt64)? = nil) throws -> LocalCache? {
    let lane = BackgroundLane(byHand: MonotonicClock.system, runsAtOnce: { true })
    return try LocalCache(
      path: path, byteCount: segmentCount * LocalCacheFormat.segmentByteCount,
      uuid: uuid ?? self.uuid, lane: lane)
  }

  private func page(_ number: Int, byteCount: Int = 8192) -> (PageReference, PageBuffer) {
    var generator = SeededGenerator(seed: UInt64(number))
    let buffer = PageBuffer(copying: generator.bytes(count: byteCount).span)
    let extent = Extent(
      address: UInt64(number) << 10, unitCount: UInt64(byteCount / Extent.unitByteCount))
    let sum = buffer.withBytes { Checksum.hash($0) }
    return (PageReference(checksum: sum, extent: extent, kind: .columnLeaf, born: 1), buffer)
  }

  private func insert(_ numbers: Range<Int>, _ cache: LocalCache) {
    for number in numbers {
      let (reference, buffer) = page(number)
      cache.insert(buffer.page, at: reference.location)
    }
  }

  /// Which of the pages are there; those that are must be right.
  private func found(_ numbers: Range<Int>, _ cache: LocalCache) -> [Int] {
    numbers.filter { number in
      let (reference, buffer) = page(number)
      guard let found = cache.page(reference) else { return false }
      #expect(found.withBytes { [UInt8](copying: $0) } == buffer.withBytes { [UInt8](copying: $0) })
      return true
    }
  }

  @Test func `what came last is there, within the size of the file, and after a restart`() throws {
    // Three times what two segments hold.
    let count = 3000
    let first = try #require(try cache())
    insert(0..<count, first)
    let kept = found(0..<count, first)
    #expect(kept.count > 500 && kept == Array(count - kept.count..<count))
    first.close()
    #expect(found(0..<count, first) == kept)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    let byteCount = try #require(attributes[.size] as? Int)
    #expect(byteCount <= LocalCacheFormat.offset(ofSegment: 2))
  }

  @Test func `pages of many short runs stay`() throws {
    for run in 0..<20 {
      let cache = try #require(try cache())
      #expect(found(0..<20, cache) == Array(0..<run))
      insert(run..<run + 1, cache)
      cache.close()
    }
    let smaller = try #require(try cache(2))
    #expect(found(0..<20, smaller) == Array(0..<20))
  }

  @Test func `a page is right or is not there, whatever becomes of the file`() throws {
    let first = try #require(try cache())
    insert(0..<60, first)
    first.close()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    var generator = SeededGenerator(seed: 5)
    var missed = 0
    // The header, the directory, and pages.
    let places =
      Array(stride(from: 8, to: 40, by: 3)) + Array(stride(from: 4096, to: 4096 + 1000, by: 17))
      + (0..<60).map { _ in Int.random(in: 4096 + 65536..<whole.count, using: &generator) }
    for place in places {
      var bytes = whole
      bytes[place] ^= UInt8.random(in: 1...255, using: &generator)
      try bytes.write(to: URL(fileURLWithPath: path))
      let cache = try #require(try cache())
      if found(0..<60, cache).count < 60 { missed += 1 }
      cache.close()
    }
    #expect(missed > places.count / 2)
    for end in stride(from: 0, to: whole.count, by: whole.count / 23) {
      try whole.prefix(end).write(to: URL(fileURLWithPath: path))
      let cache = try #require(try cache())
      _ = found(0..<60, cache)
      insert(100..<110, cache)
      #expect(found(100..<110, cache).count == 10)
      cache.close()
    }
  }

  @Test(arguments: ["A letter to a friend.", "x", String(repeating: "y", count: 9000)])
  func `a file of something else is refused, and left alone`(text: String) throws {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    #expect {
      _ = try cache()
    } throws: { error in
      guard case .notAStore(path, _)? = error as? StoreError else { return false }
      return true
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  /// As images of disks and of compact discs are, and files whose room was taken ahead of need.
  @Test(arguments: [4096, 32 << 10, 6 << 20])
  func `a file of something else that begins with zeros is refused, and left alone`(
    zeroCount: Int
  ) throws {
    let content = Data(count: zeroCount) + Data("CD001".utf8)
    try content.write(to: URL(fileURLWithPath: path))
    #expect {
      _ = try cache()
    } throws: { error in
      guard case .notAStore(path, _)? = error as? StoreError else { return false }
      return true
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
  }

  @Test(arguments: [3, 8, 4096])
  func `a file that lost its power before it had a header is begun anew`(count: Int) throws {
    try Data(count: count).write(to: URL(fileURLWithPath: path))
    let cache = try #require(try cache())
    insert(0..<5, cache)
    #expect(found(0..<5, cache).count == 5)
    cache.close()
  }

  @Test func `offsets that are not in a segment are damage, however large they are`() throws {
    for offset in [0, 65_535, 1 << 22, Int.max - 100, -1, -4096] {
      var directory = LocalCacheFormat.Directory(sequence: 1)
      directory.entries = [(location: 7 << 16 | 128, offset: 1 << 16)]
      #expect(LocalCacheFormat.Directory(directory.bytes)?.entries.count == 1)
      directory.entries = [(location: 7 << 16 | 128, offset: 1 << 16), (8 << 16 | 128, 0)]
      var bytes = directory.bytes
      withUnsafeBytes(of: UInt64(bitPattern: Int64(offset)).littleEndian) {
        bytes.replaceSubrange(56..<64, with: $0)
      }
      // Its checksum is right.
      let sum = Checksum.hash(bytes.span.extracting(32..<64)) ^ 1
      withUnsafeBytes(of: sum.littleEndian) { bytes.replaceSubrange(24..<32, with: $0) }
      #expect(LocalCacheFormat.Directory(bytes) == nil)
    }
  }

  @Test func `a file has one user, and pages of one store`() throws {
    let first = try #require(try cache())
    insert(0..<5, first)
    #expect(try cache() == nil)
    first.close()
    withExtendedLifetime(first) {}
  }

  @Test func `pages of another store are dropped`() throws {
    do {
      let first = try #require(try cache())
      insert(0..<5, first)
      first.close()
    }
    do {
      let other = try #require(try cache(uuid: (3, 4)))
      #expect(found(0..<5, other) == [])
      other.close()
    }
    #expect(found(0..<5, try #require(try cache())) == [])
  }

  @Test func `a path where no file can be is an error`() throws {
    var options = ClusterOptions()
    options.localCachePath = folder.file("missing/pages")
    let cluster = SimulatedCluster()
    #expect {
      _ = try ClusterStore(InstantObjects(cluster), options: options)
    } throws: { error in
      guard case .system(let operation, let path, _)? = error as? StoreError else { return false }
      return operation == "open" && path == options.localCachePath
    }
    // Nothing was left that would keep others out.
    options.localCachePath = nil
    try ClusterStore(InstantObjects(cluster), options: options).close()
  }

  @Test(arguments: [false, true])
  func `what was read once is read from the disk after a restart`(isSmall: Bool) throws {
    let cluster = SimulatedCluster()
    var options = isSmall ? ClusterOptions.small() : ClusterOptions()
    options.localCachePath = path
    // Nothing else reads.
    options.pollSeconds = 1000
    func open(_ objects: HeldObjects) throws -> Database {
      try Database(store: try ClusterStore(objects, options: options))
    }
    let writing = try open(HeldObjects(cluster))
    var generator = SeededGenerator(seed: 6)
    try writing.fillNumbers(using: &generator)
    try writing.close()
    /// How many reads of blocks a new process makes.
    func readCount(_ work: (Database) throws -> Void = Self.readAll) throws -> Int {
      let objects = HeldObjects(cluster)
      let database = try open(objects)
      try work(database)
      try database.close()
      return objects.readCount
    }
    let first = try readCount()
    let second = try readCount()
    #expect(first > 5 && second == 0)
    // Verification proves what the cluster has.
    let verification = try readCount { database in
      let report = try database.verify()
      #expect(report.findings.isEmpty)
    }
    #expect(verification >= first)
    try FileManager.default.removeItem(atPath: path)
    #expect(try readCount() == first)
  }

  private static func readAll(_ database: Database) throws {
    let snapshot = try database.snapshot()
    var cursor = try #require(try snapshot.table("table")).groups[0].leafCursor()
    var rowCount = 0
    var isValid = try cursor.first()
    while isValid {
      rowCount += cursor.leaf.rowCount
      isValid = try cursor.next()
    }
    #expect(rowCount == 100_000)
  }
}
