import CambiumCore
import CambiumFile
import TestSupport
import Testing

/// Salvage from a medium that refuses reads.
@Suite struct SalvageMediumTests {
  @Test func `an error of the system ends it, also while scanning, and nothing is kept`()
    throws
  {
    var damaged = try SalvageSample.makeFile()
    for offset in [4096 + 30, 8192 + 30] { damaged[offset] ^= 1 }
    // No such device.
    let code: Int32 = 6
    let failure = StoreError.system(operation: "read", path: "simulated", code: code)
    func run(failingRead index: Int?) throws -> (Int, Database, Result<SalvageReport, any Error>) {
      let device = SimulatedDevice(damaged)
      if let index { device.failRead(index, code: code) }
      let (database, _) = try SalvageSample.open([])
      let result = Result {
        let file = try SalvageFile(path: "simulated", options: SalvageSample.options(device))
        return try Salvage(store: file).run(into: database)
      }
      return (device.readCount, database, result)
    }
    let (readCount, _, success) = try run(failingRead: nil)
    #expect(try success.get().saved.count > 3)
    for index in 0..<readCount where Exhaustive.tries(index, oneIn: 5) {
      let (count, database, result) = try run(failingRead: index)
      #expect(count == index + 1, "read \(index)")
      #expect(throws: failure, "read \(index)") { try result.get() }
      #expect(try database.snapshot().names(withPrefix: "") == [], "read \(index)")
      #expect(try database.snapshot().version == 0, "read \(index)")
    }
  }

  @Test func `a block that the medium has lost is damage like any other`() throws {
    let bytes = try SalvageSample.makeFile()
    var lostCount = 0
    for block in 0..<bytes.count / 4096 {
      let range = block * 4096..<(block + 1) * 4096
      var zeroed = bytes
      zeroed.replaceSubrange(range, with: repeatElement(0, count: range.count))
      func salvage(_ device: SimulatedDevice) throws -> (SalvageReport, SalvageSample.Content) {
        let (database, _) = try SalvageSample.open([])
        let file = try SalvageFile(path: "simulated", options: SalvageSample.options(device))
        let report = try Salvage(store: file).run(into: database)
        return (report, try SalvageSample.content(database))
      }
      let device = SimulatedDevice(bytes)
      device.lose(range)
      var (report, content) = try salvage(device)
      #expect(report.unreadable == [range] || report.unreadable == [], "block \(block)")
      if report.unreadable.isEmpty { #expect(report.losses == [], "block \(block)") }
      if !report.losses.isEmpty { lostCount += 1 }
      report.unreadable = []
      let (expected, rest) = try salvage(SimulatedDevice(zeroed))
      #expect(report == expected, "block \(block)")
      #expect(content == rest, "block \(block)")
    }
    #expect(lostCount > 20)
  }

  @Test func `a read that fails once loses nothing`() throws {
    let bytes = try SalvageSample.makeFile()
    let (whole, database) = try SalvageSample.salvage(bytes)
    let content = try SalvageSample.content(database)
    var index = 0
    var readCount = Int.max
    while index < readCount {
      defer { index += 1 }
      guard Exhaustive.tries(index, oneIn: 5) else { continue }
      let device = SimulatedDevice(bytes)
      device.failRead(index)
      let (database, _) = try SalvageSample.open([])
      let file = try SalvageFile(path: "simulated", options: SalvageSample.options(device))
      let report = try Salvage(store: file).run(into: database)
      #expect(report == whole, "read \(index)")
      #expect(try SalvageSample.content(database) == content, "read \(index)")
      readCount = device.readCount
    }
    #expect(index > 20)
  }

  @Test func `a medium that gives nothing back is named, not the file`() throws {
    let bytes = try SalvageSample.makeFile()
    let device = SimulatedDevice(bytes)
    device.lose(0..<bytes.count)
    #expect(throws: StoreError.system(operation: "read", path: "simulated", code: 5)) {
      _ = try SalvageFile(path: "simulated", options: SalvageSample.options(device))
    }
  }
}
