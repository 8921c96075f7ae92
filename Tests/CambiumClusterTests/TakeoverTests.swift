import CambiumCore
import Dispatch
import Foundation
import SimulatedCluster
import Synchronization
import Testing

@testable import CambiumCluster

/// Machines that are cut off, and come back.
@Suite struct ClusterTakeoverTests {
  private func options() -> ClusterOptions {
    var options = ClusterOptions()
    options.writerLeaseSeconds = 1
    options.readTimeoutSeconds = 0.2
    options.pollSeconds = 0.05
    return options
  }

  private func commit(
    _ store: ClusterStore, _ text: String, _ durability: Durability = .full,
    skippingByteCount: Int = 0
  ) throws(StoreError) {
    let writer = try store.beginWrite()
    for _ in 0..<skippingByteCount / 4096 { _ = try writer.allocate(byteCount: 4096) }
    let bytes = Array(text.utf8) + [UInt8](repeating: 0, count: 64 - text.utf8.count)
    let extent = try writer.allocate(byteCount: 64)
    try writer.write(bytes.span, to: extent)
    let reference = PageReference(
      checksum: Checksum.hash(bytes.span), extent: extent, kind: .overflow, born: writer.version)
    if !writer.base.root.isEmpty { writer.free(writer.base.root.reference) }
    _ = try writer.publish(
      root: TreeRoot(reference: reference, height: 1, kind: .key, rowCount: 1),
      durability: durability, metadata: [])
  }

  private func text(_ store: ClusterStore) throws -> String {
    let pin = try store.pin()
    let page = try store.read(pin.head.root.reference, at: pin)
    return String(decoding: page.withBytes { Array(copying: $0) }.prefix { $0 != 0 }, as: UTF8.self)
  }

  private static func isSwap(_ request: ObjectRequest) -> Bool {
    if case .swap = request { true } else { false }
  }

  private static func isWriting(_ request: ObjectRequest) -> Bool {
    switch request {
    case .swap, .write, .lock, .unlock, .remove: true
    default: false
    }
  }

  @Test func `the last commit of an owner that was cut off changes nothing when it comes late`()
    throws
  {
    let cluster = SimulatedCluster()
    let cut = HeldObjects(cluster)
    let first = try ClusterStore(cut, options: options())
    let second = try ClusterStore(InstantObjects(cluster), options: options())
    try commit(first, "first")
    cut.hold(Self.isWriting)
    #expect(throws: StoreError.indeterminate(path: cut.path)) { try commit(first, "late") }
    try commit(second, "second")
    let root = cluster.object(ObjectNames.root)
    // Everything that was held back happens now.
    cut.release()
    #expect(cluster.object(ObjectNames.root) == root)
    cut.hold(nil)
    #expect(try text(second) == "second")
    try first.refresh()
    #expect(try text(first) == "second")
    try commit(first, "third")
    try second.refresh()
    #expect(try text(second) == "third")
    try first.close()
    try second.close()
  }

  @Test(arguments: [Durability.full, .relaxed])
  func `a commit whose addresses could not be reserved did not take place`(
    durability: Durability
  ) throws {
    let cluster = SimulatedCluster()
    let cut = HeldObjects(cluster)
    var small = options()
    (small.blockByteCount, small.inlineByteCount) = (4096, 0)
    let first = try ClusterStore(cut, options: small)
    try commit(first, "first")
    cut.hold(Self.isSwap)
    let failure = #expect(throws: StoreError.self) {
      try commit(first, "never", durability, skippingByteCount: 1 << 20)
      try first.makeDurable(2)
    }
    guard case .unreachable? = failure else { return #expect(failure == nil, "another error") }
    cut.hold(nil)
    cut.release()
    let second = try ClusterStore(InstantObjects(cluster), options: small)
    #expect(try text(second) == "first")
    try commit(second, "second")
    if durability == .full {
      try first.refresh()
      try commit(first, "third")
      try second.refresh()
      #expect(try text(second) == "third")
    } else {
      // Readers of the first have seen what will never be.
      #expect(throws: StoreError.poisoned(path: cut.path)) { try commit(first, "third") }
    }
    try? first.close()
    try second.close()
  }

