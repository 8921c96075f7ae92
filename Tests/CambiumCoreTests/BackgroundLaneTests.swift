import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore

/// Jobs that run in the background, by the lane's thread and by hand.
struct BackgroundLaneTests {
  /// A lane by hand, the time that it believes in, and what its jobs have noted.
  private final class Bench: Sendable {
    private final class Source: Sendable { let time = Atomic<Int64>(0) }

    private let source = Source()
    private let notes = Mutex<[String]>([])
    let lane: BackgroundLane

    init(runsAtOnce: @escaping @Sendable () -> Bool = { false }) {
      let source = source
      lane = BackgroundLane(
        byHand: MonotonicClock { source.time.load(ordering: .relaxed) }, runsAtOnce: runsAtOnce)
    }

    func pass(to time: Int64) {
      source.time.store(time, ordering: .relaxed)
      lane.runDue()
    }

    func note(_ text: String) { notes.withLock { $0.append(text) } }
    var noted: [String] { notes.withLock { $0 } }
  }

  @Test func `jobs run when they are due, in the order of their times and of coming`() {
    let bench = Bench()
    for (name, due) in [("c", 20), ("a", 10), ("b", 10), ("now", .min)] as [(String, Int64)] {
      BackgroundJob(bench.lane).schedule(at: due) { _ in
        bench.note(name)
        return nil
      }
    }
    #expect(bench.noted == [])
    bench.pass(to: 9)
    #expect(bench.noted == ["now"])
    bench.pass(to: 20)
    #expect(bench.noted == ["now", "a", "b", "c"])
    bench.pass(to: 1_000)
    #expect(bench.noted.count == 4)
  }

  @Test func `a job that is due and is cancelled by one before it is not called`() {
    let bench = Bench()
    let cancelled = BackgroundJob(bench.lane)
    BackgroundJob(bench.lane).schedule(at: 5) { _ in
      bench.note("first")
      cancelled.cancel()
      return nil
    }
    cancelled.schedule(at: 5) { now in
      bench.note("cancelled")
      return now + 10
    }
    for time in [5, 15, 25] as [Int64] { bench.pass(to: time) }
    #expect(bench.noted == ["first"])
    // It may be asked for again.
    cancelled.schedule(at: 30) { _ in
      bench.note("anew")
      return nil
    }
    bench.pass(to: 30)
    #expect(bench.noted == ["first", "anew"])
  }

  @Test
  func `a job that is cancelled during a call is not called again, unless it is asked for anew`() {
    let bench = Bench()
    let job = BackgroundJob(bench.lane)
    job.schedule { now in
      bench.note("call")
      job.cancel()
      return now + 1
    }
    bench.pass(to: 10)
    bench.pass(to: 20)
    #expect(bench.noted == ["call"])
    job.schedule(at: 30) { _ in
      job.cancel()
      job.schedule(at: 50) { _ in
        bench.note("anew")
        return nil
      }
      return 40
    }
    for time in [30, 40, 50, 60] as [Int64] { bench.pass(to: time) }
    #expect(bench.noted == ["call", "anew"])
  }

  @Test func `a job waits once, for the earlier time`() {
    let bench = Bench()
    let job = BackgroundJob(bench.lane)
    for (name, due) in [("first", 30), ("second", 10), ("third", 20)] as [(String, Int64)] {
      job.schedule(at: due) { _ in
        bench.note(name)
        return nil
      }
    }
    bench.pass(to: 9)
    #expect(bench.noted == [])
    bench.pass(to: 100)
    #expect(bench.noted == ["first"])
  }

  @Test func `a job comes back at the time that it names, and again when it is asked meanwhile`() {
    let bench = Bench()
    let job = BackgroundJob(bench.lane)
    job.schedule { now in
      bench.note("at \(now)")
      if now == 5 {
        job.schedule(at: 7) { _ in
          bench.note("another")
          return nil
        }
      }
      return now < 20 ? now + 10 : nil
    }
    bench.pass(to: 5)
    bench.pass(to: 6)
    #expect(bench.noted == ["at 5"])
    bench.pass(to: 7)
    #expect(bench.noted == ["at 5", "another"])
    bench.pass(to: 100)
    #expect(bench.noted.count == 2)
  }

  @Test func `what was cancelled is not called, and lets go of what it holds`() {
    let bench = Bench()
    let job = BackgroundJob(bench.lane)
    weak var kept: Bench?
    do {
      let other = Bench()
      kept = other
      job.schedule(at: 5) { _ in
        other.note("called")
        return nil
      }
    }
    #expect(kept != nil)
    job.cancel()
    #expect(kept == nil)
    bench.pass(to: 10)
    #expect(bench.noted == [])
  }

  @Test func `who drives a lane by hand says which due job runs at once`() {
    let answers = Mutex([true, false])
    let bench = Bench { answers.withLock { $0.removeFirst() } }
    for name in ["quick", "late"] {
      BackgroundJob(bench.lane).schedule { _ in
        bench.note(name)
        return nil
      }
    }
    #expect(bench.noted == ["quick"])
    // Nobody is asked of what is not due.
    BackgroundJob(bench.lane).schedule(at: 1) { _ in nil }
    bench.lane.runDue()
    #expect(bench.noted == ["quick", "late"])
  }

