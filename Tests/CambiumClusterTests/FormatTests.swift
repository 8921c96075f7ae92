import CambiumCore
import TestSupport
import Testing

@testable import CambiumCluster

@Suite struct ClusterFormatTests {
  @Test func `a header reads as it was written`() throws {
    var header = RootHeader(logStart: 8192)
    header.token = RootToken(epoch: 7, generation: 9, owner: 11)
    header.logGeneration = 8
    header.logEnd = 9000
    header.newestVersion = 5
    header.nextAddress = 77
    header.reservedEnd = 99
    header.floor = 3
    header.liveUnitCount = 70
    header.blockCount = 2
    header.isReleased = false
    header.spaceRecords = [SpaceRecordID(epoch: 1, number: 2), SpaceRecordID(epoch: 7, number: 8)]
    let bytes =
      header.bytes + [UInt8](repeating: 0, count: RootHeader.byteCount - header.bytes.count)
    #expect(try RootHeader(bytes, path: "x") == header)
  }

  @Test func `every changed byte of a header is noticed, and every cut`() throws {
    var header = RootHeader(logStart: 8192)
    header.spaceRecords = [SpaceRecordID(epoch: 1, number: 2)]
    let bytes = header.bytes
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << bit
        #expect(throws: StoreError.self) { try RootHeader(changed, path: "x") }
      }
      #expect(throws: StoreError.self) { try RootHeader(Array(bytes.prefix(index)), path: "x") }
    }
  }

  @Test(arguments: [0, 63, 1 << 20 + 1, .max] as [UInt32])
  func `a root whose blocks have no size of blocks is damaged`(unitCount: UInt32) throws {
    var identity = try RootIdentity(for: nil, blockByteCount: 4096)
    #expect(try RootIdentity(identity.bytes, path: "x").blockUnitCount == 64)
    identity.blockUnitCount = unitCount
    let bytes = identity.bytes
    let error = #expect(throws: StoreError.self) { try RootIdentity(bytes, path: "x") }
    guard case .damaged? = error else { return #expect(error == nil, "another error") }
  }

  @Test func `an extent is cut where blocks end`() {
    let layout = BlockLayout(unitCount: 100)
    #expect(
      layout.parts(of: Extent(address: 95, unitCount: 210)) == [
        .init(block: 0, offset: 95, unitCount: 5), .init(block: 1, offset: 0, unitCount: 100),
        .init(block: 2, offset: 0, unitCount: 100), .init(block: 3, offset: 0, unitCount: 5),
      ])
    #expect(layout.roundUp(100) == 100)
    #expect(layout.roundUp(101) == 200)
  }
}
