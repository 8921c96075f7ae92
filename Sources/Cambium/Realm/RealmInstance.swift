import CPlatform
import CambiumCore
import Synchronization

/// The state behind all `Realm` values of one context: the version they see, the running
/// transaction, and the classes.
///
/// Belongs to its context. A frozen instance has none: nothing in it changes once it is made.
@safe @usableFromInline final class RealmInstance {
  // Exclusivity of what every access reads is not checked: the instance belongs to one context, and
  // frozen ones do not change.
  let coordinator: Coordinator
  let configuration: Realm.Configuration
  /// Where it may be used; nil for a frozen one, which may be used anywhere.
  let context: (any RealmContext)?
  /// Whether this is a frozen version, which belongs to no context.
  let isFrozen: Bool
  /// What its classes are, which it shares with others.
  let layout: SchemaLayout
  /// The layout of tables with which the classes were compared last, and how that came out.
  @exclusivity(unchecked) var comparedLayout: (generation: UInt64, obstacle: RLMError?)
  @exclusivity(unchecked) var classes: [ClassAccess] = []
  /// The class that was asked for last.
  @exclusivity(unchecked) var lastIndex = -1
  /// The headers of the classes, in the blocks in which they came.
  @exclusivity(unchecked) var headers: [UnsafeMutablePointer<AccessHeader>] = unsafe []
  /// The layout of tables of which the classes were met that the Realm was not opened with.
  var foreignGeneration: UInt64
  /// Held while a class of a frozen instance notes its table.
  let frozenTables = Mutex(())
  /// The version that is seen, in a transaction the one it began at; nil after `invalidate()` until the
  /// next access.
  @exclusivity(unchecked) private(set) var snapshot: Snapshot?
  /// Whether nothing was read yet of the version that is seen, or of any after `invalidate()`.
  @exclusivity(unchecked) private(set) var isUnread = false
  /// The running write transaction.
  @exclusivity(unchecked) private(set) var session: WriteSession?
  /// Whether commits elsewhere move this Realm on by themselves, once its context can be woken.
  ///
  /// May be asked and told from anywhere.
  let autorefresh = Atomic<Bool>(true)
  /// Asks evaluations to give up; nil where nobody does.
  let interruption: Interruption?
  /// Who is told of changes.
  let observers: InstanceObservers
  /// Writes that wait for their turn, or for the medium.
  let asyncWrites: AsyncWrites
  /// The control block of the thread on which nothing but the context runs, if there is one.
  @exclusivity(unchecked) private(set) var thread = AccessHeader.noThread
  /// The frozen instance of the version that is seen.
  var frozen = InstanceTable.Entry(nil)
  /// The one of which observers know.
  var observed = InstanceTable.Entry(nil)
  /// Names the instance, see ``InstanceTable``.
  let number = InstanceTable.newNumber()

  init(
    coordinator: Coordinator, configuration: Realm.Configuration, context: (any RealmContext)?,
    layout: SchemaLayout, snapshot: Snapshot, transaction: Transaction? = nil,
    interruption: Interruption? = nil
  ) {
    self.interruption = interruption
    self.coordinator = coordinator
    self.configuration = configuration
    self.context = context
    isFrozen = context == nil
    observers = context == nil ? .none : InstanceObservers()
    asyncWrites = context == nil ? .none : AsyncWrites()
    self.layout = layout
    unsafe comparedLayout = (layout.stored.layoutGeneration, nil)
    unsafe self.snapshot = snapshot
    foreignGeneration = layout.classSet.hasAnyValues ? layout.stored.layoutGeneration : 0
    append(layout.classes)
    InstanceTable.enter(self)
    unsafe session = transaction.map { WriteSession(realm: self, transaction: $0) }
    unsafe isUnread = !isFrozen
    if isFrozen {
      setThread(AccessHeader.anyThread)
    } else {
      setThread(context?.ownThread ?? AccessHeader.noThread)
      if context is ThreadContext { ThreadContext.insert(self) }
    }
  }

  deinit {
    InstanceTable.leave(number)
    if !isFrozen { coordinator.notifier.remove(number) }
    if let session = unsafe session {
      coordinator.noteWriter(nil)
      session.rollback()
    }
    // What is read goes before the database is closed: a pinned version would keep the file locked.
    unsafe (session, snapshot, classes) = (nil, nil, [])
    coordinator.release()
    unsafe headers.forEach { unsafe $0.deallocate() }
  }

  /// The classes.
  var classSet: ClassSet { layout.classSet }

