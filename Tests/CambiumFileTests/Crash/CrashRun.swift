import CambiumCore
import TestSupport

@testable import CambiumFile

/// Random work on a simulated device, with everything that it promised at each of its operations.
final class CrashRun<Work: CrashWork> {
  typealias Point = CrashPoint

  /// What was promised at some point of a run.
  struct Promise {
    /// How many operations the device had done when it was made.
    var operationCount: Int
    /// What must survive from then on.
    var durable: Point
  }

  /// A content and how many operations the device had done when it was to be committed.
  struct Attempt {
    var operationCount: Int
    var content: Work.Content
  }

  let device: SimulatedDevice
  /// What the shared memory said before each operation, and at the end: its heads and words.
  private(set) var trail: [Trail] = []
  /// What the live word was when the log was noted last, and what was in it.
  private var lastNoted: (word: UInt64, log: [UInt8]) = (0, [])

  /// Shared memory that outlives those who use it.
  struct Trail {
    var words: [UInt8]
    /// The records of small commits.
    var log: [UInt8]

    func restore(_ memory: SharedMemory) {
      memory.put(words, at: 0)
      memory.put(log, at: SharedLayout.log)
    }
  }
  private(set) var findings: [String] = []
  /// What it has done of which kind.
  var deeds: CrashDeeds {
    var deeds = CrashDeeds(device.operations, device.initial)
    deeds[.commitDuringSync] = duringSyncCount
    deeds[.sharedSync] = sharedSyncCount
    deeds[.failedOperation] = failureCount
    deeds[.relocatingWrite] = relocatingCount
    deeds[.movedPage] = movedPageCount
    deeds[.commitInMemory] = loggedCount
    deeds[.refusedByLimit] = refusedCount
    return deeds
  }
  /// Whether its last sync or write of a head failed, so that nobody may write until all have left.
  var isPoisoned: Bool { memory.condition == .poisoned }
  private var duringSyncCount = 0
  private var sharedSyncCount = 0
  private var failureCount = 0
  private var relocatingCount = 0
  private var movedPageCount = 0
  private var loggedCount = 0
  private var refusedCount = 0
  let settings: CrashSettings
  private var generator: SeededGenerator
  /// What was to be committed as which point: where a commit failed, another one may have followed it
  /// under the same number.
  private var contents: [Point: [Attempt]] = [:]
  /// What readers have seen as which point, before the power was cut as well.
  private var shown: [Point: Attempt] = [:]
  private(set) var promises: [Promise] = []
  /// What had begun to be committed, and what readers could see, by operations.
  private(set) var begun: [(operationCount: Int, point: Point)] = []
  private var published: [(operationCount: Int, point: Point)] = []
  private let memory: SharedMemory
  private let background: SimulatedBackground
  private var pins: [Pin] = []
  /// Whether there were others beside the process that was killed, so that nothing is recovered.
  private var joins = false

  /// As much of the shared memory as outlives those who use it.
  private static var trailByteCount: Int { SharedLayout.Process.first }

  /// Work on a disk that holds `image`, after a power loss if `first` worked on it before and had done
  /// `count` operations then.
  init(
    _ image: [UInt8], after first: CrashRun? = nil, at count: Int = 0, _ settings: CrashSettings,
    seed: UInt64
  ) {
    device = SimulatedDevice(image, sectorByteCount: settings.sectorByteCount)
    self.settings = settings
    generator = SeededGenerator(seed: seed)
    background = SimulatedBackground(seed: generator.next())
    if let first {
      contents = first.attempts(until: count).mapValues { attempts in
        attempts.suffix(1).map { Attempt(operationCount: 0, content: $0.content) }
      }
      shown = first.shown(until: count).mapValues { seen in
        Attempt(operationCount: 0, content: seen.content)
      }
    }
    memory = SharedMemory()
    watch()
  }

  /// Work of a process that comes after `first` was killed when it had done `count` operations.
  ///
  /// `isEarly`: right after the last of them, before anything was said of it in the shared memory.
  /// `joins`: others have the file open all the time.
  init(killing first: CrashRun, after count: Int, isEarly: Bool, joins: Bool, seed: UInt64) {
    device = SimulatedDevice(first.device, killedAfter: count)
    settings = CrashSettings(
      commitCount: 3, durabilities: first.settings.durabilities,
      sectorByteCount: first.settings.sectorByteCount)
    generator = SeededGenerator(seed: seed)
    background = SimulatedBackground(seed: generator.next())
    contents = first.attempts(until: count)
    let moment = isEarly ? count - 1 : count
    // What was not said of in the shared memory was seen by nobody.
    shown = first.shown(until: moment)
    promises = first.promises.filter { $0.operationCount <= moment }
    begun = first.begun.filter { $0.operationCount <= count }
    published = first.published.filter { $0.operationCount <= moment }
    memory = SharedMemory()
    first.trail[moment].restore(memory)
    // A file whose sync has failed is refused to all who write, until everybody has left.
    self.joins = joins && memory.condition != .poisoned
    // Nobody is left who held anything.
    memory.clearUsers()
    trail = Array(first.trail.prefix(count))
    watch()
  }

