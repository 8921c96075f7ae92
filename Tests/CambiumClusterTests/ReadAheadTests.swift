import CambiumCore
import SimulatedCluster
import TestSupport
import Testing

@testable import CambiumCluster

/// Pages that are asked for before they are read.
@Suite struct ClusterReadAheadTests {
  private let cluster = SimulatedCluster()
  private let options: ClusterOptions

  init() {
    var options = ClusterOptions.small()
    // Nothing is looked for in between.
    options.pollSeconds = 1000
    self.options = options
  }

  /// The stored pages of a table of many rows, in blocks so small that many pages cross the end of one.
  private func fill() throws -> [(PageReference, [UInt8])] {
    let database = try Database(store: ClusterStore(HeldObjects(cluster), options: options))
    var generator = SeededGenerator(seed: 8)
    try database.fillNumbers(using: &generator)
    var pages: [(PageReference, [UInt8])] = []
    try database.forEachStoredPage(of: database.snapshot(), unless: { _ in false }) {
      reference, bytes in pages.append((reference, unsafe Array(bytes)))
    }
    try database.close()
    let layout = BlockLayout(unitCount: UInt64(options.blockByteCount / Extent.unitByteCount))
    #expect(pages.count { layout.parts(of: $0.0.extent).count > 1 } > 5)
    return pages
  }

  @Test func `no page is waited for alone that was asked for ahead`() throws {
    let pages = try fill()
    let objects = HeldObjects(cluster)
    let store = try ClusterStore(objects, options: options)
    let pin = try store.pin()
    let references = pages.map(\.0)
    // A page that is named twice is read once.
    store.prefetch(references + references.prefix(3), at: pin)
    store.prefetch(references, at: pin)
    let readCount = objects.readCount
    #expect(readCount > 5 && readCount < pages.count)
    for (reference, bytes) in pages {
      #expect(try store.read(reference, at: pin).withBytes { [UInt8](copying: $0) } == bytes)
    }
    #expect(objects.readCount == readCount)
    try store.close()
  }

  @Test func `what was asked for ahead and did not come is read again`() throws {
    let pages = try fill()
    let objects = HeldObjects(cluster)
    let store = try ClusterStore(objects, options: options)
    let pin = try store.pin()
    // Every other block, so that of many pages one half comes.
    objects.hold { request in
      guard case .read(let name, _) = request else { return false }
      return name.utf8.last.map { $0 % 2 == 0 } ?? false
    }
    store.prefetch(pages.map(\.0), at: pin)
    objects.hold(nil)
    let readCount = objects.readCount
    for (reference, bytes) in pages {
      #expect(try store.read(reference, at: pin).withBytes { [UInt8](copying: $0) } == bytes)
    }
    #expect(objects.readCount > readCount)
    try store.close()
  }

  @Test func `a page of which one piece was forgotten is forgotten`() throws {
    let layout = BlockLayout(unitCount: 100)
    let arrivals = PageArrivals(byteLimit: 280 * Extent.unitByteCount)
    func page(_ address: UInt64) -> PageReference {
      PageReference(
        checksum: address, extent: Extent(address: address, unitCount: 60), kind: .columnLeaf,
        born: 1)
    }
    // In blocks 0 and 1; in block 5; in blocks 8 and 9.
    #expect(arrivals.expect([page(80)], layout).map(\.block) == [0, 1])
    #expect(arrivals.expect([page(500)], layout).map(\.block) == [5])
    #expect(arrivals.expect([page(880), page(880)], layout).map(\.block) == [8, 9])
    #expect(arrivals.expect([page(80)], layout).isEmpty)
    // 20, 40, 60, 20 and 40 units are on their way; with 120 more the first 20 go, and no others.
    #expect(arrivals.expect([page(1010), page(1180)], layout).map(\.block) == [10, 11, 12])
    #expect(arrivals.take(page(80).location) == nil)
    #expect(arrivals.expect([page(80)], layout).map(\.block) == [0, 1])
    let whole = try #require(arrivals.take(page(880).location))
    #expect(([whole.first] + whole.rest).map(\.read.block) == [8, 9])
    #expect(([whole.first] + whole.rest).map(\.byteCount) == [1280, 2560])
    #expect(arrivals.take(page(880).location) == nil)
    #expect(arrivals.take(page(1180).location)?.rest.count == 1)
  }
}
