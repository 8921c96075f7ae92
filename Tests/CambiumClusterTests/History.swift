import CambiumCore
import CambiumStoreKit
import SimulatedCluster
import Synchronization

@testable import CambiumCluster

/// Some machines that read and write one store for a while, over a cluster that is slow, forgets to answer and
/// applies late; machines end at any moment, and clocks jump.
///
/// Afterwards: what was acknowledged is there, once and in one order; what was refused is not; whoever read has
/// seen a beginning of that order, whole.
///
/// Unchecked: used by one machine at a time, as the schedule says.
final class History: @unchecked Sendable {
  enum Outcome {
    /// Published to readers of one process, and not known to be durable.
    case visible
    case acknowledged
    case refused
    /// Nobody was told.
    case unknown
  }

  struct Commit {
    var outcome: Outcome
    var machine: Int
  }

  let seed: UInt64
  let schedule: Schedule
  private(set) var findings: [String] = []
  private var commits: [UInt64: Commit] = [:]
  private var lastCommit: UInt64 = 0
  /// What somebody has seen: the commits, and which of them were its own and on their way.
  private var seen: [(commits: [UInt64], machine: Int)] = []
  private let stepCount: Int
  private let machineCount: Int

  init(seed: UInt64, machineCount: Int = 3, stepCount: Int = 14, isRough: Bool = true) {
    self.seed = seed
    self.machineCount = machineCount
    self.stepCount = stepCount
    var odds = Schedule.Odds()
    // In half of the histories no clock jumps, so that no lock ends before its time.
    if seed.isMultiple(of: 2) { odds.jump = .max }
    schedule = Schedule(seed: seed, odds: odds)
    schedule.isRough = isRough
  }

  private func note(_ finding: String) {
    if findings.count < 10 { findings.append("seed \(seed): \(finding)") }
  }

  static func options(_ seed: UInt64) -> ClusterOptions {
    var options = ClusterOptions()
    options.blockByteCount = 4096
    options.inlineByteCount = 2048
    options.logByteCount = 12 << 10
    options.writeAheadByteCount = 4096
    options.readTimeoutSeconds = 30
    options.turnSeconds = 0.002
    options.collectionSeconds = 0.003
    options.readAheadCount = seed.isMultiple(of: 3) ? 0 : 16
    return options
  }

  /// Runs it; what was found to be wrong.
  func run() -> [String] {
    for number in 0..<machineCount {
      schedule.add { [self] machine, objects in
        MachineWork(self, machine, objects, seed: seed &* 31 &+ UInt64(number)).run(stepCount)
      }
    }
    schedule.run()
    checkEnd()
    return findings
  }

  // MARK: What machines tell

  func beginCommit(_ machine: Int) -> UInt64 {
    lastCommit += 1
    commits[lastCommit] = Commit(outcome: .unknown, machine: machine)
    return lastCommit
  }

  func end(_ commit: UInt64, _ outcome: Outcome) { commits[commit]?.outcome = outcome }

  func saw(_ tree: HistoryTree, _ machine: Int) { seen.append((tree.commits, machine)) }

  /// A read of `store` failed.
  func readFailed(_ error: StoreError, _ machine: Int, _ store: ClusterStore) {
    if schedule.isDead(machine) { return }
    switch error {
    case .unreachable, .closed: break
    case .versionGone
    where schedule.cluster.hasLapsed(suffix: ".\(store.lease.name)", now: schedule.now): break
    // It was never in the root, and another machine has taken over.
    case .versionGone(let version) where version > store.state.withLock({ $0.replicated }): break
    default: note("machine \(machine) cannot read: \(error)")
    }
  }

  func commitFailed(_ commit: UInt64, _ error: StoreError, _ machine: Int) {
    switch error {
    case .indeterminate: end(commit, .unknown)
    case .ownershipLost, .poisoned, .unreachable, .closed, .mediumFull: end(commit, .refused)
    case _ where schedule.isDead(machine): end(commit, .unknown)
    default: note("machine \(machine) cannot commit: \(error)")
    }
  }

  func openingFailed(_ error: StoreError, _ machine: Int) {
    if schedule.isDead(machine) { return }
    switch error {
    case .unreachable, .mediumFull: return
    default: break
    }
    note("machine \(machine) cannot open: \(error)")
  }

  // MARK: The end

