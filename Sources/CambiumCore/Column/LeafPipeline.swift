import CPlatform
import Synchronization

/// Packs and writes filled leaves on a thread of its own, while rows are appended to the next ones.
///
/// When its thread is late and not at work, the editor's side does the work itself. Where all processors
/// are busy the thread may lose its own in the middle of a leaf, and the editor waits for it: once that
/// has happened, no pipeline is begun in this process for a while (``Processors``). In a child that
/// was forked there is no thread, and nobody knows what it was doing: what is under way has failed there.
///
/// Belongs to one editor. Whoever hands leaves over and whoever writes them take turns at everything
/// else that they share: while leaves are under way, the editor's side touches neither them nor the
/// writer of the transaction, and ``finish()`` waits until none is. Leaves under way hang in their
/// branches as dirty ones, which get their references when they are collected.
///
/// Unchecked: jobs change hands with a release and an acquire of the counters.
final class LeafPipeline: @unchecked Sendable {
  /// A leaf on its way.
  struct Job {
    let builder: LeafBuilder
    /// The leaf that stands for it in the branch.
    let leaf: DirtyLeaf
    let reference: PageReference
    /// Where it hangs.
    let branch: DirtyBranch
    let slot: Int
    /// The written page; nil when the leaf came out too large or could not be written.
    var stored: PageReference?
    /// The packed size.
    var byteCount = 0
    var error: StoreError?
  }

  /// How many leaves may be under way.
  static let capacity = 64
  /// So many leaves are handed over at once: to wake a thread takes longer than to pack a leaf.
  private static let batchCount: UInt32 = 8

  /// What one needs to pack and write; the lock decides who does.
  private struct Bench {
    let scratch = PackScratch()
    let page: DirtyPage
    var doneCount: UInt32 = 0
  }

  private let bench: Mutex<Bench>
  private unowned let editor: ColumnTreeEditor
  private let context: WriteContext
  private let options: ColumnTreeOptions
  private let jobs: UnsafeMutablePointer<Job?>
  /// Counts of jobs handed over and of those done, and whether the thread is to end; futex words.
  private let words: UnsafeMutablePointer<Atomic<UInt32>>
  private var submitted: UnsafeMutablePointer<Atomic<UInt32>> { words }
  private var completed: UnsafeMutablePointer<Atomic<UInt32>> { words + 1 }
  private var stopping: UnsafeMutablePointer<Atomic<UInt32>> { words + 2 }
  // Of the editor's side: jobs taken in, and jobs collected; and whether it collects just now.
  private var queuedCount: UInt32 = 0
  private var collectedCount: UInt32 = 0
  private var isCollecting = false
  private let forkCount = cambium_fork_count()
  private var isForked: Bool { forkCount != cambium_fork_count() }

  /// Starts the thread; nil when the system has no more of them.
  init?(editor: ColumnTreeEditor) {
    self.editor = editor
    context = editor.context
    options = editor.options
    bench = Mutex(
      Bench(page: DirtyPage(kind: .columnLeaf, capacity: editor.options.leafByteCount * 5 / 4)))
    jobs = .allocate(capacity: Self.capacity)
    jobs.initialize(repeating: nil, count: Self.capacity)
    words = .allocate(capacity: 3)
    for word in 0..<3 { (words + word).initialize(to: Atomic(0)) }
    let body: @convention(c) (UnsafeMutableRawPointer?) -> Void = { raw in
      guard let raw else { return }
      Unmanaged<LeafPipeline>.fromOpaque(raw).takeRetainedValue().work()
    }
    let thread = Unmanaged.passRetained(self)
    if cambium_start_thread(body, thread.toOpaque()) != 0 {
      thread.release()
      return nil
    }
  }

  deinit {
    jobs.deinitialize(count: Self.capacity)
    jobs.deallocate()
    words.deinitialize(count: 3)
    words.deallocate()
  }

  // MARK: The editor's side

  /// How many leaves are under way.
  var count: Int { Int(queuedCount &- collectedCount) }

