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

  @Test(arguments: [false, true])
  func `of a file that one large transaction has filled a full medium lets rows go`(
    isReopened: Bool
  ) throws {
    let device = SimulatedDevice()
    var options = FileStoreOptions()
    options.device = { _ in device }
    options.lane = BackgroundLane(byHand: MonotonicClock { 0 })
    var database = try Database(store: FileStore(path: Self.path, options: options))
    var random = SeededGenerator(seed: 1)
    let filling = try database.beginWrite()
    let columns = [
      ColumnDescriptor(type: .bytes, isNullable: false, name: "text"),
      ColumnDescriptor(type: .int, isNullable: false, name: "number"),
    ]
    for name in ["a", "b", "c"] {
      let editor = try filling.createTable(name, columns: columns)
      for key in 0..<20_000 as Range<Int64> {
        let text = (0..<100).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        _ = try text.withUnsafeBytes {
          try editor.insert(key: key, values: [(1, .bytes($0)), (2, .int(key))])
        }
      }
    }
    _ = try filling.commit()
    if isReopened {
      try database.close()
      database = try Database(store: FileStore(path: Self.path, options: options))
    }
    device.setFull(true)
    for step in 0..<200 as Range<Int64> {
      let transaction = try database.beginWrite()
      let editor = try #require(try transaction.editTable(["a", "b", "c"][Int(step % 3)]))
      #expect(try editor.remove(key: step * 97))
      _ = try transaction.commit(durability: step % 5 == 0 ? .relaxed : .full)
    }
    let thinning = try database.beginWrite()
    let editor = try #require(try thinning.editTable("b"))
    for key in 0..<19_000 as Range<Int64> { try editor.remove(key: key) }
    _ = try thinning.commit()
    #expect(try database.verify().findings == [])
    #expect(try database.snapshot().table("b")?.groups[0].count == 1000 - 2)
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
