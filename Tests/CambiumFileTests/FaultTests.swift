import CambiumCore
import CambiumFile
import TestSupport
import Testing

/// Lets every operation of the device fail in turn.
struct FaultTests {
  private static let path = "simulated"

  /// What a run of commits did before something threw.
  private struct Outcome {
    /// The contents of the versions, oldest first; the last one was acknowledged.
    var contents: [FakeTree.Content] = [[]]
    /// The position of the newest one that was made durable.
    var durable = 0
    /// What was being committed.
    var begun: FakeTree.Content?
    var error: StoreError?

    /// What may be found after a crash.
    var possible: [FakeTree.Content] { Array(contents[durable...]) + (begun.map { [$0] } ?? []) }
  }

  /// Commits until something throws.
  private static func work(
    _ store: FileStore, _ durability: Durability, generator: inout SeededGenerator
  ) -> Outcome {
    var outcome = Outcome()
    do throws(StoreError) {
      for round in 0..<6 {
        let writer = try store.beginWrite()
        let (root, next) = try FakeTree.change(
          writer, store, changeCount: round == 2 ? 30 : 3, generator: &generator)
        outcome.begun = next
        _ = try writer.publish(root: root, durability: durability, metadata: [])
        outcome.contents.append(next)
        outcome.begun = nil
        if durability != .full, round % 3 == 2 { try store.sync() }
        if durability == .full || round % 3 == 2 { outcome.durable = outcome.contents.count - 1 }
      }
    } catch {
      outcome.error = error
    }
    return outcome
  }

  @Test(arguments: SimulatedDevice.Fault.allCases, Durability.allCases)
  func `a failed operation throws and leaves the acknowledged version`(
    fault: SimulatedDevice.Fault, durability: Durability
  ) throws {
    var isDone = false
    var index = 2
    while !isDone {
      let device = SimulatedDevice()
      var generator = SeededGenerator(seed: 5)
      let store = try FileStore(path: Self.path, options: CrashSettings.options(device))
      device.fail(index, fault)
      let outcome = Self.work(store, durability, generator: &generator)
      isDone = !device.endFault()
      // Growing ahead of need gives in when the medium is full.
      if isDone || fault != .full {
        #expect((outcome.error == nil) == isDone, "operation \(index)")
      }
      try Self.examine(store, device, outcome, "operation \(index)")
      index += 1
    }
    #expect(index > 20)
  }

  /// The store after the failure, the file opened again, and the file after a crash.
  private static func examine(
    _ store: FileStore, _ device: SimulatedDevice, _ outcome: Outcome, _ place: String
  ) throws {
    let reading = try FakeTree.read(store)
    #expect(reading.content == outcome.contents.last, "\(place): the old version is intact")
    #expect(try store.check(reachable: reading.extents) == [], "\(place)")
    let isPoisoned =
      Result { try store.beginWrite().abort() }
      .failure as? StoreError == .poisoned(path: path)
    if !isPoisoned {
      try StoreModel(store, seed: 1, durabilities: [.full]).commit()
      return
    }
    #expect(throws: StoreError.poisoned(path: path)) { try store.sync() }
    // Whoever opens the file now sees what the system kept in memory, on the medium or not.
    var generator = SeededGenerator(seed: 9)
    for round in 0..<3 {
      let bytes = device.crashImage(
        afterOperations: device.operationCount, mood: 1, generator: &generator)
      let image = round == 0 ? device.bytes : bytes
      let again = try FileStore(
        path: path, options: CrashSettings.options(SimulatedDevice(image)))
      let found = try FakeTree.read(again)
      #expect(outcome.possible.contains(found.content), "\(place)")
      #expect(try again.check(reachable: found.extents) == [], "\(place)")
      let model = try StoreModel(again, seed: 2, durabilities: [.full])
      try model.commit()
      try model.check(place)
      #expect(model.findings == [])
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `after a failed sync the first write makes the recovered version durable again`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let device = SimulatedDevice()
    do {
      let store = try FileStore(path: Self.path, options: CrashSettings.options(device))
      device.fail(Int.random(in: 4..<20, using: &generator), .refused)
      _ = Self.work(store, .full, generator: &generator)
    }
    // The same device again: its memory still shows writes that may never reach the medium.
    let store = try FileStore(path: Self.path, options: CrashSettings.options(device))
    let writer = try store.beginWrite()
    let content = try FakeTree.read(store).content
    writer.abort()
    for mood in [0, 0.5, 1] {
      let image = device.crashImage(
        afterOperations: device.operationCount, mood: mood, generator: &generator)
      let again = try FileStore(
        path: Self.path, options: CrashSettings.options(SimulatedDevice(image)))
      let reading = try FakeTree.read(again)
      #expect(reading.content == content)
      #expect(try again.check(reachable: reading.extents) == [])
    }
  }

  @Test func `a full medium aborts the write and later ones succeed`() throws {
    let device = SimulatedDevice()
    let store = try FileStore(path: Self.path, options: CrashSettings.options(device))
    let model = try StoreModel(store, seed: 3, durabilities: [.full])
    for _ in 0..<5 { try model.commit() }
    device.setFull(true)
    let head = try store.newestHead()
    #expect(throws: StoreError.mediumFull(path: Self.path)) {
      for _ in 0..<200 { try model.commit() }
    }
    #expect(try store.newestHead().version >= head.version)
    try model.check("while the medium is full")
    device.setFull(false)
    for _ in 0..<5 { try model.commit() }
    try model.check("when there is room again")
    #expect(model.findings == [])
  }

