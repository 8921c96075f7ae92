import CambiumCore
import TestSupport
import Testing

@testable import CambiumFile

/// Epochs tell versions apart that have the same number.
struct EpochTests {
  private func open(_ device: SimulatedDevice) throws -> FileStore {
    try FileStore(path: "simulated", options: CrashSettings.options(device))
  }

  /// A disk with what survives when nothing that was not synced does.
  private func afterPowerLoss(_ device: SimulatedDevice) -> SimulatedDevice {
    var generator = SeededGenerator(seed: 1)
    var states = CrashStates(device)
    states.advance(to: device.operationCount, generator: &generator)
    return SimulatedDevice(states.image(mood: 0, generator: &generator))
  }

  @Test(arguments: [Durability.relaxed, .full])
  func `a version that power took after a clean close is given again in another epoch only`(
    first: Durability
  ) throws {
    var device = SimulatedDevice()
    let maker = try open(device)
    try maker.commitChanges(3, seed: 1)
    try maker.close()
    var points: [CrashPoint] = []
    for seed in 2..<6 as Range<UInt64> {
      let store = try open(device)
      if first == .full { try store.commitChanges(3, seed: seed, .full) }
      try store.commitChanges(3, seed: seed, .relaxed)
      points.append(CrashPoint(try store.newestHead()))
      device = afterPowerLoss(device)
      try store.close()
    }
    #expect(Set(points).count == points.count)
    #expect(points == points.sorted())
  }

  @Test func `who opens a file and writes nothing begins no epoch and writes nothing`() throws {
    let device = SimulatedDevice()
    let maker = try open(device)
    try maker.commitChanges(3, seed: 1)
    let head = try maker.newestHead()
    try maker.close()
    let count = device.operationCount
    let store = try open(device)
    try store.sync()
    #expect(try store.newestHead() == head)
    try store.close()
    #expect(device.operationCount == count)
  }
}
