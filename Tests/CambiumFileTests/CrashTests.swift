import CambiumCore
import CambiumFile
import TestSupport
import Testing

/// Cuts the power at every operation of random work and opens what is left.
struct CrashTests {
  /// What was promised at some point of a run.
  struct Promise {
    /// How many operations the device had done when it was made.
    var operationCount: Int
    /// The version that must survive from then on.
    var durable: Version
    /// Whether scratch data may have taken the durable version's place.
    var isScratch: Bool
  }

  /// A run of commits on a simulated device, and everything it promised.
  final class Run {
    let device: SimulatedDevice
    var contents: [Version: FakeTree.Content] = [:]
    var promises: [Promise] = []
    /// The newest version that had begun to be published, by operations.
    var begun: [(operationCount: Int, version: Version)] = []
    var generator: SeededGenerator
    private let timer = IdleTimer { 0 }

    init(_ image: [UInt8], seed: UInt64) {
      device = SimulatedDevice(image)
      generator = SeededGenerator(seed: seed)
    }

    static func options(_ device: SimulatedDevice) -> FileStoreOptions {
      var options = FileStoreOptions()
      options.device = { _ in device }
      options.foldAfterRecordCount = 3
      options.largestSingleSyncByteCount = 24 << 10
      options.growthByteCount = 16 << 10
      // Only explicit syncs, so that a run repeats itself.
      options.relaxedDelayNanoseconds = 3_600_000_000_000
      options.timer = IdleTimer { 0 }
      return options
    }

    func run(commitCount: Int, durabilities: [Durability], closes: Bool) throws {
      var options = Self.options(device)
      // Whenever it is asked, the last commit was long ago.
      options.timer = timer
      options.settleDelayNanoseconds = 0
      let store = try FileStore(path: "simulated", options: options)
      let first = try store.newestHead()
      contents[first.version] = try FakeTree.read(first.root, store).content
      promise(store, first.version, isScratch: false)
      begun.append((0, first.version))
      for _ in 0..<commitCount { try step(store, durabilities) }
      if closes {
        try store.close()
        let version = begun.last?.version ?? 0
        promises.append(
          Promise(
            operationCount: device.operationCount, durable: version, isScratch: false))
      }
    }

    private func promise(_ store: FileStore, _ version: Version, isScratch: Bool) {
      promises.append(
        Promise(
          operationCount: device.operationCount, durable: version, isScratch: isScratch))
    }

    private func step(_ store: FileStore, _ durabilities: [Durability]) throws {
      if Int.random(in: 0..<4, using: &generator) == 0 { timer.fire() }
      if Int.random(in: 0..<6, using: &generator) == 0 {
        try store.sync()
        return promise(store, try store.newestHead().version, isScratch: false)
      }
      let before = device.operationCount
      let writer = try store.beginWrite()
      let isLarge = Int.random(in: 0..<5, using: &generator) == 0
      let (root, content) = try FakeTree.change(
        writer, store, changeCount: isLarge ? 30 : 3, generator: &generator)
      if Int.random(in: 0..<8, using: &generator) == 0 { return writer.abort() }
      let durability = durabilities.randomElement(using: &generator) ?? .full
      begun.append((before, writer.version))
      contents[writer.version] = content
      if durability == .none {
        // From the first operation of this commit on the durable version may be gone.
        promises.append(Promise(operationCount: before, durable: 0, isScratch: true))
      }
      _ = try writer.publish(root: root, durability: durability, metadata: [1, 2, 3])
      if durability == .relaxed, Int.random(in: 0..<3, using: &generator) == 0 {
        // As a commit does that shares its sync with others.
        try store.makeDurable(writer.version)
        return promise(store, writer.version, isScratch: false)
      }
      if durability == .full { promise(store, writer.version, isScratch: false) }
    }

    /// The state of promises when power is cut after `count` operations.
    func promised(_ count: Int) -> (least: Version, most: Version, isScratch: Bool) {
      let made = promises.filter { $0.operationCount <= count }
      let most = begun.filter { $0.operationCount <= count }.map(\.version).max() ?? 0
      let last = made.lastIndex { !$0.isScratch } ?? 0
      return (made[last].durable, most, made[last...].contains { $0.isScratch })
    }
  }

  /// Opens `image` and says what is wrong with it, if anything; the image and version then.
  static func examine(
    _ image: [UInt8], _ run: Run, after count: Int
  ) throws -> (findings: [String], version: Version?) {
    let (least, most, isScratch) = run.promised(count)
    let opened = Result<FileStore, StoreError> { () throws(StoreError) in
      try FileStore(path: "simulated", options: Run.options(SimulatedDevice(image)))
    }
    if isScratch, case .failure(.volatileContent) = opened { return ([], nil) }
    guard case .success(let store) = opened else { return (["operation \(count): \(opened)"], nil) }
    let head = try store.newestHead()
    guard head.version >= least, head.version <= most else {
      return (["operation \(count): version \(head.version) not in \(least)...\(most)"], nil)
    }
    let read = Result<FakeTree.Reading, StoreError> { () throws(StoreError) in
      try FakeTree.read(head.root, store)
    }
    guard case .success(let reading) = read else {
      return (["operation \(count), version \(head.version): \(read)"], nil)
    }
    var findings = try store.check(reachable: reading.extents)
    if reading.content != run.contents[head.version] {
      findings.append("version \(head.version) has another content")
    }
    return (findings.map { "operation \(count): \($0)" }, head.version)
  }

  @Test(
    arguments: [
      [Durability.full], [.full, .relaxed], [.relaxed], [.full, .relaxed, .none],
    ], 1...2 as ClosedRange<UInt64>)
  func `power loss at any operation leaves an acknowledged version, whole`(
    durabilities: [Durability], seed: UInt64
  ) throws {
    let run = Run([], seed: seed)
    try run.run(commitCount: 9, durabilities: durabilities, closes: true)
    var generator = SeededGenerator(seed: seed &* 77)
    // Creation is atomic by other means: the device begins where it has been synced.
    for count in 2...run.device.operationCount {
      for mood in [count % 2 == 0 ? 0 : 1, Double.random(in: 0.1..<0.9, using: &generator)] {
        let image = run.device.crashImage(
          afterOperations: count, mood: mood, generator: &generator)
        let (findings, version) = try Self.examine(image, run, after: count)
        try #require(findings == [])
        guard version != nil, Int.random(in: 0..<6, using: &generator) == 0 else { continue }
        try Self.crashAgain(image, run, seed: generator.next())
      }
    }
  }

  /// Works on after a crash, and crashes again, recovery included.
  private static func crashAgain(_ image: [UInt8], _ first: Run, seed: UInt64) throws {
    let run = Run(image, seed: seed)
    try run.run(commitCount: 2, durabilities: [.full, .relaxed], closes: false)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<4 {
      let count = Int.random(in: 0...run.device.operationCount, using: &generator)
      let mood = Double.random(in: 0...1, using: &generator)
      let image = run.device.crashImage(afterOperations: count, mood: mood, generator: &generator)
      let (findings, _) = try examine(image, run, after: count)
      try #require(findings == [])
    }
  }
}
