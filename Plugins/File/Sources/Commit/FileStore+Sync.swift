import CambiumCore

/// Making things durable. All of it runs under the slots' lock.
extension FileStore {
  /// Makes everything published so far durable; returns at once when it is, or for a reader.
  ///
  /// Where small commits lie in memory it waits for the writer lock, and so must not be called by who holds it.
  /// A failed sync poisons the store: what was published stays readable, and writes are refused
  /// until the file is opened again.
  public func sync() throws(StoreError) {
    if options.isReadOnly {
      try withOpenState { _ throws(StoreError) in }
      return
    }
    try ensureWritable()
    try storeLogged(waits: true)
    try withSlots { () throws(StoreError) in
      // Nothing is written once the file may be somebody else's.
      try ensureWritable()
      try syncNewest()
    }
  }

  /// Runs `body` while nobody else writes slots, with what the slots hold and what is durable.
  func withSlots<Value>(
    _ body: () throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try slotsLock.withLock { _ throws(StoreError) in
      _ = try lockSharedSlots(waits: true)
      defer { unlockSharedSlots() }
      try followSlots()
      try endForeignHead()
      return try body()
    }
  }

  /// The same where nobody is at the slots; false, with nothing done, where a sync is running, for
  /// example.
  func withSlotsIfFree(_ body: () throws(StoreError) -> Void) throws(StoreError) -> Bool {
    try slotsLock.withLockIfAvailable { _ throws(StoreError) in
      guard try lockSharedSlots(waits: false) else { return false }
      defer { unlockSharedSlots() }
      try followSlots()
      try endForeignHead()
      try body()
      return true
    } ?? false
  }

  /// The file whose byte keeps other processes from the slots; nil where there are none.
  private var slotsFile: PosixDevice? { writerLock == nil ? nil : device as? PosixDevice }

  /// Keeps other processes from the slots; false if one is at them and `waits` is false.
  private func lockSharedSlots(waits: Bool) throws(StoreError) -> Bool {
    let code =
      slotsFile?.lock(byte: SharedLayout.DataByte.slots, .exclusive, waits: waits) ?? 0
    if code == PosixFiles.wouldBlock, !waits { return false }
    guard code == 0 else {
      throw StoreError(DeviceError(operation: "lock", code: code), path: path)
    }
    return true
  }

  private func unlockSharedSlots() {
    _ = slotsFile?.lock(byte: SharedLayout.DataByte.slots, .unlocked)
  }

  /// Reads the slots again if another process has written them.
  private func followSlots() throws(StoreError) {
    let word = memory.durableWord
    if state.withLock({ $0.seenSlots == word }) { return }
    let slots = try FileOpening.readSlots(device, identity: sector, path: path)
    let mark = memory.durableMark
    state.withLock { state in
      state.slots = slots
      state.seenSlots = word
      if let mark { state.mark = mark }
    }
  }

  /// Says what is durable, here and to all.
  func publish(_ mark: DurableMark, _ state: inout FileState) {
    memory.publish(mark)
    state.mark = mark
    state.seenSlots = memory.durableWord
  }

  /// Writes `head` into the slot that does not hold the last known durable head.
  ///
  /// From here on the slot's content on the medium is unknown until a sync succeeds, so that any
  /// failure poisons the store; `holdsWriterLock` says that this is part of a write.
  func writeSlot(
    _ slot: Int, _ head: HeadSector, holdsWriterLock: Bool = false
  ) throws(StoreError) {
    announceHead(holdsWriterLock: holdsWriterLock)
    let offset = FileLayout.headOffsets[slot]
    var block = head.stored(in: sector, at: HeadSector.place(atByte: offset))
    block += [UInt8](repeating: 0, count: FileLayout.blockByteCount - block.count)
    do throws(DeviceError) {
      try device.write(block, at: offset)
    } catch {
      poison()
      throw StoreError(error, path: path)
    }
    state.withLock { state in
      state.slots[slot] = head
      state.hasWritten = true
    }
  }

  /// Syncs the device; a failure poisons the store.
  ///
  /// Two of them never run at a time: the system tells of an error in writing back once for each open file
  /// (`fsync(2)`), so that either could hear of one that concerns both.
  func syncDevice() throws(StoreError) {
    let start = DatabaseEvents.now
    let isSure = memory.syncState != .unsure
    if isSure { memory.syncState = .running }
    do throws(DeviceError) {
      try device.sync()
    } catch {
      poison()
      throw StoreError(error, path: path)
    }
    if isSure { memory.syncState = .sure }
    DatabaseEvents.tell(since: start, path) { .synced(nanoseconds: $0) }
  }

