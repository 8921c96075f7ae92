import CambiumCore
import Foundation
import SimulatedCluster
import Synchronization
import TestSupport
import Testing

@testable import CambiumCluster

/// The space that a store takes in a cluster while rows change again and again.
@Suite struct ClusterSpaceTests {
  @Test func `few of many small commits move pages, and blocks of which little is needed go`()
    throws
  {
    let objects = HeldObjects(SimulatedCluster())
    let blockWrites = Mutex<Set<Version>>([])
    let version = Mutex<Version>(0)
    objects.hold { request in
      if case .write(let name, _, _) = request, name.hasPrefix("b.") {
        blockWrites.withLock { _ = $0.insert(version.withLock { $0 }) }
      }
      return false
    }
    var options = ClusterOptions()
    options.blockByteCount = 256 << 10
    options.collectionSeconds = 0.01
    let database = try Database(store: try ClusterStore(objects, options: options))
    var generator = SeededGenerator(seed: 7)
    try database.fillNumbers(using: &generator)
    blockWrites.withLock { $0 = [] }

    func change() throws {
      let transaction = try database.beginWrite()
      version.withLock { $0 += 1 }
      let key = Int64.random(in: 0..<100_000, using: &generator)
      let table = try #require(try transaction.editTable("table"))
      try table.update(
        key: key, column: 1, value: .int(.random(in: .min ... .max, using: &generator)))
      _ = try transaction.commit(durability: .full)
    }
    let commitCount = 1500
    for _ in 0..<commitCount { try change() }
    let movedCount = blockWrites.withLock { $0.count }
    #expect(movedCount > 0 && movedCount * 4 < commitCount)

    // What nobody needs is removed in the background, a little later.
    func takesLittle() throws -> Bool {
      let statistics = try database.statistics()
      let live =
        statistics.totalByteCount - statistics.freeByteCount - statistics.pendingByteCount
      return statistics.totalByteCount < 4 * live
    }
    for _ in 0..<600 where try !takesLittle() {
      Thread.sleep(forTimeInterval: 0.05)
      try change()
    }
    #expect(try takesLittle())
    #expect(try database.verify().findings.isEmpty)
    try database.close()
  }

  // MARK: What others need for a while

  /// Commits a page of a mebibyte, or of a few bytes, in the place of what was there.
  private func commit(_ store: ClusterStore, byteCount: Int) throws(StoreError) {
    let writer = try store.beginWrite()
    let bytes = [UInt8](repeating: 7, count: byteCount)
    let extent = try writer.allocate(byteCount: bytes.count)
    try writer.write(bytes.span, to: extent)
    let reference = PageReference(
      checksum: Checksum.hash(bytes.span), extent: extent, kind: .overflow, born: writer.version)
    if !writer.base.root.isEmpty { writer.free(writer.base.root.reference) }
    _ = try writer.publish(
      root: TreeRoot(reference: reference, height: 1, kind: .key, rowCount: 1), durability: .full,
      metadata: [])
  }

  @Test func `commits of many pages keep no more than a few blocks, also between small ones`()
    throws
  {
    let cluster = SimulatedCluster()
    let time = TimeByHand()
    let store = try ClusterStore(
      InstantObjects(cluster), options: ClusterOptions(), lanes: ClusterLanes(all: time.lane))
    for _ in 0..<40 {
      try commit(store, byteCount: 64)
      try commit(store, byteCount: 1 << 20)
      time.pass(milliseconds: 1100)
    }
    // Blocks have 4 MiB, and the log is far from its end.
    #expect(blockCount(cluster) <= 3)
    let pin = try store.pin()
    let page = try store.read(pin.head.root.reference, at: pin)
    #expect(page.withBytes { Checksum.hash($0) } == pin.head.root.reference.checksum)
    try store.close()
    let again = try ClusterStore(InstantObjects(cluster))
    try commit(again, byteCount: 64)
    #expect(try again.audit().pin.head.version == 81)
    try again.close()
  }

  private func blockOptions() -> ClusterOptions {
    var options = ClusterOptions.small()
    (options.blockByteCount, options.inlineByteCount, options.logByteCount) = (4096, 0, 512)
    return options
  }

  /// Commits one page of a block.
  private func commit(_ store: ClusterStore) throws(StoreError) {
    try commit(store, byteCount: 4096)
  }

  /// Lets time pass, in which locks are renewed before they end.
  private func pass(_ time: TimeByHand, seconds: Int) {
    for _ in 0..<2 * seconds { time.pass(milliseconds: 500) }
  }

  private func blockCount(_ cluster: SimulatedCluster) -> Int {
    cluster.names.count { $0.hasPrefix("b.") }
  }

  @Test func `what another machine has pinned goes when it is let go, also when nobody commits`()
    throws
  {
    let cluster = SimulatedCluster()
    let (own, others) = (TimeByHand(), TimeByHand())
    let store = try ClusterStore(
      InstantObjects(cluster), options: blockOptions(), lanes: ClusterLanes(all: own.lane))
    try commit(store)
    let reader = try ClusterStore(
      InstantObjects(cluster), options: blockOptions(), lanes: ClusterLanes(all: others.lane))
    var pin: Pin? = try reader.pin()
    for _ in 0..<20 { try commit(store) }
    let count = blockCount(cluster)
    own.pass(milliseconds: 100)
    #expect(blockCount(cluster) == count && count >= 20)
    pass(own, seconds: 20)
    #expect(blockCount(cluster) == count)
    #expect(pin?.head.version == 1)
    pin = nil
    try reader.refresh()
    // It tells the others what it needs.
    pass(others, seconds: 10)
    pass(own, seconds: 20)
    // What the log still carries is not looked at.
    #expect(blockCount(cluster) < 10)
    try store.close()
    try reader.close()
  }

  @Test func `what a machine that is gone has left is removed by a later owner, not only the next`()
    throws
  {
    let cluster = SimulatedCluster()
    let gone = HeldObjects(cluster)
    var options = blockOptions()
    options.writerLeaseSeconds = 1
    options.readTimeoutSeconds = 0.2
    // Each commit writes down which blocks there are.
    options.logByteCount = 1
    let first = try ClusterStore(
      gone, options: options, lanes: ClusterLanes(all: BackgroundLane(byHand: .system)))
    try commit(first)
    let recordCount = cluster.names.count { $0.hasPrefix("s.") }
    // What it writes down arrives, its swap of the root does not, and it is gone.
    gone.hold { if case .write = $0 { false } else { true } }
    #expect(throws: StoreError.self) { try commit(first) }
    #expect(cluster.names.count { $0.hasPrefix("s.") } > recordCount)
    // The next one is quick, and does not clean up.
    let second = try ClusterStore(
      InstantObjects(cluster), options: options, lanes: ClusterLanes(all: TimeByHand().lane))
    try commit(second)
    try second.close()
    let time = TimeByHand()
    let third = try ClusterStore(
      InstantObjects(cluster), options: options, lanes: ClusterLanes(all: time.lane))
    try commit(third)
    pass(time, seconds: 1)
    let records = Set(cluster.names.compactMap { third.names.spaceRecord($0) })
    let header = third.state.withLock { $0.header }
    #expect(records == Set(header.spaceRecords))
    try third.close()
    try? first.close()
  }
}
