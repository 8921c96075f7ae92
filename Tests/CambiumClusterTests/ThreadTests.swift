import CambiumCore
import Dispatch
import Foundation
import SimulatedCluster
import Synchronization
import TestSupport
import Testing

@testable import CambiumCluster

/// Several threads of one process over one store.
@Suite struct ClusterThreadTests {
  /// A small log, which begins anew with almost every swap.
  private func open(_ cluster: SimulatedCluster) throws(StoreError) -> ClusterStore {
    var options = ClusterOptions()
    options.inlineByteCount = 4 << 10
    options.logByteCount = 1 << 10
    options.blockByteCount = 16 << 10
    options.collectionSeconds = 0.001
    return try ClusterStore(InstantObjects(cluster), options: options)
  }

  @Test func `a version that was published is readable at once, while others are sent`() throws {
    let cluster = SimulatedCluster()
    let store = try open(cluster)
    let failures = Mutex<[String]>([])
    let last = Atomic<UInt64>(0)
    let ended = DispatchGroup()
    for thread in 0..<4 as Range<UInt64> {
      ended.enter()
      Thread {
        var generator = SimulationGenerator(seed: thread)
        for _ in 0..<300 {
          let number = last.wrappingAdd(1, ordering: .relaxed).newValue
          do throws(StoreError) {
            let writer = try store.beginWrite()
            let base = try store.pin()
            var tree = try HistoryTree.read(base, store)
            let root = try tree.change(
              commit: number, isLarge: false, old: base.head.root, writer, &generator)
            let pin = try writer.publish(root: root, durability: .relaxed, metadata: [])
            let read = try HistoryTree.read(pin, store)
            if read.commits.last != number { failures.withLock { $0.append("another version") } }
            if number.isMultiple(of: 3) { try store.makeDurable(pin.head.version) }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
        ended.leave()
      }.start()
    }
    ended.wait()
    #expect(failures.withLock { $0 } == [])
    let pin = try store.pin()
    let tree = try HistoryTree.read(pin, store)
    #expect(Set(tree.commits).count == 1200)
    #expect(try store.check(reachable: tree.extents) == [])
    try store.close()
    let again = try open(cluster)
    #expect(try HistoryTree.read(again.pin(), again).commits == tree.commits)
    try again.close()
  }

  @Test func `who waits for a commit that is given up is told so, whoever has tried to send it`()
    throws
  {
    for round in 0..<20 {
      let cluster = SimulatedCluster()
      let objects = HeldObjects(cluster)
      var options = ClusterOptions()
      options.inlineByteCount = 64
      options.pollSeconds = 1000
      let store = try ClusterStore(objects, options: options)
      let isSending = DispatchSemaphore(value: 0)
      let mayGoOn = DispatchSemaphore(value: 0)
      let isHeld = Atomic(true)
      objects.hold { request in
        if case .write = request, isHeld.exchange(false, ordering: .relaxed) {
          isSending.signal()
          mayGoOn.wait()
          cluster.setFull(true)
        }
        return false
      }
      let ended = DispatchGroup()
      let failures = Atomic(0)
      func run(_ body: @escaping @Sendable () throws -> Void) {
        ended.enter()
        Thread {
          do { try body() } catch { failures.add(1, ordering: .relaxed) }
          ended.leave()
        }.start()
      }
      run {
        let writer = try store.beginWrite()
        var tree = try HistoryTree.read(try store.pin(), store)
        var generator = SimulationGenerator(seed: UInt64(round))
        let root = try tree.change(
          commit: 1, isLarge: true, old: writer.base.root, writer, &generator)
        _ = try writer.publish(root: root, durability: .full, metadata: [])
      }
      isSending.wait()
      for _ in 0..<3 { run { try store.sync() } }
      // They have come to wait, or come later.
      usleep(useconds_t(round * 300))
      mayGoOn.signal()
      ended.wait()
      #expect(failures.load(ordering: .relaxed) >= 1)
      cluster.setFull(false)
      try store.close()
    }
  }
}
