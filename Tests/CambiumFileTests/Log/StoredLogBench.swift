import CambiumCore
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// A database with some rows on a simulated device, whose file has a log for the next durable commits.
struct StoredLogBench {
  static let path = "simulated"

  let device: SimulatedDevice
  let memory = SharedMemory()
  let time = TimeByHand()
  let store: FileStore
  let database: Database
  var content: DatabaseContent
  var random: SeededGenerator

  init(
    seed: UInt64, byteCount: Int = 256 << 10, _ device: SimulatedDevice = SimulatedDevice()
  ) throws {
    self.device = device
    random = SeededGenerator(seed: seed)
    var options = Self.options(device)
    options.memory = memory
    options.lane = time.lane
    options.storedLogByteCount = byteCount
    store = try FileStore(path: Self.path, options: options)
    database = try Database(store: store)
    content = try DatabaseContent(of: database.snapshot())
    if !device.bytes.isEmpty, content != DatabaseContent() { return }
    let filling = try database.beginWrite()
    try content.fill(0..<30, filling)
    _ = try filling.commit()
  }

  /// Changes a row or so; what the device was asked to do for it.
  mutating func commit(
    _ durability: Durability = .full, metadata: [UInt8] = []
  ) throws -> [SimulatedDevice.Operation] {
    let before = device.operationCount
    let transaction = try database.beginWrite(expecting: durability)
    var changed = content
    try changed.changeRow(transaction, &random)
    _ = try transaction.commit(durability: durability, metadata: metadata)
    content = changed
    return Array(device.operations[before...])
  }

  /// Changes a row or so and lets the next writer in, as one does who waits for the medium together with others; the
  /// version.
  mutating func commitAwaited() throws -> Version {
    let transaction = try database.beginWrite(expecting: .relaxed)
    var changed = content
    try changed.changeRow(transaction, &random)
    let version = try transaction.commitAwaited().version
    content = changed
    return version
  }

  /// Commits until one leaves what it changes in the log.
  mutating func commitInLog() throws {
    for _ in 0..<100 { if isInLog(try commit()) { break } }
    #expect(store.memory.durableMark?.log != nil)
  }

  func isInLog(_ operations: [SimulatedDevice.Operation]) -> Bool {
    guard operations.count == 2, case .write(let bytes, _) = operations[0],
      case .sync = operations[1]
    else { return false }
    return bytes.starts(with: FileLayout.Batch.magicBytes)
      && bytes.count % FileLayout.blockByteCount == 0
  }

  /// What the medium holds for certain.
  mutating func image(mood: Double = 0) -> [UInt8] {
    device.crashImage(
      afterOperations: device.operationCount, mood: mood, generator: &random)
  }

  static func options(_ device: SimulatedDevice) -> FileStoreOptions {
    var options = CrashSettings.options(device)
    options.relaxedDelayNanoseconds = 3_600_000_000_000
    options.checkpointAfterRecordCount = 8
    // The file is not to become shorter.
    options.largestSlackByteCount = FileStoreOptions().largestSlackByteCount
    options.leastRelocatedByteCount = FileStoreOptions().leastRelocatedByteCount
    return options
  }

  static func open(_ image: [UInt8]) throws(StoreError) -> Database {
    try Database(store: FileStore(path: path, options: options(SimulatedDevice(image))))
  }

  static func content(_ image: [UInt8]) throws -> DatabaseContent {
    try DatabaseContent(of: open(image).snapshot())
  }

  /// What the next batch follows, and where it begins in the file.
  func next() throws -> (tail: StoredLog.Tail, byteOffset: Int) {
    let (newest, mark) = store.state.withLock { ($0.newest, $0.mark) }
    let tail = try #require(mark.log)
    return (tail, StoredLog(try #require(newest.log)).byteOffset(behind: tail))
  }

  /// A record of the next version that no commit has made.
  func strayRecord() -> [UInt8] {
    let (base, version) = store.state.withLock { ($0.newest.head.version, $0.newestHead.version) }
    return SharedLog.record(of: version + 1, after: base, metadata: [], byteLimit: 64) {
      $0.append(repeating: 0, count: 64, as: UInt8.self)
    }
  }

  /// A batch with `records` behind `tail`, which claims to make `version`, or the next one.
  func batch(
    _ records: [UInt8], making version: Version? = nil, behind tail: StoredLog.Tail
  ) -> [UInt8] {
    let version = version ?? store.state.withLock { $0.newestHead.version } + 1
    let epoch = store.state.withLock { $0.newest.head.epoch }
    return StoredLog.batch(
      records, making: version, epoch: epoch, behind: tail, in: store.sector
    ).stored
  }

  /// `image` with `bytes` at `offset`.
  static func image(_ image: [UInt8], with bytes: [UInt8], at offset: Int) -> [UInt8] {
    var image = image
    image.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    return image
  }
}
