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
}
