import CambiumCore
import CambiumFile
import TestSupport
import Testing

/// Damages a small file everywhere.
struct DamageTests {
  /// A closed file and what it holds.
  private static func makeFile(_ access: FileStoreOptions.Access) throws -> (
    bytes: [UInt8], content: FakeTree.Content
  ) {
    let device = SimulatedDevice()
    var options = CrashSettings.options(device)
    options.checkpointAfterRecordCount = 2
    let store = try FileStore(path: "simulated", options: options)
    var generator = SeededGenerator(seed: 12)
    var content: FakeTree.Content = []
    for round in 0..<6 {
      let writer = try store.beginWrite()
      let (root, next) = try FakeTree.change(
        writer, store, changeCount: round == 0 ? 4 : 1, generator: &generator)
      _ = try writer.publish(root: root, durability: .full, metadata: [1])
      content = next
    }
    try store.close()
    return (device.bytes, content)
  }

  /// What opening, reading and checking found wrong; nil when everything was right.
  private static func finding(_ bytes: [UInt8], _ content: FakeTree.Content) -> String? {
    do throws(StoreError) {
      let device = SimulatedDevice(bytes)
      let store = try FileStore(path: "simulated", options: CrashSettings.options(device))
      let reading = try FakeTree.read(store)
      if reading.content != content { return "WRONG" }
      let findings = try store.check(reachable: reading.extents)
      if let first = findings.first { return first }
      try StoreModel(store, seed: 1, durabilities: [.full]).commit()
      return nil
    } catch {
      return error.description
    }
  }

  @Test func `damage of a byte is an error or changes nothing`() throws {
    let (bytes, content) = try Self.makeFile(.buffered)
    #expect(Self.finding(bytes, content) == nil)
    var generator = SeededGenerator(seed: 1)
    var foundCount = 0
    for start in stride(from: 0, to: bytes.count, by: 512) {
      let sector = start..<min(start + 512, bytes.count)
      // Of sectors that hold nothing one byte will do.
      let isEmpty = bytes[sector].allSatisfy { $0 == 0 }
      for offset in isEmpty ? sector.prefix(1) : sector[...] {
        // A prime: any place of a field may be the one.
        guard Exhaustive.tries(offset, oneIn: 11) else { continue }
        var damaged = bytes
        damaged[offset] ^= UInt8.random(in: 1...255, using: &generator)
        let finding = Self.finding(damaged, content)
        #expect(finding != "WRONG", "byte \(offset)")
        if finding != nil { foundCount += 1 }
      }
    }
    #expect(foundCount > (Exhaustive.isWanted ? 1000 : 90))
  }

  @Test func `a cut file is an error or still whole`() throws {
    let (bytes, content) = try Self.makeFile(.buffered)
    var foundCount = 0
    for length in stride(from: 1, to: bytes.count, by: 256) {
      let finding = Self.finding(Array(bytes[..<length]), content)
      #expect(finding != "WRONG", "\(length) bytes")
      if finding != nil { foundCount += 1 }
    }
    #expect(foundCount > 10)
  }

  @Test func `one damaged head of a closed file loses nothing`() throws {
    let (bytes, content) = try Self.makeFile(.buffered)
    for slot in [4096, 8192] {
      var damaged = bytes
      damaged[slot + 20] ^= 1
      #expect(Self.finding(damaged, content) == nil)
    }
    var damaged = bytes
    damaged[4096 + 20] ^= 1
    damaged[8192 + 20] ^= 1
    #expect(Self.finding(damaged, content)?.contains("neither of the two heads") == true)
  }
}
