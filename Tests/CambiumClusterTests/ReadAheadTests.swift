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
    let filling = try database.beginWrite()
    let table = try filling.createTable(
      "table", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
    var generator = SeededGenerator(seed: 8)
    for key in 0..<Int64(100_000) {
      _ = try table.insert(
        key: key, values: [(1, .int(.random(in: .min ... .max, using: &generator)))])
    }
    _ = try filling.commit(durability: .full)
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
}
