import CambiumCore
import CambiumStoreContract
import TestSupport
import Testing

@testable import CambiumFile

/// The file store keeps the contract's promises about media, over a simulated one.
struct MediumTests {
  private static let subject: StoreSubject = {
    var subject = StoreSubject("simulated file") { place throws(StoreError) in
      try FileStore(path: place.path, options: FileStoreOptions(codec: place.codec))
    }
    subject.medium = { SimulatedMedium(SimulatedDevice()) }
    return subject
  }()

  @Test(arguments: [subject, subject.with(codec: "mask") { MaskCodec() }], StoreContract.media)
  func `the store keeps its promise`(
    subject: StoreSubject, promise: ContractCase<StoreSubject>
  ) {
    #expect(promise.check(subject).findings == [])
  }
}

/// A simulated device as a medium of the contract.
private final class SimulatedMedium: FillableMedium, FaultyMedium {
  private let device: SimulatedDevice

  init(_ device: SimulatedDevice) { self.device = device }

  func open(codec: (any PageCodec)?) throws(StoreError) -> any PageStore {
    var options = CrashSettings.options(device)
    options.codec = codec
    return try FileStore(path: "simulated", options: options)
  }

  var operationCount: Int { device.operationCount }

  func afterPowerLoss(atOperation operation: Int, seed: UInt64) -> any StoreMedium {
    var generator = SeededGenerator(seed: seed)
    let mood = [0.0, 0.5, 1.0].randomElement(using: &generator) ?? 0.5
    let image = device.crashImage(
      afterOperations: operation, mood: mood, generator: &generator)
    return SimulatedMedium(SimulatedDevice(image))
  }

  func setFull(_ isFull: Bool) { device.setFull(isFull) }
  func failOperation(_ index: Int) { device.fail(index, .refused) }
  func endFault() -> Bool { device.endFault() }
}
