import CambiumCore
import CambiumFile
import Foundation
import Synchronization

/// How long it takes to begin and end a read beside a writer that lets an old version go.
struct PinCourse {
  let path: String
  let waitingCount: Int

  func run() throws -> [String] {
    var options = FileStoreOptions(access: .buffered)
    let device = try SparseDevice(path: path)
    options.device = { _ in device }
    let store = try FileStore(path: path, options: options)
    let extents = try PageWork.fill(store, byteCount: waitingCount * 4_096 + (8 << 20))
    let alone = try times(store) { Thread.sleep(forTimeInterval: 0.5) }
    var old: Pin? = try store.pin()
    try giveUp(store, extents)
    var duration = Duration.zero
    let beside = try times(store) {
      Thread.sleep(forTimeInterval: 0.2)
      old = nil
      duration = try ContinuousClock().measure {
        let writer = try store.beginWrite()
        _ = try writer.publish(root: .empty(.key), durability: .relaxed, metadata: [])
      }
      Thread.sleep(forTimeInterval: 0.2)
    }
    withExtendedLifetime(old) {}
    try store.close()
    return [
      "beginning and ending a read, ns at the median, the 99.9th percentile and at most",
      "    alone                    \(Self.text(alone))",
      "    while \(waitingCount) pages go   \(Self.text(beside))",
      String(format: "    the commit that frees them takes %.1f ms", duration / .milliseconds(1)),
    ]
  }

  private static func text(_ times: [Int64]) -> String {
    String(
      format: "%8d %8d %10d", Int(times[times.count / 2]), Int(times[times.count * 999 / 1000]),
      Int(times[times.count - 1]))
  }

  /// Gives up as many single blocks as are to wait, in some commits.
  private func giveUp(_ store: FileStore, _ extents: [Extent]) throws {
    var blocks = extents.lazy.flatMap { extent in
      (extent.address / 64 + 1)..<(extent.end / 64)
    }.makeIterator()
    for start in stride(from: 0, to: waitingCount, by: 50_000) {
      let writer = try store.beginWrite()
      for _ in start..<min(waitingCount, start + 50_000) {
        guard let block = blocks.next() else { break }
        let extent = Extent(address: block * 64, unitCount: 64)
        writer.free(PageWork.reference(extent, born: 1))
      }
      _ = try writer.publish(root: .empty(.key), durability: .relaxed, metadata: [])
    }
  }

  /// How long pins take while `body` runs, sorted.
  private func times(_ store: FileStore, while body: () throws -> Void) throws -> [Int64] {
    let reader = Reader()
    Thread {
      var times: [Int64] = []
      times.reserveCapacity(1 << 22)
      while !reader.isOver.load(ordering: .relaxed) {
        let start = DispatchTime.now().uptimeNanoseconds
        do { withExtendedLifetime(try? store.pin()) {} }
        times.append(Int64(DispatchTime.now().uptimeNanoseconds - start))
      }
      reader.times.withLock { $0 = times }
      reader.ended.signal()
    }.start()
    let result = Result { try body() }
    reader.isOver.store(true, ordering: .relaxed)
    reader.ended.wait()
    try result.get()
    return reader.times.withLock { $0.sorted() }
  }

  private final class Reader: Sendable {
    let isOver = Atomic(false)
    let times = Mutex<[Int64]>([])
    let ended = DispatchSemaphore(value: 0)
  }
}