  /// How they are stored.
  var stored: StoredSchema { layout.stored }

  // MARK: Confinement

  /// Whether the caller is in the Realm's context.
  var isCurrent: Bool { context?.isCurrent ?? true }

  /// Stops unless the caller is in the Realm's context.
  @inline(__always) func verify() {
    if unsafe thread == cambium_thread_pointer() || thread == AccessHeader.anyThread { return }
    verifySlowly()
  }

  private func verifySlowly() {
    guard isCurrent else { fatalError("Realm accessed from incorrect thread.") }
    // The main thread may come to a Realm that was opened on a thread that drained the main queue.
    if let own = context?.ownThread, unsafe own != thread { setThread(own) }
  }

  private func setThread(_ thread: UInt) {
    unsafe self.thread = thread
    for access in unsafe classes { unsafe access.header.pointee.thread = thread }
  }

  /// The context's thread is no more: nobody may pass for it.
  func threadHasEnded() { setThread(AccessHeader.noThread) }

  // MARK: Versions

  /// The version that is seen; 0 when none is.
  var version: Version { unsafe session?.transaction.version ?? snapshot?.version ?? 0 }

  /// What is read now: the transaction with its changes, or the version.
  ///
  /// Begins a new read after `invalidate()`. For what is rare; what is not asks the one or the other.
  var view: any ReadTransaction {
    if let session = unsafe session { return session.transaction }
    return currentSnapshot
  }

  /// The version that is seen, or the newest one if there was none.
  var currentSnapshot: Snapshot {
    if let snapshot = unsafe snapshot {
      if unsafe isUnread { unsafe isUnread = false }
      return snapshot
    }
    guard !isFrozen else {
      fatalError("Cannot read from a frozen Realm which has been invalidated.")
    }
    let newest = reading { () throws(StoreError) in
      let newest = try coordinator.database.snapshot()
      // There is no version left that could be read.
      if let obstacle = try obstacle(in: newest) { fatalError(obstacle.message) }
      return newest
    }
    advance(to: newest)
    return newest
  }

  /// Reads the pages of what is read now.
  var source: PageSource { unsafe session?.transaction.source ?? currentSnapshot.source }

  /// Whether no version is seen, because the Realm was invalidated.
  var isInvalidated: Bool { unsafe snapshot == nil && session == nil }

  /// Moves to `newest`.
  func advance(to newest: Snapshot) {
    if DatabaseEvents.isOn, let old = unsafe snapshot?.version, old != newest.version {
      DatabaseEvents.send(.refreshed(from: old, to: newest.version), configuration.path)
    }
    unsafe snapshot = newest
    unsafe isUnread = false
    moved()
  }

  /// Moves to the newest version; false when it was seen already, or when the classes do not fit it.
  func refresh() throws(StoreError) -> Bool {
    if unsafe isFrozen || session != nil || observers.isDelivering { return false }
    let newest = try coordinator.database.snapshot()
    let hasMoved = try move(to: newest)
    observers.deliver(self, hasMoved: hasMoved, includesInitial: false)
    return hasMoved
  }

  private func move(to newest: Snapshot) throws(StoreError) -> Bool {
    if let snapshot = unsafe snapshot, snapshot.version == newest.version { return false }
    if try obstacle(in: newest) != nil { return false }
    advance(to: newest)
    return true
  }

  /// Moves to where what was seen at `version` can be found again.
  ///
  /// A Realm of which nothing was read yet begins at `snapshot`, if that is kept and fits its classes;
  /// one that is older than `version` moves to the newest one.
  func catchUp(with version: Version, _ snapshot: Snapshot?) throws(StoreError) {
    if unsafe isFrozen || session != nil { return }
    if unsafe isUnread, let snapshot, try obstacle(in: snapshot) == nil {
      return advance(to: snapshot)
    }
    if currentSnapshot.version < version { _ = try refresh() }
  }

  /// Drops the version and every accessor's row; rolls a running transaction back.
  ///
  /// Does nothing while observers are being told.
  func invalidate() {
    if observers.isDelivering { return }
    stopEndInGroup()
    asyncWrites.end(self)
    if unsafe session != nil { cancelWrite() }
    observers.endSubjects(self)
    unsafe snapshot = nil
    unsafe isUnread = true
    unsafe invalidations &+= 1
    moved()
  }

  /// How often the Realm was invalidated: what was read before is gone for good.
  @exclusivity(unchecked) private(set) var invalidations: UInt64 = 0

