import CPlatform
import Synchronization

/// Packs and writes filled leaves in the background, while rows are appended to the next ones.
///
/// When the lane is late and not at work, the editor's side does the work itself. Where all processors
/// are busy the lane's thread may lose its own in the middle of a leaf, and the editor waits for it: once
/// that has happened, no pipeline is begun in this process for a while (``Processors``). In a child that
/// was forked there is no thread, and nobody knows what it was doing: what is under way has failed there.
///
/// Belongs to one editor. Whoever hands leaves over and whoever writes them take turns at everything
/// else that they share: while leaves are under way, the editor's side touches neither them nor the
/// writer of the transaction, and ``finish()`` waits until none is. Leaves under way hang in their
/// branches as dirty ones, which get their references when they are collected.
///
/// Unchecked: jobs change hands with a release and an acquire of the counters.
@safe final class LeafPipeline: @unchecked Sendable {
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
  /// How many jobs were handed over.
  private let submitted = Atomic<UInt32>(0)
  /// How many are done, and the signal that it rose.
  private let completed = Atomic<UInt32>(0)
  private let progress = CommitSignal()
  private let background: BackgroundJob
  // Of the editor's side: jobs taken in, and jobs collected; and whether it collects just now.
  private var queuedCount: UInt32 = 0
  private var collectedCount: UInt32 = 0
  private var isCollecting = false
  private let forkCount = cambium_fork_count()
  private var isForked: Bool { forkCount != cambium_fork_count() }

  init(editor: ColumnTreeEditor) {
    self.editor = editor
    context = editor.context
    options = editor.options
    background = BackgroundJob(context.lane)
    bench = Mutex(
      Bench(page: DirtyPage(kind: .columnLeaf, capacity: editor.options.leafByteCount * 5 / 4)))
    unsafe jobs = .allocate(capacity: Self.capacity)
    unsafe jobs.initialize(repeating: nil, count: Self.capacity)
  }

  deinit {
    unsafe jobs.deinitialize(count: Self.capacity)
    unsafe jobs.deallocate()
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
    unsafe jobs[Int(queuedCount) % Self.capacity] = job
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

  /// Ends it after all leaves under way, which are not collected any more.
  func stop() {
    if count > 0 {
      hand()
      wait(for: queuedCount)
    }
    if context.pipeline === self { context.pipeline = nil }
  }

  /// Lets the lane see all jobs.
  ///
  /// Where it has no thread they are done when their places are needed.
  private func hand() {
    submitted.store(queuedCount, ordering: .releasing)
    background.schedule { [self] _ in
      work()
      return nil
    }
  }

  /// Returns when `target` jobs are done, some of them here, or will never be.
  private func wait(for target: UInt32) {
    while !isForked {
      let done = completed.load(ordering: .acquiring)
      if Int32(bitPattern: done &- target) >= 0 { return }
      if bench.withLockIfAvailable({ process(&$0) }) != nil { continue }
      let start = context.lane.clock.now
      progress.wait(timeoutNanoseconds: .max) { completed.load(ordering: .acquiring) != done }
      if context.lane.clock.now - start > Processors.starvedWait { Processors.noteStarved() }
    }
  }

  /// Puts the leaves that are done where they belong, and those that will never be.
  private func collect() {
    let failure = isForked ? StoreError.forked(path: context.path) : nil
    let done = failure == nil ? completed.load(ordering: .acquiring) : queuedCount
    isCollecting = true
    while collectedCount != done {
      let place = Int(collectedCount) % Self.capacity
      if var job = unsafe jobs[place] {
        if let failure { (job.stored, job.error) = (nil, failure) }
        editor.collect(job)
      }
      unsafe jobs[place] = nil
      collectedCount &+= 1
    }
    isCollecting = false
  }

  // MARK: The lane's side

  private func work() {
    while true {
      let isDone = bench.withLock { process(&$0) }
      if isDone || completed.load(ordering: .relaxed) % Self.batchCount == 0 { progress.raise() }
      if isDone { return }
    }
  }

  // MARK: Either side's

  /// Packs and writes the next leaf, if there is one; whether none is left.
  @discardableResult
  private func process(_ bench: inout Bench) -> Bool {
    if bench.doneCount == submitted.load(ordering: .acquiring) { return true }
    let place = Int(bench.doneCount) % Self.capacity
    if var job = unsafe jobs[place] {
      process(&job, bench.page, bench.scratch)
      unsafe jobs[place] = job
    }
    bench.doneCount &+= 1
    completed.store(bench.doneCount, ordering: .releasing)
    return false
  }

  private func process(_ job: inout Job, _ page: DirtyPage, _ scratch: PackScratch) {
    LeafPacker(job.builder, scratch: scratch).pack(into: page)
    job.byteCount = unsafe page.byteCount
    if unsafe options.isOver(byteCount: page.byteCount, rowCount: job.builder.rowCount) { return }
    do throws(StoreError) { job.stored = try context.put(page) } catch { job.error = error }
  }
}
