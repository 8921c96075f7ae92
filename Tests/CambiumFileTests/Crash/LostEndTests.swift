import CambiumCore
import TestSupport
import Testing

@testable import CambiumFile

/// The end of a file that a failed sync has lost, while the system still shows it.
struct LostEndTests {
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `a file is as long as its heads say although a failed sync has lost its end`(
    seed: UInt64
  ) throws {
    // In large sectors, all of the end is lost at once.
    let device = SimulatedDevice(sectorByteCount: 4096)
    let memory = SharedMemory()
    var options = CrashSettings.options(device)
    options.memory = memory
    var generator = SeededGenerator(seed: seed)
    func write(_ store: FileStore, changeCount: Int) throws -> Head {
      let writer = try store.beginWrite()
      let (root, _) = try FakeTree.change(
        writer, store, changeCount: changeCount, generator: &generator)
      return try writer.publish(root: root, durability: .relaxed, metadata: []).head
    }
    do {
      let store = try FileStore(path: "simulated", options: options)
      _ = try write(store, changeCount: 5)
      try store.sync()
      // A large commit writes its pages behind the end, and then zeros up to where its head says that
      // the file ends.
      let head = try write(store, changeCount: 60 + Int(seed))
      #expect(head.version == 2)
      device.fail(device.operationCount, .refused)
      #expect(throws: StoreError.self) { try store.sync() }
      try? store.close()
    }
    // The system still has everything that it could not store.
    let store = try FileStore(path: "simulated", options: options)
    #expect(try store.newestHead().version == 2)
    try store.beginWrite().abort()
    var states = CrashStates(device)
    states.advance(to: device.operationCount, generator: &generator)
    let image = states.image(mood: 0, generator: &generator)
    let found = try FileStore(
      path: "simulated", options: CrashSettings.options(SimulatedDevice(image)))
    #expect(try found.newestHead().version == 2)
    let reading = try FakeTree.read(found)
    #expect(try found.check(reachable: reading.extents) == [])
    try found.close()
    try store.close()
  }
}