  /// All rows may be elsewhere.
  func moved() {
    for access in unsafe classes { access.noteChange(.all) }
  }

  // MARK: Writing

  /// Begins a transaction; throws `.schemaMismatch`, and changes nothing, when the classes do not fit
  /// the newest version.
  func beginWrite() throws(RLMError) {
    let obstacle: RLMError?
    do throws(StoreError) { obstacle = try beginFittingWrite() } catch {
      throw RLMError(error, path: configuration.path)
    }
    if let obstacle { throw obstacle }
  }

  private func beginFittingWrite() throws(StoreError) -> RLMError? {
    try coordinator.database.checkActiveVersions(
      limit: configuration.maximumNumberOfActiveVersions.map { Int(clamping: $0) })
    if let transaction = asyncWrites.transactionForSynchronousWrite(self) {
      return try begin(transaction)
    }
    return try begin(try coordinator.database.beginWrite(expecting: configuration.durability))
  }

  /// Goes on in `transaction`, at the newest version; what keeps the Realm from that, when the transaction
  /// was rolled back.
  func begin(_ transaction: Transaction) throws(StoreError) -> RLMError? {
    let hasMoved = unsafe transaction.baseVersion != snapshot?.version
    if hasMoved {
      do throws(StoreError) {
        if let obstacle = try obstacle(in: transaction) {
          transaction.rollback()
          return obstacle
        }
        // The writer's lock keeps anyone else from committing meanwhile.
        unsafe snapshot = try coordinator.database.snapshot()
      } catch {
        transaction.rollback()
        throw error
      }
    }
    coordinator.noteWriter(context)
    unsafe session = WriteSession(realm: self, transaction: transaction)
    unsafe isUnread = false
    moved()
    observers.deliver(self, hasMoved: hasMoved, includesInitial: false)
    return nil
  }

  /// Commits, and waits until that is as durable as the configuration says; the observers of `skipping` are not
  /// told.
  ///
  /// Alone nobody sees the version before. Where others write at the same time it is published first, and shares a
  /// sync with theirs: when that fails, the version stands for readers, as that of an asynchronous write does.
  func commitWrite(skipping: [Observation] = []) throws(StoreError) {
    var isAwaited = false
    try commitWrite(
      skipping: skipping,
      publish: { transaction, metadata throws(StoreError) in
        isAwaited = configuration.durability == .full && transaction.isContended
        return isAwaited
          ? try transaction.commitAwaited(metadata: metadata)
          : try transaction.commit(durability: configuration.durability, metadata: metadata)
      },
      wait: { version throws(StoreError) in
        if isAwaited { try coordinator.database.makeDurable(version) }
      })
  }

  /// Commits by `publish`, and calls `wait` before anybody is told of it; the observers of `skipping` are not told.
  func commitWrite(
    skipping: [Observation] = [],
    publish: (Transaction, _ metadata: [UInt8]) throws(StoreError) -> Snapshot,
    wait: (Version) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) {
    guard let session = unsafe session else { return }
    // Before the lock is released: the next writer notes itself.
    coordinator.noteWriter(nil)
    let base = unsafe snapshot?.version ?? 0
    let newest: Snapshot
    do throws(StoreError) { newest = try session.commit(publish) } catch {
      returnToBase()
      throw error
    }
    unsafe self.session = nil
    advance(to: newest)
    var failure: StoreError?
    do throws(StoreError) { try wait(newest.version) } catch { failure = error }
    observers.didCommit(self, from: base, skipping: skipping)
    coordinator.notifier.didCommit(self)
    if let failure { throw failure }
  }

  func cancelWrite() {
    guard let session = unsafe session else { return }
    coordinator.noteWriter(nil)
    session.rollback()
    returnToBase()
  }

  /// Leaves a transaction that was undone: the version it began at is seen again, whatever others have
  /// committed since.
  ///
  /// What observers were to be told meanwhile, they are told now.
  private func returnToBase() {
    unsafe session = nil
    moved()
    if !observers.isEmpty { coordinator.notifier.wake(self) }
  }

  /// Ends the use of a transaction that a migration commits or rolls back, and of everything that was
  /// read.
  func endMigration() {
    // The transaction goes on without this Realm.
    unsafe session?.releaseRows()
    unsafe session = nil
    unsafe snapshot = nil
    unsafe invalidations &+= 1
    moved()
  }
}

extension RealmInstance: Equatable {
  @usableFromInline static func == (lhs: RealmInstance, rhs: RealmInstance) -> Bool { lhs === rhs }
}
