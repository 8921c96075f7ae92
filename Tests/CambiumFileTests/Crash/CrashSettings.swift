import CambiumCore
import TestSupport

@testable import CambiumFile

/// What kind of work a run does.
struct CrashSettings {
  var commitCount = 9
  var durabilities: [Durability] = [.full, .relaxed]
  var sectorByteCount = 512
  /// Whether operations of the device fail now and then.
  var hasFaults = false
  /// Whether the store is closed and opened again now and then, and closed at the end.
  var closes = false

  /// What the work goes through on its way to the disk.
  @TaskLocal static var codec: (any PageCodec)?
  /// How large the file may be.
  @TaskLocal static var maximumByteCount: Int?

  /// How stores on a simulated device are opened.
  static func options(_ device: SimulatedDevice) -> FileStoreOptions {
    var options = FileStoreOptions(codec: codec)
    options.device = { _ in device }
    options.maximumByteCount = maximumByteCount
    options.gatheredByteCount = 16 << 10
    options.checkpointAfterRecordCount = 3
    options.largestSingleSyncByteCount = 24 << 10
    options.growthByteCount = 16 << 10
    options.largestSlackByteCount = 8 << 10
    options.spareByteCount = 4 << 10
    options.leastRelocatedByteCount = 16 << 10
    options.storedLogByteCount = 128 << 10
    options.unloggedCommitCount = 0
    options.relaxedByteCount = 64 << 10
    options.relaxedLimitByteCount = 128 << 10
    // Nothing happens by itself, and no time passes.
    options.lane = BackgroundLane(byHand: MonotonicClock { 0 })
    return options
  }

  /// Makes a file on `device` whose identity is drawn from `generator`.
  static func create(
    _ device: SimulatedDevice, using generator: inout SeededGenerator
  ) throws(StoreError) {
    let number = StoreNumber(
      high: .random(in: 1 ... .max, using: &generator),
      low: .random(in: 1 ... .max, using: &generator))
    try FileOpening.create(on: device, codec: codec, path: "simulated", number: number)
  }
}
