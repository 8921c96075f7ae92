import CambiumCore
import Synchronization

/// What all stores of one name share: the pages, the newest head, and the space they lie in.
final class MemoryContent: Sendable {
  struct State: ~Copyable {
    var head = Head(version: 0, epoch: 1, root: .empty(.key))
    var space: Space
    /// How many bytes of the reserved memory are accessible.
    var committedByteCount = 0
    /// What the latest commits were given, oldest first.
    var metadata: [CommitMetadata] = []
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
  private let state: Mutex<State>
  /// The version of the state's head, to be asked without its lock.
  private let newestVersion = Atomic<Version>(0)
  let writers = WriterQueue()
  /// Who is told of commits.
  let watchers = CommitWatchers()
  /// Who is called back.
  let calls = OrderedCalls(BackgroundLane())
  private let commits = CommitSignal()

  init() {
    (codec, parameters) = ("", [])
    uuid = Self.newNumber
    state = Mutex(Self.empty)
  }

  /// Throws what the codec throws when it makes what is to be kept for it.
  init(for codec: any PageCodec) throws(StoreError) {
    uuid = Self.newNumber
    self.codec = codec.name
    parameters = try codec.makeParameters(for: StoreNumber(high: uuid.0, low: uuid.1))
    state = Mutex(Self.empty)
  }

  private static var newNumber: (UInt64, UInt64) {
    (.random(in: 1 ... .max), .random(in: 1 ... .max))
  }

  private static var empty: State {
    var space = Space(firstBlock: Self.firstBlock)
    space.ledger.hold(0, .store)
    return State(space: space)
  }

  /// The content of that name, made when nobody has it.
  static func named(_ name: String) -> MemoryContent {
    registry.withLock { registry in
      if let content = registry[name]?.content { return content }
      return keep(MemoryContent(), as: name, in: &registry)
    }
  }

  /// The content of that name, made for `codec` when nobody has it.
  static func named(
    _ name: String, for codec: any PageCodec
  ) throws(StoreError) -> MemoryContent {
    try registry.withLock { registry throws(StoreError) in
      if let content = registry[name]?.content { return content }
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
    let (head, byteCount) = state.withLock { state in
      state.space.ledger.hold(state.head.version, .pin)
      return (state.head, state.committedByteCount)
    }
    return makePin(head, byteCount)
  }

  private func makePin(_ head: Head, _ byteCount: Int) -> Pin {
    Pin(head: head, base: memory.base, readableByteCount: byteCount) {
      self.state.withLock { $0.space.release(head.version, .pin) }
    }
  }

  func read(_ reference: PageReference) throws(StoreError) -> Page {
    let byteCount = state.withLock { $0.committedByteCount }
    guard let base = memory.base, reference.unitCount > 0, !reference.isDirty,
      reference.byteOffset <= byteCount,
      reference.byteCount <= byteCount - reference.byteOffset
    else {
      throw .damaged(Damage(.reference, at: reference, "the page lies outside of the store"))
    }
    return Page(bytes: base + reference.byteOffset, byteCount: reference.byteCount, owner: self)
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
    state.withLock { state in
      StoreStatistics(
        totalByteCount: state.space.totalByteCount, freeByteCount: state.space.freeByteCount,
        pendingByteCount: state.space.pendingByteCount, newestVersion: state.head.version,
        durableVersion: state.head.version, pinnedVersions: state.space.ledger.pinnedVersions,
        exclusiveByteCounts: state.space.ledger.exclusiveByteCounts)
    }
  }

  func audit() -> StoreAudit {
    let (head, byteCount, books) = state.withLock { state in
      state.space.ledger.hold(state.head.version, .pin)
      return (state.head, state.committedByteCount, Books(state.space.copy()))
    }
    return StoreAudit(of: makePin(head, byteCount)) { reachable throws(StoreError) in
      try books.findings(reachable)
    }
  }

  /// What was in use when an audit began.
  private final class Books: Sendable {
    private let space: Mutex<Space>

    init(_ space: consuming sending Space) { self.space = Mutex(space) }

    func findings(_ reachable: [Extent]) throws(StoreError) -> [String] {
      try space.withLock { space throws(StoreError) in
        try SpaceCheck.findings(space: &space, reachable: reachable, owned: [])
      }
    }
  }

  // MARK: Writing

  /// Begins a write, by who has the turn; the base is pinned until ``leave(_:)``.
  func beginWrite() -> Head {
    state.withLock { state in
      state.space.ledger.hold(state.head.version, .pin)
      return state.head
    }
  }

  /// Ends a write that began at `base`.
  func leave(_ base: Head) {
    state.withLock { $0.space.release(base.version, .pin) }
    writers.leave()
  }

  /// Gives the running write access to the space; `body` may make it grow.
  func withSpace<Value: Sendable>(
    path: String, _ body: (inout Space, Space.Grow) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try state.withLock { state throws(StoreError) in
      var committed = state.committedByteCount
      defer { state.committedByteCount = committed }
      return try body(&state.space) { blockCount throws(StoreError) in
        // A block more: readers look at a few bytes behind a page at once.
        let needed = (blockCount + 1) * BlockMap.blockByteCount
        guard let byteCount = memory.commit(current: committed, needed: needed) else {
          throw .mediumFull(path: path)
        }
        committed = byteCount
      }
    }
  }

  /// Makes `head` the newest one and pins it; throws, and changes nothing, when an extent cannot be
  /// freed.
  func publish(
    _ head: Head, base: Head, allocations: AllocationLog, freed: [VersionLedger.Dead],
    metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    let byteCount = try state.withLock { state throws(StoreError) in
      let refused = try state.space.applyReachable(
        allocations, freed: freed, version: head.version)
      if let index = refused {
        throw .damaged(
          Damage(.reference, "the page at byte \(freed[index].extent.byteOffset) is not in use"))
      }
      state.space.publish(version: head.version, previous: base.version, freed: freed)
      state.head = head
      if state.metadata.count == CommitMetadata.keptCount { state.metadata.removeFirst() }
      state.metadata.append(
        CommitMetadata(version: head.version, epoch: head.epoch, bytes: metadata))
      newestVersion.store(head.version, ordering: .sequentiallyConsistent)
      state.space.ledger.hold(head.version, .pin)
      return state.committedByteCount
    }
    commits.raise()
    return makePin(head, byteCount)
  }
}