  /// Writes `head` to the free slot and syncs it; it must be durable already.
  ///
  /// Afterwards that slot holds the last known durable head.
  func settle(_ head: HeadSector) throws(StoreError) {
    var head = head
    let mark = state.withLock { $0.mark }
    let slot = 1 - mark.slot
    head.sequence = mark.sequence + 1
    head.durable = head.head.version
    head.isSettled = true
    try writeSlot(slot, head)
    try syncDevice()
    var settled = DurableMark(inSlot: slot, head)
    if mark.log?.base == head.head.version { settled.log = mark.log }
    state.withLock { publish(settled, &$0) }
  }

  /// Makes the newest version durable, in two steps: its pages, then a settled head.
  func syncNewest() throws(StoreError) {
    try settleRecovered()
    guard let work = try holdNewestUnlessDurable() else { return }
    try makeDurable(work)
  }

  /// Makes a held version durable, and lets it go.
  ///
  /// Where somebody has died over a sync, all that was written since the durable version is written again first.
  func makeDurable(_ work: Unsynced) throws(StoreError) {
    defer { unpin(work.heldVersion) }
    if memory.syncState == .unsure {
      try writeAgain(since: state.withLock { $0.mark.version }, upTo: work.head)
    }
    try syncDevice()
    try settle(work.head)
    memory.addUnsynced(-work.byteCount)
  }

  /// A version of the file that is to become durable.
  struct Unsynced {
    var head: HeadSector
    /// The version that is pinned for it.
    var heldVersion: Version
    /// How many bytes wait for a sync.
    var byteCount: Int
  }

  /// Pins the newest version, unless it is durable, and tells how many bytes wait for a sync.
  ///
  /// It is held until it is the durable one, so that no writer frees what it sees.
  func holdNewestUnlessDurable() throws(StoreError) -> Unsynced? {
    try state.withLock { state throws(StoreError) in
      if state.isPoisoned || memory.condition == .poisoned { throw .poisoned(path: path) }
      try followLiveHead(&state)
      while state.mark.version != state.newest.head.version {
        // The file's version is what becomes durable, whatever form the newest one has by then.
        if state.pins.hold(state.newest.head, whileLive: state.seenLive) {
          return Unsynced(
            head: state.newest, heldVersion: state.newest.head.version,
            byteCount: memory.unsyncedByteCount)
        }
        try followLiveHead(&state)
      }
      return nil
    }
  }

  // MARK: Relaxed commits

  /// Sees to it that what relaxed commits have written becomes durable soon: after a delay, or at once
  /// when it is much.
  func scheduleSync() {
    let isMuch = memory.unsyncedByteCount >= options.relaxedByteCount
    // Most commits come while one is due already, which sees what they have published.
    if !isMuch, isSyncDue.load(ordering: .sequentiallyConsistent) { return }
    isSyncDue.store(true, ordering: .sequentiallyConsistent)
    let due = isMuch ? .min : background.now + options.relaxedDelayNanoseconds
    let isScheduled = background.syncing.schedule(at: due) { [weak self] now in
      self?.syncInBackground(now: now)
    }
    if isScheduled { return }
    isSyncDue.store(false, ordering: .sequentiallyConsistent)
    if isForked { return }
    // Not where this is the end of just that.
    try? storeUnlessStoring()
    try? withSlots { () throws(StoreError) in
      try ensureWritable()
      try syncNewest()
    }
  }

  /// Syncs, unless somebody is about to; when to look again, if there may be more to sync then.
  ///
  /// An error poisons the store, and the next write says so.
  private func syncInBackground(now: Int64) -> Int64? {
    // Before it is looked what there is to sync: who publishes more from now on asks anew.
    isSyncDue.store(false, ordering: .sequentiallyConsistent)
    var delay = options.relaxedDelayNanoseconds
    let isDurable = isNewestDurable
    // Who has left them, and made them durable by the log of the file, may be gone.
    if isDurable, memory.live(sector)?.isLogged ?? false { scheduleSettling() }
    // Who waits for the medium sees to it sooner.
    if !isDurable, !group.isBusy {
      // While somebody writes, or others wait to, it is tried again soon; what cannot be stored, a while later: the
      // next commit that stores pages says why.
      do throws(StoreError) { try storeUnlessStoring() } catch { delay *= 64 }
      try? withSlots { () throws(StoreError) in
        if !state.withLock({ $0.isClosed }) { try syncNewest() }
      }
    }
    let isDone = state.withLock { state in
      state.isClosed || state.isPoisoned || memory.condition == .poisoned
    }
    return isDone || isNewestDurable ? nil : now + delay
  }

  // MARK: Closing

  /// Syncs what is published, refuses all further calls and lets go of the file.
  ///
  /// Pages of pins that are still alive stay readable, and the file stays locked until the last of
  /// them and the running write have ended. When syncing fails that is thrown, and the store is
  /// closed all the same; so is `StoreError.inUse(path:holder:)` when somebody reads the file who may not write
  /// the lock file, and keeps small relaxed commits from getting into it. Closing twice is allowed.
  public func close() throws(StoreError) {
    if isForked { return }
    var failure: StoreError?
    // Who writes just now, or wants to, sees to it after that.
    do throws(StoreError) {
      if try !storeIfFree() { try writerLock?.checkForReader() }
    } catch { failure = error }
    try letGo(after: failure)
  }