  private func checkEnd() {
    do throws(StoreError) {
      var options = Self.options(seed)
      options.collectionSeconds = 1000
      let lane = BackgroundLane(byHand: MonotonicClock { [schedule] in schedule.now + 1 << 40 })
      let objects = InstantObjects(schedule.cluster.copy())
      let store = try ClusterStore(objects, options: options, lanes: ClusterLanes(all: lane))
      let pin = try store.pin()
      let tree = try HistoryTree.read(pin, store)
      for finding in try store.check(reachable: tree.extents) { note("at the end: \(finding)") }
      check(tree.commits)
      try checkRoom(store, objects)
    } catch {
      note("at the end: \(error)")
    }
  }

  private func check(_ order: [UInt64]) {
    if Set(order).count != order.count { note("a commit is there twice: \(order)") }
    let there = Set(order)
    for (commit, entry) in commits {
      if entry.outcome == .acknowledged, !there.contains(commit) {
        note("commit \(commit) was acknowledged and is lost: \(order)")
      }
      if entry.outcome == .refused, there.contains(commit) {
        note("commit \(commit) was refused and is there: \(order)")
      }
    }
    for (list, machine) in seen {
      var list = list
      // What was on its way may be lost with its machine; nobody else has seen it.
      while let last = list.last, !there.contains(last), commits[last]?.machine == machine,
        commits[last]?.outcome == .visible || commits[last]?.outcome == .unknown
      {
        list.removeLast()
      }
      if !order.starts(with: list) {
        note("machine \(machine) saw \(list), in the end it is \(order)")
      }
    }
  }

  /// When nobody reads, what no version needs goes.
  private func checkRoom(_ store: ClusterStore, _ objects: InstantObjects) throws(StoreError) {
    let writer = try store.beginWrite()
    do {
      let pin = try writer.publish(root: writer.base.root, durability: .full, metadata: [])
      withExtendedLifetime(pin) {}
    }
    store.collect()
    let (table, oldest) = store.state.withLock { ($0.ownership?.table, $0.oldestNeeded) }
    guard let table else { return note("at the end: no table") }
    let last = store.layout.block(of: store.state.withLock { $0.header.nextAddress })
    let blocks = Set(objects.names.compactMap { store.names.blockNumber($0) }.filter { $0 < last })
    let copied = store.layout.block(of: store.state.withLock { $0.copiedEnd })
    // A write that is late brings a block back, until the next owner that sweeps.
    for block in blocks where !schedule.isRough && block < copied {
      // Whoever was the last to need it may be there still: here, who has read the version before.
      let entry = table.entries[block]
      if entry.map({ $0.liveUnitCount == 0 && $0.emptied <= oldest }) ?? true {
        note("at the end: block \(block) is there for nothing")
      }
    }
    for (block, entry) in table.entries where entry.liveUnitCount > 0 && block < last {
      if !blocks.contains(block), !store.isInLog(block) {
        note("at the end: block \(block) is missing")
      }
    }
    try store.close()
  }
}

extension ClusterStore {
  /// Whether the pages of a block may be in the log alone.
  fileprivate func isInLog(_ block: UInt64) -> Bool {
    log.locations(from: 0, to: .max).contains { location in
      let extent = Extent(address: location >> 16, unitCount: location & 0xffff)
      return layout.parts(of: extent).contains { $0.block == block }
    }
  }
}

extension InstantObjects {
  fileprivate var names: [String] {
    if case .success(.names(let names))? = perform([.list]).first { names } else { [] }
  }
}

/// What one machine does.
private final class MachineWork {
  private let history: History
  private let machine: Int
  private let objects: ScheduledObjects
  private var generator: SimulationGenerator
  private let lane: BackgroundLane
  private var store: ClusterStore?
  /// Commits that readers here see, with their versions.
  private var visible: [(commit: UInt64, version: Version)] = []
  private var pins: [(pin: Pin, commits: [UInt64])] = []

  init(_ history: History, _ machine: Int, _ objects: ScheduledObjects, seed: UInt64) {
    self.history = history
    self.machine = machine
    self.objects = objects
    generator = SimulationGenerator(seed: seed)
    let schedule = history.schedule
    lane = BackgroundLane(byHand: MonotonicClock { schedule.time(of: machine) })
  }

  private var isDead: Bool { history.schedule.isDead(machine) }
  private func odds(_ count: UInt64) -> Bool { generator.next(below: count) == 0 }

  func run(_ stepCount: Int) {
    for _ in 0..<stepCount where !isDead {
      if store == nil { open() }
      if let store { step(store) }
      if !isDead, odds(2) { lane.runDue() }
      if !isDead { history.schedule.yield(machine) }
    }
    pins = []
    closeStore()
    store = nil
  }

