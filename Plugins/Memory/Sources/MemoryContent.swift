import CPlatform
import CambiumCore
import CambiumStoreKit
import Synchronization

/// What all stores of one name share: the pages, the newest head, and the space they lie in.
///
/// Reads take the lock of `state` alone, for some loads; the space has one of its own, which is held while an old
/// version is let go. Locks are taken in this order: `space`, `state`.
///
/// Pointers: pins and pages keep the content, and with it the memory, whose addresses never change. They reach no
/// further than what was made accessible, which stays so.
final class MemoryContent: Sendable {
  struct State {
    var head = Head(version: 0, epoch: 1, root: .empty(.key))
    /// The newest version whose pages are all here: that of `head`, or one before it.
    var stored: Version = 0
    /// How often each version is pinned, oldest first, and which stored one holds its pages; few.
    var pins: [(version: Version, stored: Version, count: Int)] = []
    /// How many bytes of the reserved memory are accessible.
    var committedByteCount = 0
    /// What the latest commits were given, oldest first.
    var metadata: [CommitMetadata] = []

    /// Pins the newest version.
    mutating func pinNewest() {
      if let last = pins.indices.last, pins[last].version == head.version {
        pins[last].count += 1
      } else {
        pins.append((head.version, stored, 1))
      }
    }

    mutating func unpin(_ version: Version) {
      guard let index = pins.lastIndex(where: { $0.version == version }) else {
        preconditionFailure("S2: a pin of version \(version) ended twice.")
      }
      pins[index].count -= 1
      if pins[index].count == 0 { pins.remove(at: index) }
    }

    /// Whether somebody reads what a stored version holds.
    func isPinned(stored version: Version) -> Bool { pins.contains { $0.stored == version } }
  }

  private struct WeakContent {
    weak var content: MemoryContent?
  }

  /// Block 0 is never given out, so that no page has address 0.
  private static let firstBlock = 1
  private static let registry = Mutex<[String: WeakContent]>([:])

  let uuid: (UInt64, UInt64)
  /// The name of the codec that pages go through; empty for none.
  let codec: String
  /// What is kept for it.
  let parameters: [UInt8]
  let memory = ReservedMemory()
  private let state = Mutex(State())
  private let space: Mutex<Space>
  /// The version of the state's head, to be asked without its lock.
  private let newestVersion = Atomic<Version>(0)
  let writers = WriterQueue()
  /// Who is told of commits.
  let watchers = CommitWatchers()
  /// Who is called back.
  let calls = OrderedCalls(BackgroundLane())
  private let commits = CommitSignal()
  private let forkCount = cambium_fork_count()

  /// Whether this process is a child of the one that made it, and so has none of its threads.
  var isForked: Bool { forkCount != cambium_fork_count() }

  init() {
    (codec, parameters) = ("", [])
    uuid = Self.newNumber
    space = Mutex(Self.emptySpace)
  }

  /// Throws what the codec throws when it makes what is to be kept for it.
  init(for codec: any PageCodec) throws(StoreError) {
    uuid = Self.newNumber
    self.codec = codec.name
    parameters = try codec.makeParameters(for: StoreNumber(high: uuid.0, low: uuid.1))
    space = Mutex(Self.emptySpace)
  }

  private static var newNumber: (UInt64, UInt64) {
    (.random(in: 1 ... .max), .random(in: 1 ... .max))
  }

  private static var emptySpace: Space {
    var space = Space(firstBlock: Self.firstBlock)
    space.ledger.hold(0, .store)
    return space
  }

  /// The content of that name that this process has; what a forked child shares with its parent is none of it.
  private static func known(
    _ name: String, in registry: [String: WeakContent]
  ) -> MemoryContent? {
    registry[name]?.content.flatMap { $0.isForked ? nil : $0 }
  }

  /// The content of that name, made when nobody has it.
  static func named(_ name: String) -> MemoryContent {
    registry.withLock { registry in
      if let content = known(name, in: registry) { return content }
      return keep(MemoryContent(), as: name, in: &registry)
    }
  }

  /// The content of that name, made for `codec` when nobody has it.
  static func named(
    _ name: String, for codec: any PageCodec
  ) throws(StoreError) -> MemoryContent {
    try registry.withLock { registry throws(StoreError) in
      if let content = known(name, in: registry) { return content }
      return keep(try MemoryContent(for: codec), as: name, in: &registry)
    }
  }

  private static func keep(
    _ content: MemoryContent, as name: String, in registry: inout [String: WeakContent]
  ) -> MemoryContent {
    registry = registry.filter { $0.value.content != nil }
    registry[name] = WeakContent(content: content)
    return content
  }

  // MARK: Reading

  var newestHead: Head { state.withLock { $0.head } }

  /// Whether `version` is the newest one.
  func isNewest(_ version: Version) -> Bool {
    newestVersion.load(ordering: .sequentiallyConsistent) == version
  }

  func pin() -> Pin {
    makePin(
      state.withLock { state in
        state.pinNewest()
        return (state.head, state.committedByteCount)
      })
  }

  private func makePin(_ pinned: (head: Head, byteCount: Int)) -> Pin {
    let version = pinned.head.version
    return unsafe Pin(
      head: pinned.head, base: memory.base, readableByteCount: pinned.byteCount
    ) {
      // The lock may be held for ever, by a thread that is not there.
      if self.isForked { return }
      self.state.withLock { $0.unpin(version) }
    }
  }