  private func watch() {
    // Nothing but this thread calls the device: the background is part of the work.
    let note = Unchecked { [unowned self] in noteMemory() }
    device.watch { note.body() }
  }

  private func noteMemory() {
    // An operation that was refused is none.
    trail.removeLast(trail.count - device.operationCount)
    let word = memory.liveWord
    if lastNoted.word != word {
      lastNoted = (word, memory.bytes(SharedLayout.log, loggedByteCount))
    }
    trail.append(Trail(words: memory.bytes(0, Self.trailByteCount), log: lastNoted.log))
  }

  /// How much of the log is used.
  private var loggedByteCount: Int {
    guard let identity, let live = memory.live(identity), live.isLogged else { return 0 }
    let stored = live.head.head.version
    return (stored + 1...live.version).reduce(0) { end, version in
      SharedLog(memory: memory).record(of: version, after: stored, at: end)?.end ?? end
    }
  }

  var identity: IdentitySector? {
    do throws(StoreError) {
      var identity = try IdentitySector(
        stored: Array(device.bytes.prefix(FileLayout.sectorByteCount)), path: "simulated")
      // What is in the shared memory is sealed like what is in the file.
      _ = try identity.bind(CrashSettings.codec, device, path: "simulated")
      return identity
    } catch {
      return nil
    }
  }

  /// Carries a closure of one thread into a place that asks for more.
  ///
  /// Unchecked: a run and its device belong to one thread.
  private struct Unchecked: @unchecked Sendable { let body: () -> Void }

  // MARK: Work

  /// Works until all is done, or the data is lost as it was promised that it may be.
  func run() throws {
    // Creation is atomic by other means: the work begins with a file that is safely there.
    if device.operationCount == 0, device.initial.isEmpty {
      try CrashSettings.create(device, using: &generator)
    }
    var left = settings.commitCount
    while left > 0 {
      guard let (store, work) = try open() else { break }
      defer { pins = [] }
      do throws(StoreError) {
        while left > 0 {
          left -= 1
          try step(store, work)
          if settings.closes, Int.random(in: 0..<16, using: &generator) == 0 { break }
        }
        pins = []
        if left == 0, !settings.closes {
          // It would be closed at another moment by whoever lets go of it last.
          try? store.close()
          break
        }
        try store.close()
        // Closing a store whose sync has failed is no error.
        if let point = published.last?.point, memory.condition != .poisoned { promise(point) }
      } catch {
        guard settings.hasFaults else { throw error }
        failureCount += 1
        pins = []
        try? store.close()
      }
    }
    noteMemory()
    _ = device.endFault()
  }

  private func open() throws -> (FileStore, Work)? {
    var options = CrashSettings.options(device)
    options.lane = background.lane
    options.memory = memory
    options.joins = joins
    joins = false
    let state = memory.condition
    // What follows that in the log, after a sync that has failed, may still be lost.
    let durableVersion = memory.durableMark?.log?.version ?? 0
    let opened = Result<FileStore, StoreError> { () throws(StoreError) in
      try FileStore(path: "simulated", options: options)
    }
    let store = try opened.get()
    let head = try store.newestHead()
    let point = Point(head)
    // Where that lies in memory, the version that the file has, by itself and with its log.
    let ofFile = Point(store.state.withLock { $0.newest.head })
    let loggedVersion = memory.durableMark?.log?.version ?? 0
    // A database has what lies in memory stored, perhaps at once.
    let opening = device.operationCount
    let work = try Work(store)
    let content = try work.read().content
    if let known = self.content(of: point), known != content {
      report("\(point) has another content")
    }
    if let last = promises.last?.durable, point < last { report("\(point) is older than \(last)") }
    if state == .clean || state == .recovered, let last = published.last?.point, point < last {
      report("the kill took \(last), \(point) was found: \(store.recoveryNotes)")
    }
    note(content, of: point, at: opening)
    show(content, as: point)
    // The first write makes it durable in the next epoch.
    note(content, of: Point(epoch: point.epoch + 1, version: point.version), at: opening)
    for version in [
      ofFile.version, durableVersion, loggedVersion, memory.durableMark?.log?.version ?? 0,
    ] {
      let ofFile = Point(epoch: ofFile.epoch, version: version)
      if ofFile < point, let known = self.content(of: ofFile) {
        note(known, of: Point(epoch: ofFile.epoch + 1, version: version), at: opening)
      }
    }
    if promises.isEmpty { promise(point) }
    note(point, &begun, at: opening)
    note(Point(epoch: point.epoch + 1, version: point.version), &begun, at: opening)
    note(point, &published, at: opening)
    return (store, work)
  }

  private func note(_ content: Work.Content, of point: Point, at operationCount: Int? = nil) {
    contents[point, default: []].append(
      Attempt(operationCount: operationCount ?? device.operationCount, content: content))
  }

  /// What the last commit under that number was to be, of those begun before `count` operations.
  func content(of point: Point, after count: Int = .max) -> Work.Content? {
    contents[point]?.last { $0.operationCount <= count }?.content
  }