  private func open() {
    do throws(StoreError) {
      store = try ClusterStore(
        objects, options: History.options(history.seed), lanes: ClusterLanes(all: lane))
    } catch {
      history.openingFailed(error, machine)
    }
  }

  private func closeStore() {
    guard let store else { return }
    do throws(StoreError) {
      try store.close()
      // What was published is in the cluster.
      if !store.state.withLock({ $0.isPoisoned }) { acknowledge(through: .max) }
    } catch {
      // What was on its way may be there or not.
    }
    visible = []
  }

  private func step(_ store: ClusterStore) {
    switch generator.next(below: 14) {
    case 0...4: write(store, .full)
    case 5, 6: write(store, .relaxed)
    case 7: makeDurable(store)
    case 8, 9: read(store)
    case 10: checkPins(store)
    case 11, 12: readAnew()
    default:
      if odds(2) {
        abort(store)
      } else {
        pins = []
        closeStore()
        self.store = nil
      }
    }
    if store.state.withLock({ $0.isPoisoned }) {
      pins = []
      closeStore()
      self.store = nil
    }
  }

  private func acknowledge(through version: Version) {
    for entry in visible where entry.version <= version { history.end(entry.commit, .acknowledged) }
    visible.removeAll { $0.version <= version }
  }

  private func write(_ store: ClusterStore, _ durability: Durability) {
    let commit = history.beginCommit(machine)
    do throws(StoreError) {
      let writer = try store.beginWrite()
      do throws(StoreError) {
        let base = try store.pin()
        var tree = try HistoryTree.read(base, store)
        if odds(3) { lane.runDue() }
        let root = try tree.change(
          commit: commit, isLarge: odds(4), old: base.head.root, writer, &generator)
        if odds(3) { lane.runDue() }
        let pin = try writer.publish(
          root: root, durability: durability, metadata: [UInt8(truncatingIfNeeded: commit)])
        if durability == .full {
          history.end(commit, .acknowledged)
          acknowledge(through: pin.head.version)
        } else {
          history.end(commit, .visible)
          visible.append((commit, pin.head.version))
        }
      } catch {
        if case .indeterminate = error {} else { writer.abort() }
        if case .versionGone = error {
          history.readFailed(error, machine, store)
          history.end(commit, .refused)
          return
        }
        throw error
      }
    } catch {
      history.commitFailed(commit, error, machine)
    }
  }

  private func abort(_ store: ClusterStore) {
    do throws(StoreError) {
      let writer = try store.beginWrite()
      let base = try store.pin()
      var tree = try HistoryTree.read(base, store)
      _ = try tree.change(commit: 0, isLarge: odds(2), old: base.head.root, writer, &generator)
      writer.abort()
    } catch {
      // What others check.
    }
  }

  private func makeDurable(_ store: ClusterStore) {
    guard let last = visible.last else { return }
    do throws(StoreError) {
      try store.makeDurable(last.version)
      acknowledge(through: last.version)
    } catch {
      // It stays unknown.
    }
  }

  private func read(_ store: ClusterStore) {
    do throws(StoreError) {
      let pin = try store.pin()
      let tree = try HistoryTree.read(pin, store)
      history.saw(tree, machine)
      if pins.count < 3 { pins.append((pin, tree.commits)) }
    } catch {
      history.readFailed(error, machine, store)
    }
  }

  /// Opens the store once more, for reading.
  private func readAnew() {
    var options = History.options(history.seed)
    options.isReadOnly = true
    do throws(StoreError) {
      let reader = try ClusterStore(
        history.schedule.connection(of: machine), options: options, lanes: ClusterLanes(all: lane))
      defer { try? reader.close() }
      do throws(StoreError) {
        let pin = try reader.pin()
        if odds(2) { history.schedule.yield(machine) }
        history.saw(try HistoryTree.read(pin, reader), machine)
      } catch {
        history.readFailed(error, machine, reader)
      }
    } catch {
      if case .notFound = error { return }
      history.openingFailed(error, machine)
    }
  }

  private func checkPins(_ store: ClusterStore) {
    for (pin, commits) in pins {
      do throws(StoreError) {
        let tree = try HistoryTree.read(pin, store)
        if tree.commits != commits {
          history.readFailed(
            .damaged(Damage(.count, "a pinned version has changed")), machine,
            store)
        }
      } catch {
        history.readFailed(error, machine, store)
      }
    }
    if odds(2) { pins = [] }
  }
}
