import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CambiumCore

/// Work that is cut into parts and done by several threads.
struct ParallelPartsWhiteBoxTests {
  private final class Counts: Sendable {
    let perPart = Mutex([Int: Int]())

    func add(_ part: Int) { perPart.withLock { $0[part, default: 0] += 1 } }
    var all: [Int: Int] { perPart.withLock { $0 } }
  }

  @Test(arguments: [1, 2, 3, 40])
  func `each part is done once`(count: Int) throws {
    for _ in 0..<200 {
      let counts = Counts()
      try ParallelParts.run(count) { counts.add($0) }
      #expect(counts.all == Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, 1) }))
    }
  }

  @Test func `what the first of the failed parts threw is thrown, and the others are done`() {
    let counts = Counts()
    #expect(throws: StoreError.exhausted(what: "part", limit: 3)) {
      try ParallelParts.run(8) { part throws(StoreError) in
        counts.add(part)
        if part == 3 || part == 6 { throw .exhausted(what: "part", limit: part) }
      }
    }
    #expect(counts.all.count == 8)
  }

  @Test func `nothing that the work holds is alive once it is done`() throws {
    for _ in 0..<300 {
      weak var held: Counts?
      try inScope {
        let counts = Counts()
        held = counts
        // Some threads come when nothing is left to do.
        try ParallelParts.run(4) { counts.add($0) }
      }
      #expect(held == nil)
    }
  }

  @inline(never) private func inScope(_ body: () throws -> Void) rethrows { try body() }

  @Test func `a thread that takes much longer than the caller has no processor`() throws {
    let before = Processors.starvedCount.load(ordering: .relaxed)
    let (begun, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let main = pthread_self()
    let late = Atomic(false)
    let looks = Atomic(0)
    // No time passes while the caller does its part, and a second after that until the other is done.
    try ParallelParts.run(
      2,
      clock: MonotonicClock {
        let time: Int64 = late.load(ordering: .acquiring) ? 1_000_000_000 : 0
        if looks.add(1, ordering: .relaxed).newValue == 2 { isDone.signal() }
        return time
      }
    ) { _ in
      if pthread_equal(pthread_self(), main) != 0 {
        begun.wait()
      } else {
        begun.signal()
        isDone.wait()
        late.store(true, ordering: .releasing)
      }
    }
    #expect(looks.load(ordering: .relaxed) == 3)
    #expect(Processors.starvedCount.load(ordering: .relaxed) != before)
    #expect(ParallelParts.idleCount == 1 || Processors.areIdle)
  }

  @Test func `with one processor to use no call starts a thread`() async {
    await #expect(processExitsWith: .success) {
      #expect(Processors.limit == 4)
      Processors.limit = 1
      #expect(!Processors.areIdle && ParallelParts.idleCount == 1)
      for limit in [1, 3] {
        Processors.limit = limit
        #expect(ParallelParts.idleCount == min(limit, Processors.count) || !Processors.areIdle)
      }
    }
  }

  @Test func `a call needs a processor`() async {
    await #expect(processExitsWith: .failure) { Processors.limit = 0 }
  }
}