  @Test func `a takeover of which nobody can tell ends with an error`() throws {
    let cluster = SimulatedCluster()
    let cut = HeldObjects(cluster)
    let store = try ClusterStore(cut, options: options())
    cut.hold(Self.isSwap)
    let failure = #expect(throws: StoreError.self) { _ = try store.beginWrite() }
    guard case .unreachable? = failure else { return #expect(failure == nil, "another error") }
    cut.hold(nil)
    cut.release()
    try commit(store, "first")
    #expect(try text(store) == "first")
    try store.close()
  }

  @Test func `of a version that was lost with the lock a late write leaves no torn page`() throws {
    let cluster = SimulatedCluster()
    let cut = HeldObjects(cluster)
    var small = options()
    (small.blockByteCount, small.inlineByteCount, small.writeAheadByteCount) = (4096, 0, 64)
    // Nothing is done in the background: what is relaxed does not get into the root.
    let first = try ClusterStore(
      cut, options: small, lanes: ClusterLanes(all: BackgroundLane(byHand: .system)))
    try commit(first, "first")
    try commit(first, "never in the root", .relaxed, skippingByteCount: 8192)
    let pin = try first.pin()
    let page = try first.read(pin.head.root.reference, at: pin)
    #expect(page.withBytes { Checksum.hash($0) } == pin.head.root.reference.checksum)
    // A page behind it in the same block is on its way.
    cut.hold(Self.isWriting)
    #expect(throws: StoreError.self) { try commit(first, "late") }
    let second = try ClusterStore(InstantObjects(cluster), options: small)
    try commit(second, "second")
    let block = second.names.block(
      second.layout.block(of: pin.head.root.reference.address))
    // The new owner removes it, sooner or later.
    cluster.set(block, nil)
    cut.release()
    cut.hold(nil)
    // The block is there again, with a gap where the page was.
    #expect(cluster.object(block) != nil)
    #expect(throws: StoreError.versionGone(pin.head.version)) {
      try first.read(pin.head.root.reference, at: pin)
    }
    try? first.close()
    try second.close()
  }

