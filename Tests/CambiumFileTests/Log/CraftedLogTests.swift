import CambiumCore
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Logs with records that no commit has made, opened, stored and written on: nothing of them stops the process.
struct CraftedLogTests {
  /// The version that the file has without the log.
  private static func storedVersion(_ image: [UInt8], _ fixture: LogFixture) throws -> Version {
    try FileStore(
      path: "simulated", options: fixture.simulated(SimulatedDevice(image), SharedMemory())
    ).newestHead().version
  }

  /// The records of a killed process's log, with what its small commits were given.
  private static func records(
    _ memory: SharedMemory, after stored: Version
  ) throws -> [(metadata: [UInt8], record: [UInt8])] {
    let log = SharedLog(memory: memory)
    var (records, end): ([(metadata: [UInt8], record: [UInt8])], Int) = ([], 0)
    while let found = log.record(
      of: stored + Version(records.count) + 1, after: stored, at: end)
    {
      records.append(try #require(SharedLog.parts(found.record)))
      end = found.end
    }
    return records
  }

  /// Opens what a killed process has left with `records` in its log, reads and stores it, and goes on writing.
  ///
  /// Returns what was read, which is what the file has where the log is refused, and whether the changes came out as
  /// they should, which a lie of a record may prevent. What is found damaged is thrown.
  private func store(
    _ records: [(metadata: [UInt8], record: [UInt8])], after stored: Version, _ image: [UInt8],
    _ memory: SharedMemory, _ fixture: LogFixture, _ random: inout SeededGenerator
  ) throws -> (read: DatabaseContent, isRight: Bool) {
    let memory = LogFixture.copy(of: memory)
    let log = SharedLog(memory: memory)
    var (end, version) = (0, stored)
    for (metadata, record) in records {
      version += 1
      let bytes = SharedLog.record(
        of: version, after: stored, metadata: metadata, byteLimit: record.count
      ) { $0.append(copying: record) }
      end = try #require(log.put(bytes, at: end))
    }
    memory.publish(logged: version)
    let database = try Database(
      store: FileStore(
        path: "simulated", options: fixture.simulated(SimulatedDevice(image), memory)))
    defer { try? database.close() }
    var content = try DatabaseContent(of: database.snapshot())
    let read = content
    // As it is, and then with a change.
    try database.sync()
    guard try DatabaseContent.hasColumns(database.snapshot()) else { return (read, false) }
    _ = try fixture.change(database, &content, &random)
    // Leaves are split and joined.
    let filling = try database.beginWrite()
    try content.fill(100..<160, filling)
    _ = try filling.commit()
    _ = try fixture.change(database, &content, &random, .full, count: 30)
    let thinning = try database.beginWrite()
    try content.thinOut(thinning)
    _ = try thinning.commit()
    return (read, try DatabaseContent(of: database.snapshot()) == content)
  }

  @Test(arguments: Exhaustive.seeds(20, few: 3))
  func `a record in which anything was changed is refused or stored`(seed: UInt64) throws {
    let fixture = try LogFixture()
    let left = try fixture.killed()
    let stored = try Self.storedVersion(left.image, fixture)
    let records = try Self.records(left.memory, after: stored)
    #expect(records.count >= 5)
    var random = SeededGenerator(seed: seed)
    let honest = try store(records, after: stored, left.image, left.memory, fixture, &random)
    #expect(honest.read == left.content && honest.isRight)
    var (refusedCount, storedCount) = (0, 0)
    for _ in 0..<200 {
      var records = records
      let index = Int.random(in: records.indices, using: &random)
      RecordMutation.apply(to: &records[index].record, &random)
      do {
        let found = try store(records, after: stored, left.image, left.memory, fixture, &random)
        if found.read == left.stored { refusedCount += 1 } else { storedCount += 1 }
      } catch let error as StoreError {
        guard case .damaged = error else { throw error }
        refusedCount += 1
      }
    }
    #expect(refusedCount > 20 && storedCount > 0, "\(refusedCount), \(storedCount)")
  }

  @Test func `metadata that is longer than any is refused`() throws {
    let fixture = try LogFixture()
    let left = try fixture.killed()
    let stored = try Self.storedVersion(left.image, fixture)
    var random = SeededGenerator(seed: 1)
    // Apart from that it is right: nothing is left.
    let record = TreeRoot.empty(.key).storedBytes + [UInt8](repeating: 0, count: 8)
    for count in [StoreLimits.metadataByteCount + 1, SharedLayout.logByteCount - 100] {
      let crafted = [(metadata: [UInt8](repeating: 7, count: count), record: record)]
      let found = try store(crafted, after: stored, left.image, left.memory, fixture, &random)
      #expect(found.read == left.stored && found.isRight)
    }
  }

  // MARK: Branches

  /// A record whose branches have no room for another child, and how many there are.
  private func withoutRoom(_ record: [UInt8]) throws -> (record: [UInt8], branchCount: Int) {
    var reader = ByteReader(record)
    var writer = ByteWriter()
    var branchCount = 0
    func get<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
      let value = reader.get(type)
      return try #require(value)
    }
    func get(count: Int) throws -> [UInt8] {
      let bytes = reader.get(count: count)
      return try #require(bytes)
    }
    writer.put(try get(count: TreeRoot.byteCount))
    let changeCount = try get(UInt32.self)
    writer.put(changeCount)
    writer.put(try get(UInt32.self))
    for _ in 0..<changeCount {
      writer.put(try get(UInt32.self))
      let kind = try get(UInt8.self)
      let form = try get(UInt8.self)
      _ = try get(UInt16.self)
      var pageByteCount = try get(UInt32.self)
      let count = try get(UInt32.self)
      var data = try get(count: Int(count))
      if kind == PageKind.columnBranch.rawValue, form == ResidenceRecord.Form.whole.rawValue {
        branchCount += 1
        let buffer = PageBuffer(copying: data.span)
        let branch = DirtyBranch(restoring: buffer.page)
        let full = DirtyBranch(level: branch.level, isPositional: false, room: branch.count)
        full.setChildren(branch.children[...])
        data = unsafe Array(UnsafeRawBufferPointer(start: full.bytes, count: full.byteCount))
        pageByteCount = UInt32(data.count)
      }
      writer.put(kind)
      writer.put(form)
      writer.putZeros(2)
      writer.put(pageByteCount)
      writer.put(UInt32(data.count))
      writer.put(data)
    }
    writer.put(reader.rest())
    return (writer.bytes, branchCount)
  }

  @Test func `branches without room are written on`() throws {
    let fixture = try LogFixture()
    let left = try fixture.killed()
    let stored = try Self.storedVersion(left.image, fixture)
    let records = try Self.records(left.memory, after: stored)
    var random = SeededGenerator(seed: 1)
    // What follows patches branches with room.
    for (index, (metadata, record)) in records.enumerated() {
      let (full, branchCount) = try withoutRoom(record)
      guard branchCount > 0 else { continue }
      let crafted = records[..<index] + [(metadata, full)]
      let found = try store(
        Array(crafted), after: stored, left.image, left.memory, fixture, &random)
      #expect(found.isRight)
      return
    }
    Issue.record("No record has a branch.")
  }
}