  @Test func `a lane's thread calls when the time has come, again and again, and comes back`() {
    let lane = BackgroundLane()
    let job = BackgroundJob(lane)
    for _ in 0..<2 {
      let calls = Mutex(0)
      let isDone = DispatchSemaphore(value: 0)
      let begun = job.now
      #expect(
        job.schedule(at: begun + 3_000_000) { now in
          let count = calls.withLock { calls in
            calls += 1
            return calls
          }
          if count < 3 { return now + 1_000_000 }
          isDone.signal()
          return nil
        })
      isDone.wait()
      #expect(calls.withLock { $0 } == 3)
      #expect(job.now - begun >= 5_000_000)
    }
  }

  @Test func `an earlier job wakes the thread that waits for a later one`() {
    let lane = BackgroundLane()
    let (far, near) = (BackgroundJob(lane), BackgroundJob(lane))
    far.schedule(at: far.now + 3_600_000_000_000) { _ in nil }
    let isDone = DispatchSemaphore(value: 0)
    near.schedule { _ in
      isDone.signal()
      return nil
    }
    #expect(isDone.wait(timeout: .now() + .seconds(60)) == .success)
    far.cancel()
  }

  @Test func `a job that hangs holds up its own lane alone`() {
    let (gate, hangs, isDone) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let (first, second) = (BackgroundLane(), BackgroundLane())
    BackgroundJob(first).schedule { _ in
      hangs.signal()
      gate.wait()
      return nil
    }
    hangs.wait()
    BackgroundJob(second).schedule { _ in
      isDone.signal()
      return nil
    }
    #expect(isDone.wait(timeout: .now() + .seconds(60)) == .success)
    gate.signal()
  }

  @Test(
    .disabled(
      if: ProcessInfo.processInfo.environment["CAMBIUM_SANITIZER"] == "thread",
      "The thread sanitizer ends a child that starts threads."))
  func `a child of a fork has threads of its own for lanes of its own`() async {
    await #expect(processExitsWith: .success) {
      @Sendable func runs(_ lane: BackgroundLane) -> Bool {
        let isDone = DispatchSemaphore(value: 0)
        let isScheduled = BackgroundJob(lane).schedule { _ in
          isDone.signal()
          return nil
        }
        if isScheduled { isDone.wait() }
        return isScheduled
      }
      let lane = BackgroundLane()
      #expect(runs(lane))
      // A child of a process that is making the metadata of a type would wait for it for ever. Threads that
      // have lived once find what they need.
      while LanePool.shared.threadCount > 0 { usleep(1_000) }
      #expect(runs(lane))
      // The threads of the parent are there, but not in the child. Swift's mutexes know a thread by a number
      // that it keeps from its first lock on, and that is another one in a child: a thread forks that has had none.
      let status = Mutex<Int32>(-1)
      let hasEnded = DispatchSemaphore(value: 0)
      Thread {
        let result = ForkedChild.status {
          if runs(lane) { return 1 }
          return runs(BackgroundLane()) ? 0 : 2
        }
        status.withLock { $0 = result }
        hasEnded.signal()
      }.start()
      hasEnded.wait()
      #expect(status.withLock { $0 } == 0)
      #expect(runs(lane))
    }
  }

  @Test func `a lane whose jobs were taken back is nobody's business`() {
    let pool = LanePool()
    let lane = BackgroundLane(pool)
    let (near, far) = (BackgroundJob(lane), BackgroundJob(lane))
    for job in [near, far] { job.schedule(at: job.now + 3_600_000_000_000) { _ in nil } }
    near.cancel()
    #expect(pool.laneCount == 1)
    far.cancel()
    #expect(pool.laneCount == 0)
  }

  @Test func `a thousand lanes share a few threads`() {
    let pool = LanePool()
    let lanes = (0..<1_000).map { _ in BackgroundLane(pool) }
    let count = Atomic(0)
    let isDone = DispatchSemaphore(value: 0)
    let most = Mutex(0)
    for (number, lane) in lanes.enumerated() {
      let job = BackgroundJob(lane)
      let isScheduled = job.schedule(at: job.now + Int64(number % 7) * 1_000_000) { _ in
        most.withLock { $0 = max($0, pool.threadCount) }
        if count.add(1, ordering: .sequentiallyConsistent).newValue == 1_000 { isDone.signal() }
        return nil
      }
      #expect(isScheduled)
    }
    isDone.wait()
    // Seven, and one more for each 50 ms in which none of them gets a processor.
    #expect(most.withLock { $0 } <= 100)
  }

  @Test func `jobs that wait for jobs of other lanes do not wait for ever`() {
    let pool = LanePool()
    let lanes = (0..<40).map { _ in BackgroundLane(pool) }
    let isDone = DispatchSemaphore(value: 0)
    let opens = DispatchSemaphore(value: 0)
    for lane in lanes.dropLast() {
      BackgroundJob(lane).schedule { _ in
        opens.wait()
        isDone.signal()
        return nil
      }
    }
    BackgroundJob(lanes[39]).schedule { _ in
      for _ in 0..<39 { opens.signal() }
      return nil
    }
    for _ in 0..<39 { isDone.wait() }
  }

  @Test func `of many threads that ask for one job none is forgotten`() {
    let lane = BackgroundLane()
    let job = BackgroundJob(lane)
    let asked = Atomic(0)
    let seen = Atomic(0)
    let ended = DispatchSemaphore(value: 0)
    for _ in 0..<4 {
      Thread {
        for _ in 0..<5_000 {
          asked.add(1, ordering: .sequentiallyConsistent)
          job.schedule { _ in
            seen.store(
              asked.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
            return nil
          }
        }
        ended.signal()
      }.start()
    }
    for _ in 0..<4 { ended.wait() }
    // Behind the last one in the lane.
    let isDone = DispatchSemaphore(value: 0)
    BackgroundJob(lane).schedule { _ in
      isDone.signal()
      return nil
    }
    isDone.wait()
    #expect(seen.load(ordering: .sequentiallyConsistent) == 20_000)
  }
}
