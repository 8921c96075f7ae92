import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumStoreKit

/// One writer at a time, and nobody is forgotten.
struct WriterQueueWhiteBoxTests {
  /// What several threads note, each in its turn.
  private final class Course: Sendable {
    let queue: WriterQueue
    let turns = Mutex<[Int]>([])
    let clock: Clock

    final class Clock: Sendable { let now = Atomic<Int64>(0) }

    init() {
      let clock = Clock()
      self.clock = clock
      queue = WriterQueue(clock: MonotonicClock { clock.now.load(ordering: .relaxed) })
    }

    /// Takes a turn for `index` on a thread of its own, which sleeps when this returns.
    func sleeper(_ index: Int) -> DispatchSemaphore {
      let done = DispatchSemaphore(value: 0)
      let sleeping = queue.sleeperCount.load(ordering: .sequentiallyConsistent)
      Thread {
        self.queue.acquire()
        self.turns.withLock { $0.append(index) }
        self.queue.release()
        done.signal()
      }.start()
      while queue.sleeperCount.load(ordering: .sequentiallyConsistent) == sleeping { sched_yield() }
      return done
    }
  }

  @Test func `who sleeps is called in the order of coming`() {
    let course = Course()
    course.queue.acquire()
    let done = (0..<20).map { course.sleeper($0) }
    #expect(course.queue.waiterCount == 20)
    course.queue.release()
    for thread in done { thread.wait() }
    #expect(course.turns.withLock { $0 } == Array(0..<20))
    #expect(course.queue.waiterCount == 0)
  }

  @Test func `after a long turn nobody goes before who sleeps`() {
    for _ in 0..<200 {
      let course = Course()
      course.queue.acquire()
      let done = course.sleeper(1)
      course.clock.now.add(2_000_000, ordering: .relaxed)
      course.queue.release()
      course.queue.acquire()
      course.turns.withLock { $0.append(2) }
      course.queue.release()
      done.wait()
      #expect(course.turns.withLock { $0 } == [1, 2])
    }
  }

  @Test func `who sleeps has its turn beside one who writes without a pause`() {
    let course = Course()
    course.queue.acquire()
    let done = (0..<4).map { course.sleeper($0) }
    repeat {
      course.queue.release()
      course.queue.acquire()
    } while course.turns.withLock { $0.count } < 4
    course.queue.release()
    for thread in done { thread.wait() }
    #expect(course.turns.withLock { $0 } == Array(0..<4))
  }

  @Test(arguments: [2, 5, 40])
  func `one at a time has the turn, and all have theirs`(threadCount: Int) {
    final class Shared: @unchecked Sendable {
      // Unchecked: it is what the queue is to protect.
      var count = 0
      var isInside = false
      var violations = 0
    }
    let (course, shared) = (Course(), Shared())
    let queue = course.queue
    let turnCount = 4000 / threadCount
    let done = DispatchGroup()
    for index in 0..<threadCount {
      done.enter()
      Thread {
        var random = SeededGenerator(seed: UInt64(index))
        for _ in 0..<turnCount {
          queue.acquire()
          if shared.isInside { shared.violations += 1 }
          shared.isInside = true
          shared.count += 1
          switch Int.random(in: 0..<100, using: &random) {
          case 0: course.clock.now.add(2_000_000, ordering: .relaxed)
          case 1..<5: sched_yield()
          default: break
          }
          shared.isInside = false
          queue.release()
          if Int.random(in: 0..<50, using: &random) == 0 { sched_yield() }
        }
        done.leave()
      }.start()
    }
    done.wait()
    #expect(shared.violations == 0)
    #expect(shared.count == threadCount * turnCount)
    #expect(queue.waiterCount == 0 && queue.sleeperCount.load(ordering: .relaxed) == 0)
    let isWatched = queue.isWatched.load(ordering: .relaxed)
    #expect(!isWatched)
  }

  @Test func `a turn may end on another thread than it began`() {
    let queue = WriterQueue()
    for _ in 0..<200 {
      queue.acquire()
      let left = DispatchSemaphore(value: 0)
      Thread {
        queue.release()
        left.signal()
      }.start()
      queue.acquire()
      queue.release()
      left.wait()
    }
    #expect(queue.waiterCount == 0)
  }
}