  func read(_ reference: PageReference) throws(StoreError) -> Page {
    let byteCount = state.withLock { $0.committedByteCount }
    guard let base = unsafe memory.base, reference.unitCount > 0, !reference.isDirty,
      reference.byteOffset <= byteCount,
      reference.byteCount <= byteCount - reference.byteOffset
    else {
      throw .damaged(Damage(.reference, at: reference, "the page lies outside of the store"))
    }
    return unsafe Page(
      bytes: base + reference.byteOffset, byteCount: reference.byteCount, owner: self)
  }

  /// What the commits of the versions from `first` to `last` were given; nil when one is forgotten.
  func metadata(from first: Version, through last: Version) -> [CommitMetadata]? {
    if first > last { return [] }
    let found = state.withLock { state in
      state.metadata.filter { $0.version >= first && $0.version <= last }
    }
    return UInt64(found.count) == last - first + 1 ? found : nil
  }

  func waitForCommit(
    after version: Version, timeoutNanoseconds: Int64, isCancelled: () -> Bool
  ) -> Version {
    commits.wait(timeoutNanoseconds: timeoutNanoseconds) {
      newestHead.version > version || isCancelled()
    }
    return newestHead.version
  }

  /// Lets all who wait for a commit look again.
  func wakeWaiters() { commits.raise() }

  var statistics: StoreStatistics {
    space.withLock { space in
      letGo(&space)
      let (version, pins) = state.withLock { ($0.head.version, $0.pins) }
      let pinned = pins.map(\.version)
      // What a stored version holds alone is said of the first one that needs it.
      var exclusive: [Version: Int] = [:]
      var last: Version?
      for pin in pins {
        exclusive[pin.version] =
          pin.stored == last ? 0 : space.ledger.exclusiveByteCounts[pin.stored]
        last = pin.stored
      }
      // The newest version holds nothing alone.
      if pinned.last == version { exclusive[version] = 0 }
      return StoreStatistics(
        totalByteCount: space.totalByteCount, freeByteCount: space.freeByteCount,
        pendingByteCount: space.pendingByteCount, newestVersion: version, durableVersion: version,
        pinnedVersions: pinned, exclusiveByteCounts: exclusive)
    }
  }

  func audit() -> StoreAudit {
    let (held, books) = space.withLock { space -> (Pin, SpaceAudit) in
      letGo(&space)
      return (pin(), SpaceAudit(space.copy()))
    }
    // What was replaced in memory belongs to the stored version.
    let replaced = held.head.residence?.freedReferences.map(\.extent) ?? []
    return StoreAudit(of: held) { reachable throws(StoreError) in
      try books.findings(
        reachable: replaced.isEmpty
          ? reachable : (reachable + replaced).sorted { $0.address < $1.address })
    }
  }

  // MARK: Writing

  /// Frees what versions hold that nobody pins any more.
  private func letGo(_ space: inout Space) {
    let pins = state.withLock { $0.pins }
    space.keepPins { versions in pins.contains { $0.stored == versions.lowerBound } }
  }

  /// Begins a write, by the holder of the writer lock.
  func beginWrite() -> Head {
    space.withLock { letGo(&$0) }
    return newestHead
  }

  /// Ends a write.
  func leave() { writers.release() }

  /// Gives the running write access to the space; `body` may make it grow.
  func withSpace<Value: Sendable>(
    path: String, _ body: (inout Space, Space.Grow) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try space.withLock { space throws(StoreError) in
      var committed = state.withLock { $0.committedByteCount }
      return try body(&space) { blockCount throws(StoreError) in
        // A block more: readers look at a few bytes behind a page at once.
        let needed = (blockCount + 1) * BlockMap.blockByteCount
        guard let byteCount = memory.commit(current: committed, needed: needed) else {
          throw .mediumFull(path: path)
        }
        committed = byteCount
        state.withLock { $0.committedByteCount = byteCount }
      }
    }
  }

  /// Makes `head` the newest one and pins it; throws, and changes nothing, when an extent cannot be
  /// freed.
  func publish(
    _ head: Head, allocations: AllocationLog, freed: [VersionLedger.Dead], metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    let byteCount = try space.withLock { space throws(StoreError) in
      let refused = try space.applyReachable(allocations, freed: freed, version: head.version)
      if let index = refused {
        throw .damaged(
          Damage(.reference, "the page at byte \(freed[index].extent.byteOffset) is not in use"))
      }
      // From now on nobody pins the version before.
      let (base, isPinned, byteCount) = state.withLock { state in
        let base = state.stored
        state.stored = head.version
        install(head, metadata, &state)
        return (base, state.isPinned(stored: base), state.committedByteCount)
      }
      if isPinned { space.ledger.pinOnce(base) }
      space.publish(version: head.version, previous: base, freed: freed)
      return byteCount
    }
    commits.raise()
    return makePin((head, byteCount))
  }

  /// Makes `head` the newest one and pins it; what has changed lies in its residence.
  func publish(_ head: Head, metadata: [UInt8]) -> Pin {
    let byteCount = state.withLock { state in
      install(head, metadata, &state)
      return state.committedByteCount
    }
    commits.raise()
    return makePin((head, byteCount))
  }

  private func install(_ head: Head, _ metadata: [UInt8], _ state: inout State) {
    state.head = head
    if state.metadata.count == CommitMetadata.keptCount { state.metadata.removeFirst() }
    state.metadata.append(
      CommitMetadata(version: head.version, epoch: head.epoch, bytes: metadata))
    newestVersion.store(head.version, ordering: .sequentiallyConsistent)
    state.pinNewest()
  }
}