  /// Takes a leaf; waits while too many are under way.
  func submit(_ job: Job) {
    collect()
    if count == Self.capacity {
      hand()
      wait(for: queuedCount &- UInt32(Self.capacity) &+ Self.batchCount)
      collect()
    }
    jobs[Int(queuedCount) % Self.capacity] = job
    queuedCount &+= 1
    if queuedCount % Self.batchCount == 0 { hand() }
  }

  /// Waits until no leaf is under way, and puts all of them where they belong.
  func finish() {
    // What collecting does may come here again.
    if count == 0 || isCollecting { return }
    hand()
    wait(for: queuedCount)
    collect()
  }

  /// Ends the thread, after all leaves under way, which are not collected any more.
  func stop() {
    if count > 0 {
      hand()
      wait(for: queuedCount)
    }
    if context.pipeline === self { context.pipeline = nil }
    stopping.pointee.store(1, ordering: .releasing)
    // A changed count is what the thread waits for.
    submitted.pointee.store(queuedCount &+ 1, ordering: .releasing)
    wake(submitted)
  }

  /// Lets the thread see all jobs.
  private func hand() {
    submitted.pointee.store(queuedCount, ordering: .releasing)
    wake(submitted)
  }

  /// Returns when `target` jobs are done, some of them here, or will never be.
  private func wait(for target: UInt32) {
    while !isForked {
      let done = completed.pointee.load(ordering: .acquiring)
      if Int32(bitPattern: done &- target) >= 0 { return }
      if bench.withLockIfAvailable({ process(&$0) }) != nil { continue }
      let start = ContinuousClock.now
      sleep(completed, while: done)
      if start.duration(to: .now) > Processors.patience { Processors.noteStarved() }
    }
  }

  /// Puts the leaves that are done where they belong, and those that will never be.
  private func collect() {
    let failure = isForked ? StoreError.forked(path: context.path) : nil
    let done = failure == nil ? completed.pointee.load(ordering: .acquiring) : queuedCount
    isCollecting = true
    while collectedCount != done {
      let place = Int(collectedCount) % Self.capacity
      if var job = jobs[place] {
        if let failure { (job.stored, job.error) = (nil, failure) }
        editor.collect(job)
      }
      jobs[place] = nil
      collectedCount &+= 1
    }
    isCollecting = false
  }

  // MARK: The thread's side

  private func work() {
    while true {
      let target = submitted.pointee.load(ordering: .acquiring)
      if stopping.pointee.load(ordering: .acquiring) != 0 { return }
      let done = bench.withLock { bench in
        process(&bench)
        return bench.doneCount
      }
      if done == target {
        wake(completed)
        sleep(submitted, while: target)
      } else if done % Self.batchCount == 0 {
        wake(completed)
      }
    }
  }

  // MARK: Either side's

  /// Packs and writes the next leaf, if there is one.
  private func process(_ bench: inout Bench) {
    if bench.doneCount == submitted.pointee.load(ordering: .acquiring) { return }
    if stopping.pointee.load(ordering: .acquiring) != 0 { return }
    let place = Int(bench.doneCount) % Self.capacity
    if var job = jobs[place] {
      process(&job, bench.page, bench.scratch)
      jobs[place] = job
    }
    bench.doneCount &+= 1
    completed.pointee.store(bench.doneCount, ordering: .releasing)
  }

  private func process(_ job: inout Job, _ page: DirtyPage, _ scratch: PackScratch) {
    LeafPacker(job.builder, scratch: scratch).pack(into: page)
    job.byteCount = page.byteCount
    if options.isOver(byteCount: page.byteCount, rowCount: job.builder.rowCount) { return }
    do throws(StoreError) { job.stored = try context.put(page) } catch { job.error = error }
  }

  // MARK: Sleeping

  private func sleep(_ word: UnsafeMutablePointer<Atomic<UInt32>>, while value: UInt32) {
    _ = cambium_futex_wait(
      UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self), value, -1, false)
  }

  private func wake(_ word: UnsafeMutablePointer<Atomic<UInt32>>) {
    cambium_futex_wake(UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self), false)
  }
}
