import CambiumCore
import SimulatedCluster
import Testing
@testable import CambiumCluster
@Suite struct TmpTests {
  @Test func `tmp`() throws {
    let objects = InstantObjects(SimulatedCluster())
    let store = try ClusterStore(objects)
    let database = try Database(store: store)
    let t = try database.beginWrite()
    let table = try t.createTable("class/Row", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "a"), ColumnDescriptor(type: .int, isNullable: false, name: "b")])
    for key in 0..<Int64(300_000) { _ = try table.insert(key: key, values: [(1, .int(key)), (2, .int(key &* 7919))]) }
    _ = try t.commit(durability: .full)
    let clock = ContinuousClock()
    for round in 0..<8 {
      let before = objects.requestCount
      var begun: Duration = .zero, edited: Duration = .zero
      let d = try clock.measure {
        let start = clock.now
        let t = try database.beginWrite()
        let table = try #require(try t.editTable("class/Row"))
        begun = clock.now - start
        for i in 0..<(round < 4 ? 2000 : 1) { _ = try table.update(key: Int64(i) * 31 + Int64(round) * 7919, column: 2, value: .int(7)) }
        edited = clock.now - start
        _ = try t.commit(durability: round % 2 == 0 ? .full : .relaxed)
      }
      let mid = objects.requestCount
      try store.sync()
      print("round", round, d, begun, edited, mid - before, objects.requestCount - before, try store.statistics().totalByteCount)
    }
  }
}
