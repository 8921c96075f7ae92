import CambiumCore
import CambiumStoreKit
import TestSupport
import Testing

@testable import CambiumFile

/// Pins the offsets of format version 2: a change here is a change of the format.
struct FileLayoutWhiteBoxTests {
  @Test func `fields lie where format version 2 says`() {
    typealias Identity = FileLayout.Identity
    #expect(
      [
        Identity.formatVersion, Identity.unitByteCount, Identity.blockByteCount,
        Identity.leafBlockCount, Identity.readFeatures, Identity.writeFeatures, Identity.uuid,
        Identity.checksumAlgorithm, Identity.kind, Identity.codec, Identity.checksum,
      ] == [16, 20, 24, 28, 32, 40, 48, 64, 72, 96, 504])
    typealias Head = FileLayout.Head
    #expect(
      [
        Head.sequence, Head.version, Head.epoch, Head.durable, Head.flags, Head.root, Head.record,
        Head.freeMap, Head.blockCount, Head.uuid, Head.boot, Head.checkpoints, Head.deadRoots,
        Head.checksum,
      ] == [8, 16, 24, 32, 40, 48, 88, 112, 136, 144, 160, 176, 200, 504])
    typealias Record = FileLayout.Record
    #expect(
      [
        Record.version, Record.epoch, Record.uuid, Record.previous, Record.next,
        Record.allocatedCount, Record.freedCount, Record.metadataByteCount, Record.touched,
        Record.byteCount,
      ] == [8, 16, 24, 40, 64, 88, 92, 96, 104, 128])
    typealias Directory = FileLayout.Directory
    #expect(
      [
        Directory.waitingCount, Directory.level, Directory.version, Directory.retired,
        Directory.blockCount, Directory.freeBlockCount, Directory.parts, Directory.byteCount,
        Directory.waitingByteCount,
      ] == [4, 8, 16, 24, 32, 40, 48, 304, 40])
    #expect(FileLayout.MapPart.place == 8 && FileLayout.MapPart.byteCount == 16)
    #expect(FileLayout.headOffsets == [4096, 8192] && FileLayout.firstBlock == 4)
  }

  @Test func `identity and heads read as they were written`() throws {
    let identity = IdentitySector(codec: "zstd+aes-256-gcm")
    #expect(try IdentitySector(stored: identity.stored, path: "a") == identity)
    var head = HeadSector(sequence: 7, identity: identity)
    head.head.version = 12
    head.durable = 11
    head.isSettled = false
    head.blockCount = 99
    head.record = PageReference(
      checksum: 1, extent: Extent(address: 300, unitCount: 4), rawKind: 16, born: 12)
    #expect(HeadSector(stored: head.stored, identity: identity, at: 4096) == head)
    #expect(HeadSector(stored: head.stored, identity: IdentitySector(codec: ""), at: 4096) == nil)
  }

  @Test func `a crafted head at the end of its numbers is read and not written on`() throws {
    let changes: [(inout HeadSector) -> Void] = [
      { $0.head.version = HeadSector.versionLimit - 1 },
      { $0.head.epoch = HeadSector.countLimit - 1 },
      { $0.sequence = HeadSector.countLimit - 1 },
    ]
    for (change, isSettled) in changes.flatMap({ [($0, true), ($0, false)] }) {
      let first = SimulatedDevice()
      var options = FileStoreOptions(access: .buffered)
      options.device = { _ in first }
      try FileStore(path: "simulated", options: options).close()
      var bytes = first.bytes
      let identity = try IdentitySector(stored: Array(bytes[..<512]), path: "simulated")
      var head = HeadSector(sequence: 3, identity: identity)
      change(&head)
      head.durable = head.head.version
      head.isSettled = isSettled
      bytes.replaceSubrange(4096..<4608, with: head.stored)
      let device = SimulatedDevice(bytes)
      options.device = { _ in device }
      let store = try FileStore(path: "simulated", options: options)
      #expect(try store.newestHead() == head.head)
      let error = #expect(throws: StoreError.self) { try store.beginWrite() }
      #expect("\(String(describing: error))".contains("cambium compact simulated"))
      try store.close()
      #expect(device.bytes == bytes)
    }
    var past = HeadSector(sequence: 3, identity: IdentitySector(codec: ""))
    let identity = IdentitySector(codec: "")
    past.uuidHigh = identity.uuidHigh
    past.uuidLow = identity.uuidLow
    past.sequence = .max
    #expect(HeadSector(stored: past.stored, identity: identity, at: 4096) == nil)
  }

  @Test func `unsynced data of an earlier version is refused`() throws {
    let first = SimulatedDevice()
    var options = FileStoreOptions(access: .buffered)
    options.device = { _ in first }
    try FileStore(path: "simulated", options: options).close()
    var bytes = first.bytes
    let identity = try IdentitySector(stored: Array(bytes[..<512]), path: "simulated")
    var head = HeadSector(sequence: 3, identity: identity)
    head.isSettled = false
    var stored = StoredBytes(head.stored)
    stored.put { fields in
      fields.store(FileLayout.Head.unsynced, at: FileLayout.Head.flags)
      fields.store(
        fields.checksum(before: FileLayout.Head.checksum), at: FileLayout.Head.checksum)
    }
    bytes.replaceSubrange(4096..<4608, with: stored.bytes)
    let device = SimulatedDevice(bytes)
    options.device = { _ in device }
    let error = #expect(throws: StoreError.self) {
      try FileStore(path: "simulated", options: options)
    }
    #expect(error?.description.contains("unsynced data") == true, "\(String(describing: error))")
    #expect(device.bytes == bytes)
  }

  @Test func `a file has up to 16 PiB`() {
    let identity = IdentitySector(codec: "")
    var head = HeadSector(sequence: 3, identity: identity)
    head.blockCount = HeadSector.blockLimit - 1
    #expect(HeadSector(stored: head.stored, identity: identity, at: 4096) == head)
    head.blockCount = HeadSector.blockLimit
    #expect(HeadSector(stored: head.stored, identity: identity, at: 4096) == nil)
    #expect(HeadSector.blockLimit * FileLayout.blockByteCount == 16 << 50)
  }

  @Test(arguments: [0, 5, 70_000, 200_000])
  func `a record of any length reads as it was written`(count: Int) throws {
    let identity = IdentitySector(codec: "")
    let device = SimulatedDevice()
    var record = CommitRecord(version: 5, epoch: 2, previous: .none)
    record.allocated = (0..<count).map {
      CommitRecord.Allocated(
        extent: Extent(address: UInt64(300 + $0), unitCount: 1), checksum: UInt64($0))
    }
    record.freed = (0..<(count / 2)).map {
      VersionLedger.Dead(
        extent: Extent(address: UInt64(900_000 + $0), unitCount: 1), born: UInt64($0 % 4))
    }
    record.keep([], [UInt8](repeating: 3, count: 1000))
    var next = PageReference.none
    var address: UInt64 = 256
    for var part in record.packedParts(uuidHigh: identity.uuidHigh, uuidLow: identity.uuidLow) {
      part.put { $0.store(next, at: FileLayout.Record.next) }
      let extent = Extent(address: address, unitCount: UInt64(part.bytes.count / 64))
      try device.write(part.bytes, at: extent.byteOffset)
      next = PageReference(
        checksum: part.checksum(before: part.bytes.count), extent: extent,
        rawKind: FileLayout.Kind.record, born: 5)
      address = extent.end
    }
    let read = try CommitRecord(at: next, identity: identity, device: device, path: "a")
    #expect(read.allocated == record.allocated)
    #expect(read.freed == record.freed)
    #expect(read.commits == record.commits)
    #expect(read.epoch == 2)
  }

  @Test func `a record keeps what the small commits before its version were given`() throws {
    func commit(_ version: Version, _ count: Int) -> CommitMetadata {
      CommitMetadata(
        version: version, epoch: 2, bytes: [UInt8](repeating: UInt8(version % 251), count: count))
    }
    func kept(_ small: [CommitMetadata]) throws -> [CommitMetadata] {
      let identity = IdentitySector(codec: "")
      let device = SimulatedDevice()
      var record = CommitRecord(version: 100, epoch: 2, previous: .none)
      record.keep(small, [1, 2, 3])
      let part = try #require(
        record.packedParts(uuidHigh: identity.uuidHigh, uuidLow: identity.uuidLow).first)
      let extent = Extent(address: 256, unitCount: UInt64(part.bytes.count / 64))
      try device.write(part.bytes, at: extent.byteOffset)
      let reference = PageReference(
        checksum: part.checksum(before: part.bytes.count), extent: extent,
        rawKind: FileLayout.Kind.record, born: 100)
      let read = try CommitRecord(at: reference, identity: identity, device: device, path: "a")
      #expect(read.commits == record.commits)
      return read.commits
    }
    let own = CommitMetadata(version: 100, epoch: 2, bytes: [1, 2, 3])
    #expect(try kept([]) == [own])
    let few = [commit(97, 0), commit(98, 5000), commit(99, 7)]
    #expect(try kept(few) == few + [own])
    // What does not follow one another is left out, and what is more than has to be kept.
    #expect(
      try kept([commit(96, 1), commit(98, 2), commit(99, 3)]).map(\.version) == [98, 99, 100])
    #expect(try kept([commit(97, 1), commit(98, 2)]) == [own])
    let many = (40..<100 as Range<Version>).map { commit($0, 9) }
    #expect(try kept(many) == many.suffix(CommitMetadata.keptCount - 1) + [own])
    let long = (90..<100 as Range<Version>).map { commit($0, 120 << 10) }
    #expect(try kept(long) == long.suffix(4) + [own])
  }
}