  /// What had that content at any time.
  func points(with content: Work.Content) -> [Point] {
    contents.filter { $0.value.contains { $0.content == content } }.keys.sorted()
  }

  private func attempts(until count: Int) -> [Point: [Attempt]] {
    contents.mapValues { $0.filter { $0.operationCount <= count } }
  }

  private func shown(until count: Int) -> [Point: Attempt] {
    shown.filter { $0.value.operationCount <= count }
  }

  /// Notes that readers can see `content` as `point`, which may name no other one.
  private func show(_ content: Work.Content, as point: Point) {
    let seen = Attempt(operationCount: device.operationCount, content: content)
    if let before = shown.updateValue(seen, forKey: point), before.content != content {
      report("\(point) names two contents")
    }
  }

  private func report(_ finding: String) {
    findings.append("operation \(device.operationCount): \(finding)")
  }

  private func note(
    _ point: Point, _ list: inout [(operationCount: Int, point: Point)],
    at operationCount: Int? = nil
  ) {
    list.append((operationCount ?? device.operationCount, point))
  }

  private func promise(_ point: Point) {
    promises.append(Promise(operationCount: device.operationCount, durable: point))
  }

  private func step(_ store: FileStore, _ work: Work) throws(StoreError) {
    if settings.hasFaults, Int.random(in: 0..<12, using: &generator) == 0 {
      let index = device.operationCount + Int.random(in: 0..<8, using: &generator)
      device.fail(index, SimulatedDevice.Fault.allCases.randomElement(using: &generator) ?? .full)
    }
    switch Int.random(in: 0..<24, using: &generator) {
    case 0...5: background.pass()
    case 6: pins.append(try store.pin())
    case 7, 8:
      if !pins.isEmpty { pins.remove(at: Int.random(in: pins.indices, using: &generator)) }
    case 9, 10, 11:
      try store.sync()
      return promise(Point(try store.newestHead()))
    default: break
    }
    // What the last write was asked.
    if store.books.withLock({ $0.isRelocating }) { relocatingCount += 1 }
    let committed: (point: Point, durability: Durability)?
    do throws(StoreError) {
      committed = try commit(
        work, settings.durabilities.randomElement(using: &generator) ?? .full)
    } catch .sizeLimitReached {
      refusedCount += 1
      return
    }
    guard let point = committed else { return }
    if point.durability == .relaxed, Bool.random(using: &generator) {
      try makeDurable(point.point, store, work)
    }
  }

  /// Commits a random change; nil when it was dropped, or would have had to wait and may not.
  private func commit(
    _ work: Work, _ durability: Durability, mayWait: Bool = true
  ) throws(StoreError) -> (point: Point, durability: Durability)? {
    // Some expect something else than they ask for.
    let expected =
      Int.random(in: 0..<8, using: &generator) == 0
      ? settings.durabilities.randomElement(using: &generator) ?? .full : durability
    guard let head = try work.begin(expected, mayWait: mayWait) else { return nil }
    // Whatever was recovered is durable now, as far as its pages are in the file.
    let base = Point(head)
    if let last = published.last?.point, last < base {
      if head.residence == nil { promise(base) }
      note(base, &published)
    }
    let isLarge = Int.random(in: 0..<5, using: &generator) == 0
    let content: Work.Content
    do throws(StoreError) {
      content = try work.change(isLarge: isLarge, &generator)
    } catch {
      work.abort()
      throw error
    }
    if Int.random(in: 0..<8, using: &generator) == 0 {
      work.abort()
      return nil
    }
    let point = Point(epoch: base.epoch, version: base.version + 1)
    note(point, &begun)
    note(content, of: point)
    let operationCount = device.operationCount
    movedPageCount += try work.publish(durability)
    if device.operationCount == operationCount { loggedCount += 1 }
    // It may have been published without an operation.
    noteMemory()
    show(content, as: point)
    note(point, &published)
    if durability == .full { promise(point) }
    return (point, durability)
  }

  /// Waits for the medium as a commit does that shares its sync with others; some of these commit
  /// while the sync is under way, and wait for the next one.
  private func makeDurable(
    _ point: Point, _ store: FileStore, _ work: Work
  ) throws(StoreError) {
    var others: [Point] = []
    let count = Int.random(in: 0...3, using: &generator)
    if count > 0 {
      let interlude = Unchecked { [unowned self] in
        for _ in 0..<count {
          // One that fails does not concern those who wait, and none can wait for the sync it runs in.
          guard let other = try? commit(work, .relaxed, mayWait: false) else { continue }
          others.append(other.point)
          duringSyncCount += 1
        }
      }
      device.duringNextSync { interlude.body() }
    }
    defer { device.duringNextSync(nil) }
    try store.makeDurable(point.version)
    promise(point)
    if let last = others.last, Int.random(in: 0..<4, using: &generator) > 0 {
      try store.makeDurable(last.version)
      promise(last)
      if others.count > 1 { sharedSyncCount += 1 }
    }
  }
}