  @Test func `a commit that came late before anybody took over is there`() throws {
    let cluster = SimulatedCluster()
    let cut = HeldObjects(cluster)
    let first = try ClusterStore(cut, options: options())
    try commit(first, "first")
    cut.hold(Self.isSwap)
    #expect(throws: StoreError.indeterminate(path: cut.path)) { try commit(first, "late") }
    // Nobody has to wait until the lock ends.
    guard
      case .success(.names(let holders)) = cluster.apply(
        .holders(name: ObjectNames.writer), now: 0)
    else { return #expect(Bool(false), "no holders") }
    #expect(holders == [])
    cut.hold(nil)
    cut.release()
    let second = try ClusterStore(InstantObjects(cluster), options: options())
    #expect(try text(second) == "late")
    try first.refresh()
    #expect(try text(first) == "late")
    try first.close()
    try second.close()
  }

  @Test func `what readers here have seen and no other machine will poisons the store`() throws {
    let cluster = SimulatedCluster()
    let cut = HeldObjects(cluster)
    let first = try ClusterStore(cut, options: options())
    let second = try ClusterStore(InstantObjects(cluster), options: options())
    try commit(first, "first")
    cut.hold(Self.isWriting)
    try commit(first, "seen here", .relaxed)
    #expect(try text(first) == "seen here")
    try commit(second, "second")
    cut.hold(nil)
    #expect(throws: StoreError.self) { try first.sync() }
    #expect(throws: StoreError.poisoned(path: cut.path)) { try commit(first, "more") }
    // What it shows is no version of the cluster's.
    #expect(throws: StoreError.poisoned(path: cut.path)) { try first.audit() }
    try? first.close()
    let again = try ClusterStore(HeldObjects(cluster), options: options())
    #expect(try text(again) == "second")
    try commit(again, "third")
    try again.close()
    try second.close()
  }

  @Test func `who waits for a version that is durable does not wait for later ones`() throws {
    let cluster = SimulatedCluster()
    let objects = HeldObjects(cluster)
    let store = try ClusterStore(objects, options: options())
    try commit(store, "first")
    let first = try store.newestHead().version
    objects.hold(Self.isSwap)
    try commit(store, "second", .relaxed)
    try store.makeDurable(first)
    let answer = Mutex<StoreError?>(.closed(path: "nobody was called"))
    let end = DispatchSemaphore(value: 0)
    store.makeDurable(first) { failure in
      answer.withLock { $0 = failure }
      end.signal()
    }
    end.wait()
    #expect(answer.withLock { $0 } == nil)
    #expect(throws: StoreError.self) { try store.makeDurable(first + 1) }
    objects.hold(nil)
    try? store.close()
  }

  @Test func `the writer lock of a machine that is gone goes to another one within its lease`()
    throws
  {
    let cluster = SimulatedCluster()
    let gone = HeldObjects(cluster)
    let first = try ClusterStore(gone, options: options())
    try commit(first, "first")
    gone.hold { _ in true }
    let second = try ClusterStore(InstantObjects(cluster), options: options())
    // It waits for as long as the lease lasts, and would wait for ever if that did not end.
    try commit(second, "second")
    #expect(try text(second) == "second")
    try second.close()
    gone.hold(nil)
    try? first.close()
  }

  @Test func `an owner gives the writer lock to who waits, also when no hint arrives`() throws {
    let cluster = SimulatedCluster()
    let isHint: @Sendable (ObjectRequest) -> Bool = { if case .hint = $0 { true } else { false } }
    let (first, second) = (HeldObjects(cluster), HeldObjects(cluster))
    for connection in [first, second] { connection.hold(isHint) }
    let stores = try [first, second].map { try ClusterStore($0, options: options()) }
    for round in 0..<2 {
      for store in stores { try commit(store, "round \(round)") }
    }
    #expect(try stores[1].newestHead().version == 4)
    for store in stores { try store.close() }
  }

  @Test func `who waits for the writer lock gets it after few turns of a busy owner`()
    throws
  {
    let cluster = SimulatedCluster()
    var quick = options()
    quick.turnSeconds = 0.005
    let busy = try ClusterStore(InstantObjects(cluster), options: quick)
    let other = try ClusterStore(InstantObjects(cluster), options: quick)
    let isOver = Atomic(false)
    let ended = DispatchSemaphore(value: 0)
    Thread { [self] in
      while !isOver.load(ordering: .relaxed) { try? commit(busy, "busy") }
      ended.signal()
    }.start()
    while try other.newestHead().version < 10 {
      _ = other.waitForCommit(after: 9, timeoutNanoseconds: 10_000_000)
    }
    let before = busy.state.withLock { $0.ownershipCount }
    for _ in 0..<10 { try commit(other, "other") }
    let turns = busy.state.withLock { $0.ownershipCount } - before
    isOver.store(true, ordering: .relaxed)
    ended.wait()
    // One turn for each of the ten at most, and some that came too late for it.
    #expect(turns <= 30)
    try busy.close()
    try other.close()
  }

  @Test func `a machine that lost the writer lock while it was idle reads what others commit`()
    throws
  {
    let cluster = SimulatedCluster()
    let cut = HeldObjects(cluster)
    let first = try ClusterStore(cut, options: options())
    try commit(first, "first")
    cut.hold(Self.isWriting)
    let second = try ClusterStore(InstantObjects(cluster), options: options())
    try commit(second, "second")
    cut.hold(nil)
    // The next renewal finds out.
    while first.waitForCommit(after: 1, timeoutNanoseconds: .max) < 2 {}
    #expect(try text(first) == "second")
    try first.close()
    try second.close()
  }

  @Test func `reads without an answer throw after the time that was given`() throws {
    let cluster = SimulatedCluster()
    try commit(try ClusterStore(InstantObjects(cluster), options: options()), "first")
    var small = options()
    small.inlineByteCount = 0
    let writer = try ClusterStore(InstantObjects(cluster), options: small)
    try commit(writer, "in a block")
    try writer.close()
    let cut = HeldObjects(cluster)
    let store = try ClusterStore(cut, options: options())
    let pin = try store.pin()
    cut.hold { _ in true }
    #expect(
      throws: StoreError.unreachable(
        path: cut.path, operation: "read a page of", reason: "no answer")
    ) { try store.read(pin.head.root.reference, at: pin) }
    cut.hold(nil)
    #expect(try text(store) == "in a block")
    try store.close()
  }

