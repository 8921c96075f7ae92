import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import CambiumFile

/// Files of earlier versions of this library, whose small commits left their heads beside their pages: the head before
/// says where, and the head itself names that one by its checksum.
struct FormerHeadTests {
  private static let cases = [false, true].flatMap { isSettled in
    LogCoding.allCases.map { (isSettled, $0) }
  }

  @Test(arguments: cases)
  func `a file that such a head follows is refused, not opened at an earlier version`(
    isSettled: Bool, coding: LogCoding
  ) throws {
    try coding {
      let file = try FormerFile()
      let error = #expect(throws: StoreError.self) {
        try FormerFile.open(file.followed(isSettled: isSettled))
      }
      guard case .leftUnfinished("simulated", let what) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(what.contains("version 4"))
      #expect(what.contains("open and close the file with that one"))
    }
  }

  @Test(arguments: cases)
  func `what only looks like such a head is none`(isSettled: Bool, coding: LogCoding) throws {
    let changes: [(inout HeadSector, inout UInt64) -> Void] = [
      { _, link in link &+= 1 }, { head, _ in head.head.version += 1 },
      { head, _ in head.uuidLow &+= 1 }, { head, _ in head.head.epoch += 1 },
      { head, _ in head.sequence += 1 }, { head, _ in head.durable -= 1 },
      { head, _ in head.isSettled = true },
    ]
    try coding {
      let file = try FormerFile()
      for change in changes {
        let store = try FormerFile.open(file.followed(isSettled: isSettled, change))
        #expect(try store.newestHead().version == 3)
      }
    }
  }

  @Test func `salvage reads the versions in the slots`() throws {
    let file = try FormerFile()
    let device = SimulatedDevice(file.followed(isSettled: true))
    let salvage = try SalvageFile(path: "simulated", options: CrashSettings.options(device))
    #expect(salvage.heads.first == file.newest.head)
  }

  @Test func `room of such heads is given back with their records`() throws {
    let folder = try TemporaryFolder()
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let path = folder.file("a.cambium")
    try FileManager.default.copyItem(
      at: tests.appendingPathComponent("FormatTests/Golden/format-2.cambium"),
      to: URL(fileURLWithPath: path))
    var options = FileStoreOptions()
    // Each version has a record and pages of its own.
    options.storedLogByteCount = 0
    let store = try FileStore(path: path, options: options)
    let database = try Database(store: store)
    func commit(_ number: UInt8) throws {
      let transaction = try database.beginWrite()
      try transaction.setValue("a value of the test", [number])
      _ = try transaction.commit()
    }
    try commit(0)
    #expect(store.books.withLock { $0.records.contains { $0.head != nil } })
    #expect(try database.verify().findings == [])
    for number in 1..<140 as Range<UInt8> { try commit(number) }
    #expect(store.books.withLock { $0.records.allSatisfy { $0.head == nil } })
    #expect(try database.verify().findings == [])
    try database.close()
  }
}

/// A file at version 3, to which a head can be added as an earlier version of this library left it.
private struct FormerFile {
  private let image: [UInt8]
  private let identity: IdentitySector
  let newest: HeadSector
  private let slot: Int

  init() throws {
    let device = SimulatedDevice()
    let store = try FileStore(path: "simulated", options: CrashSettings.options(device))
    let database = try Database(store: store)
    for number in 0..<3 as Range<UInt8> {
      let transaction = try database.beginWrite()
      try transaction.setValue("a", [UInt8](repeating: number, count: 1 << 20))
      _ = try transaction.commit()
    }
    let (slots, mark) = store.state.withLock { ($0.slots, $0.mark) }
    image = device.bytes
    identity = store.sector
    slot = mark.slot
    newest = try #require(slots[mark.slot])
    #expect(newest.head.version == 3)
  }

  static func open(_ image: [UInt8]) throws -> FileStore {
    try FileStore(path: "simulated", options: CrashSettings.options(SimulatedDevice(image)))
  }

  private typealias Field = FileLayout.Head

  /// The stored form of `head` at `offset` with these two fields of its former form, and the checksum that names it.
  private func stored(
    _ head: HeadSector, at offset: Int, link: UInt64, next: Int
  ) -> (bytes: [UInt8], link: UInt64) {
    let sector = StoredBytes(byteCount: FileLayout.sectorByteCount) { fields in
      fields.store(head.stored, at: 0)
      fields.store(link, at: Field.link)
      fields.store(UInt64(next), at: Field.next)
      fields.store(fields.checksum(before: Field.checksum), at: Field.checksum)
    }
    let place = HeadSector.place(atByte: offset)
    let sealed = identity.seal?.sealedHead(sector.bytes, place: place, version: head.head.version)
    return (sealed ?? sector.bytes, sector.load(Field.checksum, as: UInt64.self))
  }

  /// The file with a head of the version that follows in the block behind its end, changed by `change`; the head in
  /// the slot is settled or not.
  func followed(
    isSettled: Bool, _ change: (inout HeadSector, inout UInt64) -> Void = { _, _ in }
  ) -> [UInt8] {
    let offset = FileLayout.headOffsets[slot]
    var last = newest
    last.isSettled = isSettled
    var (bytes, link) = stored(
      last, at: offset, link: 0, next: image.count / FileLayout.blockByteCount)
    var follower = newest
    follower.head.version += 1
    follower.durable = newest.head.version
    follower.isSettled = false
    change(&follower, &link)
    var image = image
    image.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    bytes = stored(follower, at: image.count, link: link, next: 0).bytes
    return image + bytes
      + [UInt8](repeating: 0, count: FileLayout.blockByteCount - FileLayout.sectorByteCount)
  }
}
