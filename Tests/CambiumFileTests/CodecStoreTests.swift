import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import CambiumFile

/// What a codec asks of a file: to keep something for it, and to let it seal heads and records.
struct CodecStoreTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  private func options(_ codec: SealCodec) -> FileStoreOptions {
    var options = FileStoreOptions(codec: codec)
    options.checkpointAfterRecordCount = 3
    return options
  }

  /// Commits `values` one by one under their numbers.
  private func write(_ range: Range<Int>, to database: Database) throws {
    for number in range {
      let transaction = try database.beginWrite()
      let value = [UInt8](repeating: UInt8(number % 251), count: 300)
      try transaction.setValue("value \(number)", value)
      _ = try transaction.commit()
    }
  }

  private func expect(_ range: Range<Int>, in database: Database) throws {
    let snapshot = try database.snapshot()
    for number in range {
      let value = try snapshot.value("value \(number)")
      #expect(value == [UInt8](repeating: UInt8(number % 251), count: 300))
    }
    #expect(try database.verify().findings == [])
  }

  private var bytes: [UInt8] {
    get throws { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
  }

  @Test(arguments: [0, 1, 4096, 4097, 200_000])
  func `a file keeps what its codec wants kept`(count: Int) throws {
    let codec = SealCodec(parameterByteCount: count)
    for round in 0..<3 {
      let database = try Database(store: FileStore(path: path, options: options(codec)))
      try write(round * 20..<round * 20 + 20, to: database)
      try expect(0..<round * 20 + 20, in: database)
      try database.close()
    }
    let identity = try IdentitySector(stored: Array(try bytes[..<512]), path: path)
    #expect(identity.parameterByteCount == count)
    #expect(identity.firstBlock == 4 + (count + 4095) / 4096)
    #expect(identity.readFeatures == FileLayout.codecFeature | FileLayout.logFeature)
  }

  @Test func `several users follow each other through sealed heads`() throws {
    let codec = SealCodec()
    let first = try Database(store: FileStore(path: path, options: options(codec)))
    let second = try Database(store: FileStore(path: path, options: options(codec)))
    for round in 0..<8 {
      try write(round..<round + 1, to: round % 2 == 0 ? first : second)
      try expect(0..<round + 1, in: round % 2 == 0 ? second : first)
    }
    try first.close()
    try expect(0..<8, in: second)
    try second.close()
    try expect(0..<8, in: Database(store: FileStore(path: path, options: options(codec))))
  }

  @Test func `heads and records show nothing`() throws {
    var options = options(SealCodec())
    // A batch in the log says to which file it belongs.
    options.storedLogByteCount = 0
    let database = try Database(store: FileStore(path: path, options: options))
    try write(0..<30, to: database)
    let identity = database.identity
    try database.close()
    let number = withUnsafeBytes(of: identity.uuid.0.littleEndian) { Array($0) }
    let stored = try bytes
    // Plain heads, records and pages of records repeat the store's number; here only the identity does.
    let places = stored.indices.dropLast(8).filter { stored[$0] == number[0] }
      .filter { Array(stored[$0..<$0 + 8]) == number }
    #expect(places == [FileLayout.Identity.uuid])
  }

  @Test func `another secret opens nothing`() throws {
    try Database(store: FileStore(path: path, options: options(SealCodec()))).close()
    let before = try bytes
    #expect(throws: StoreError.self) {
      try FileStore(path: path, options: options(SealCodec(secret: 2)))
    }
    #expect(throws: StoreError.codecMismatch(path: path, found: "seal", expected: "none")) {
      try FileStore(path: path)
    }
    #expect(try bytes == before)
  }

  @Test func `what is kept is checked`() throws {
    try Database(store: FileStore(path: path, options: options(SealCodec()))).close()
    var stored = try bytes
    stored[16384 + 7] ^= 1
    try Data(stored).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: StoreError.self) {
      try FileStore(path: path, options: options(SealCodec()))
    }
    #expect("\(String(describing: error))".contains("kept for codec seal"))
  }

  @Test func `compaction, salvage and repair go through the codec`() throws {
    let codec = SealCodec()
    let database = try Database(store: FileStore(path: path, options: options(codec)))
    try write(0..<40, to: database)
    try database.close()
    let report = try FileStore.compact(path: path, codec: codec)
    #expect(report.byteCountAfter <= report.byteCountBefore)
    #expect(
      try FileStore.repairFreeMap(path: path, options: options(codec), codec: codec) == [])
    do {
      let file = try SalvageFile(path: path, options: options(codec))
      let saved = try Database(store: HeapStore())
      #expect(try Salvage(store: file).run(into: saved).losses.isEmpty)
      try expect(0..<40, in: saved)
    }
    let inspection = try FileStore.inspect(path: path, codec: codec)
    #expect(inspection.slots.allSatisfy { $0 != nil })
    #expect(try FileStore.inspect(path: path).slots.allSatisfy { $0 == nil })
    // Without a codec, and back into another one.
    _ = try FileStore.compact(path: path, codec: codec, recoding: { _ in nil })
    try expect(0..<40, in: Database(store: FileStore(path: path)))
    _ = try FileStore.compact(path: path, recoding: { _ in SealCodec(secret: 9) })
    try expect(
      0..<40, in: Database(store: FileStore(path: path, options: options(SealCodec(secret: 9)))))
  }

  @Test func `a codec's name has to fit`() throws {
    let codec = MaskCodec(name: String(repeating: "m", count: 65))
    #expect(throws: StoreError.tooLarge(what: "A codec's name", byteCount: 65, limit: 64)) {
      try FileStore(path: path, options: FileStoreOptions(codec: codec))
    }
    #expect(throws: StoreError.self) {
      try FileStore(
        path: path, options: options(SealCodec(parameterByteCount: (1 << 20) + 1)))
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