  /// Closes the store, and then throws `failure` if there is one.
  func letGo(after failure: StoreError? = nil) throws(StoreError) {
    if isForked { return }
    let wasClosed = writing.withLock { _ in
      state.withLock { state in
        let wasClosed = state.isClosed
        state.isClosed = true
        isClosed.store(true, ordering: .releasing)
        return wasClosed
      }
    }
    if wasClosed { return }
    background.cancel()
    commits.raise()
    defer {
      let hasWriter = state.withLock { state in
        state.isFinished = true
        if !state.hasWriter { state.isHandingOver = true }
        return state.hasWriter
      }
      if !hasWriter { handOver() }
      finished.raise()
    }
    guard !options.isReadOnly, memory.condition != .poisoned, !state.withLock({ $0.isPoisoned })
    else { return }
    // While others may still come: the medium may take long.
    if state.withLock({ $0.hasWritten }) {
      try withSlots { () throws(StoreError) in
        // What lies in memory while somebody writes others may wait for.
        for _ in 0..<8 {
          try syncNewest()
          if try storeLoggedInLog() { break }
        }
      }
    }
    let isAlone = becomeAlone()
    let (hasWritten, isClean) = state.withLock { state in
      // What is known may be old: somebody else may have written and died.
      let isKnown =
        memory.words == SharedMemory.Words(live: state.seenLive, durable: state.seenSlots)
      return (state.hasWritten, state.isClean && isKnown && memory.headWriter == nil)
    }
    guard hasWritten || isAlone && !isClean && memory.condition == .clean else {
      if let failure { throw failure }
      return
    }
    try withSlots { () throws(StoreError) in
      try syncNewest()
      guard isAlone else { return }
      // Both slots, so that damage to one of them loses nothing.
      while !state.withLock({ $0.isClean }) { try settle(state.withLock { $0.newest }) }
      // What lies in memory has its room there.
      if !(memory.live(sector)?.isLogged ?? false) {
        try cutSlack()
        SharedLog(memory: memory).cut()
      }
    }
    if let failure { throw failure }
  }

  /// Whether there are no other users; then nobody else can come in either until this one leaves.
  func becomeAlone() -> Bool {
    guard let device = device as? PosixDevice, writerLock != nil else { return true }
    return device.lock(byte: SharedLayout.DataByte.life, .exclusive) == 0
  }

  /// Has stored what was left in memory while the store was being closed, and lets go of the file unless it is read.
  func handOver() {
    writerLock?.giveBack()
    storeThroughAnother()
    let isLast = state.withLock { state in
      state.isHandingOver = false
      return state.takeLeave()
    }
    if isLast { leave() }
  }

  /// Lets go of the file.
  func leave() {
    ProcessTable(memory: memory).leave(slot)
    if let device = device as? PosixDevice {
      _ = device.lock(byte: SharedLayout.DataByte.life, .unlocked)
      _ = device.lock(byte: SharedLayout.DataByte.writer, .unlocked)
    }
  }

  /// Cuts off most of what the file has grown ahead of need.
  ///
  /// Nothing held lies there: the newest version ends at the high-water mark, and so do pinned
  /// ones.
  private func cutSlack() throws(StoreError) {
    let (used, total) = books.withLock { books in
      state.withLock { (heldByteCount(books, $0), $0.fileByteCount) }
    }
    guard let used else { return }
    let block = FileLayout.blockByteCount
    let left = max(options.largestSlackByteCount / 4, spareByteCount(in: used))
    // What the log in memory had its room in goes, too.
    guard
      total - used > (usesLog.load(ordering: .relaxed) ? 2 * left : options.largestSlackByteCount)
    else { return }
    let target = used + left / block * block
    try device.perform(path: path) { device throws(DeviceError) in
      try device.truncate(to: target)
    }
    state.withLock { $0.fileByteCount = target }
  }

  /// How much of the file is reached by versions that somebody holds; nil while that is not known.
  private func heldByteCount(
    _ books: borrowing FileBooks, _ state: borrowing FileState
  ) -> Int? {
    if books.version == state.newest.head.version {
      return max(state.newest.byteCount, books.space.totalByteCount)
    }
    return state.pins.isEmpty ? state.newest.byteCount : nil
  }
}

extension FileState {
  /// Whether it is time to let go of the file, which is so once: the store is closed, and nobody
  /// reads or writes any more.
  ///
  /// Others would write over what a pin still sees.
  mutating func takeLeave() -> Bool {
    guard isFinished, !hasLeft, !hasWriter, !isHandingOver, pins.isEmpty else { return false }
    hasLeft = true
    return true
  }
}