  @Test func `a store that is deleted is not there, and nobody deletes one in use`() throws {
    let cluster = SimulatedCluster()
    let store = try ClusterStore(InstantObjects(cluster), options: options())
    try commit(store, "first")
    #expect(throws: StoreError.self) { try ClusterStore.delete(InstantObjects(cluster)) }
    try store.close()
    #expect(try ClusterStore.delete(InstantObjects(cluster)))
    #expect(cluster.names == [])
    #expect(try !ClusterStore.delete(InstantObjects(cluster)))
  }

  @Test(arguments: [0, 1, 3, 40])
  func `a machine that comes back does not take another store of the same name for its own`(
    commitCount: Int
  ) throws {
    let cluster = SimulatedCluster()
    let cut = HeldObjects(cluster)
    var options = options()
    (options.logByteCount, options.pinLeaseSeconds) = (2048, 1)
    // Nothing is done in the background: what it has pinned is so for a second.
    let first = try ClusterStore(
      cut, options: options, lanes: ClusterLanes(all: BackgroundLane(byHand: .system)))
    for number in 0..<3 { try commit(first, "first \(number)") }
    while (try? ClusterStore.delete(InstantObjects(cluster))) != true {
      Thread.sleep(forTimeInterval: 0.05)
    }
    let second = try ClusterStore(InstantObjects(cluster), options: options)
    for number in 0..<commitCount { try commit(second, "second \(number)") }
    let root = cluster.object(ObjectNames.root)
    #expect(throws: StoreError.moved(path: cut.path)) {
      // The lease of the writer lock may not be over yet.
      do throws(StoreError) { try commit(first, "late") } catch {
        guard case .ownershipLost = error else { throw error }
        try commit(first, "later")
      }
    }
    #expect(throws: StoreError.moved(path: cut.path)) { try first.refresh() }
    // An owner that is asked for the writer lock writes that it gives it away.
    #expect(commitCount > 0 || cluster.object(ObjectNames.root) == root)
    #expect(try first.newestHead().version == 3)
    try? first.close()
    try commit(second, "last")
    #expect(try text(second) == "last")
    #expect(try second.audit().pin.head.version == UInt64(commitCount) + 1)
    try second.close()
  }

  @Test func `timeouts without an end are none`() throws {
    var options = options()
    (options.readTimeoutSeconds, options.collectionSeconds) = (.infinity, .infinity)
    (options.pollSeconds, options.turnSeconds) = (.greatestFiniteMagnitude, .infinity)
    let store = try ClusterStore(InstantObjects(SimulatedCluster()), options: options)
    try commit(store, "first")
    #expect(try text(store) == "first")
    try store.close()
    #expect(ClusterOptions.nanoseconds(.nan) == 0 && ClusterOptions.nanoseconds(-1) == 0)
    #expect(ClusterOptions.nanoseconds(0.5) == 500_000_000)
  }

  @Test func `every changed byte of the root is an error or the same store`() throws {
    let cluster = SimulatedCluster()
    let store = try ClusterStore(InstantObjects(cluster), options: options())
    for number in 0..<3 { try commit(store, "text \(number)") }
    try store.close()
    let root = try #require(cluster.object(ObjectNames.root))
    var generator = SimulationGenerator(seed: 1)
    for index in root.indices where index < 300 || index > 4000 && generator.next(below: 3) == 0 {
      let copy = cluster.copy()
      var damaged = root
      damaged[index] ^= UInt8(1 + generator.next(below: 255))
      copy.set(ObjectNames.root, damaged)
      do throws(StoreError) {
        let opened = try ClusterStore(InstantObjects(copy), options: options())
        let pin = try opened.pin()
        #expect(pin.head.version <= 3)
        _ = try? opened.read(pin.head.root.reference, at: pin)
        _ = try? opened.audit()
        try? commit(opened, "more")
        try? opened.close()
      } catch {
        // That is what is wanted.
      }
      let cut = cluster.copy()
      cut.set(ObjectNames.root, Array(root.prefix(index)))
      if let opened = try? ClusterStore(InstantObjects(cut), options: options()) {
        try? opened.close()
      }
    }
  }
}