  /// Rows of 100 bytes lie in leaves of 8 KiB, and such of 1800 in leaves of almost 64 KiB.
  @Test(arguments: [100, 1800], [false, true])
  func `of a file that one large transaction has filled a full medium lets rows go`(
    rowByteCount: Int, isReopened: Bool
  ) throws {
    let device = SimulatedDevice()
    var options = FileStoreOptions()
    options.device = { _ in device }
    options.lane = BackgroundLane(byHand: MonotonicClock { 0 })
    // Nothing but what is kept lies behind what is used.
    options.growthByteCount = 4 << 10
    var database = try Database(store: FileStore(path: Self.path, options: options))
    var random = SeededGenerator(seed: 1)
    let filling = try database.beginWrite()
    let columns = ["first", "second"].map {
      ColumnDescriptor(type: .bytes, isNullable: false, name: $0)
    }
    let keys = 0..<Int64(2_000_000 / rowByteCount)
    for name in ["a", "b", "c"] {
      let editor = try filling.createTable(name, columns: columns)
      for key in keys {
        let text = (0..<rowByteCount / 2).map { _ in UInt8.random(in: .min ... .max, using: &random)
        }
        _ = try text.withUnsafeBytes {
          try editor.insert(key: key, values: [(1, .bytes($0)), (2, .bytes($0))])
        }
      }
    }
    _ = try filling.commit()
    if isReopened {
      try database.close()
      database = try Database(store: FileStore(path: Self.path, options: options))
    }
    device.setFull(true)
    var left = Dictionary(uniqueKeysWithValues: ["a", "b", "c"].map { ($0, Set(keys)) })
    // What each large leaf leaves is too small for the next one.
    for step in 0..<(rowByteCount < 1000 ? 100 : 4) {
      let name = ["a", "b", "c"][step % 3]
      let key = keys.randomElement(using: &random) ?? 0
      let transaction = try database.beginWrite()
      let isRemoved = try #require(try transaction.editTable(name)).remove(key: key)
      #expect(isRemoved == (left[name]?.remove(key) != nil))
      _ = try transaction.commit(durability: step % 5 == 0 ? .relaxed : .full)
    }
    let thinning = try database.beginWrite()
    let editor = try #require(try thinning.editTable("b"))
    for key in keys.dropLast(100) { try editor.remove(key: key) }
    left["b"]?.subtract(keys.dropLast(100))
    _ = try thinning.commit()
    #expect(try database.verify().findings == [])
    for (name, keys) in left {
      #expect(try database.snapshot().table(name)?.groups[0].count == keys.count)
    }
    device.setFull(false)
    try database.close()
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { return error }
    return nil
  }
}
