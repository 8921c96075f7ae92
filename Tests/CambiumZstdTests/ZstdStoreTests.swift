#if Zstd
  import CambiumCore
  import CambiumFile
  import CambiumZstd
  import Foundation
  import TestSupport
  import Testing

  /// Databases whose pages go through zstd.
  struct ZstdStoreTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("a.cambium") }

    init() throws { folder = try TemporaryFolder() }

    private func open(_ codec: ZstdCodec?) throws -> Database {
      try Database(store: FileStore(path: path, options: FileStoreOptions(codec: codec)))
    }

    private func text(_ number: Int) -> [UInt8] {
      Array("the value of number \(number), which is \(number * 7919 % 10_007), is text".utf8)
    }

    private func fill(_ database: Database, _ range: Range<Int>) throws {
      let transaction = try database.beginWrite()
      let tree = try transaction.editKeyTree("texts")
      for number in range {
        try Array("key \(number)".utf8).withUnsafeBytes { key in
          _ = try text(number).withUnsafeBytes { try tree.set(key, $0) }
        }
      }
      _ = try transaction.commit()
    }

    private func expect(_ database: Database, _ range: Range<Int>) throws {
      let tree = try #require(try database.snapshot().keyTree("texts"))
      #expect(tree.count == range.count)
      for number in range {
        #expect(try tree.value(for: Array("key \(number)".utf8)) == text(number))
      }
      #expect(try database.verify().findings == [])
    }

    private var byteCount: Int {
      get throws { try FileStore.inspect(path: path).fileByteCount }
    }

    @Test func `a store is smaller, may change its level, and is written on`() throws {
      let plain = try open(nil)
      try fill(plain, 0..<4000)
      try plain.close()
      _ = try FileStore.compact(path: path)
      let before = try byteCount
      _ = try FileStore.compact(
        path: path, recoding: { _ throws(StoreError) in try ZstdCodec(level: 3) })
      #expect(try byteCount * 2 < before)
      for (round, level) in [1, 19].enumerated() {
        let packed = try open(try ZstdCodec(level: level))
        #expect(packed.identity.codec == "zstd")
        try expect(packed, 0..<(4000 + round * 500))
        try fill(packed, (4000 + round * 500)..<(4500 + round * 500))
        try packed.close()
      }
      try expect(try open(try ZstdCodec()), 0..<5000)
      #expect(throws: StoreError.codecMismatch(path: path, found: "zstd", expected: "none")) {
        try open(nil)
      }
    }

    @Test func `a store keeps its dictionary, through compaction as well`() throws {
      let plain = try open(nil)
      try fill(plain, 0..<6000)
      try plain.close()
      _ = try FileStore.compact(
        path: path,
        recoding: { database throws(StoreError) in
          try ZstdCodec(dictionary: try ZstdCodec.dictionary(from: database, byteCount: 8 << 10))
        })
      for round in 0..<2 {
        let packed = try open(try ZstdCodec())
        let codec = try #require(
          try FileStore(path: path, options: FileStoreOptions(codec: try ZstdCodec())).boundCodec
            as? ZstdCodec)
        #expect(codec.dictionary?.isEmpty == false)
        try fill(packed, (6000 + round * 100)..<(6100 + round * 100))
        try expect(packed, 0..<(6100 + round * 100))
        try packed.close()
        _ = try FileStore.compact(path: path, codec: try ZstdCodec())
      }
    }

    @Test func `a lost dictionary is told at opening`() throws {
      let plain = try open(nil)
      try fill(plain, 0..<6000)
      try plain.close()
      _ = try FileStore.compact(
        path: path,
        recoding: { database throws(StoreError) in
          try ZstdCodec(dictionary: try ZstdCodec.dictionary(from: database, byteCount: 8 << 10))
        })
      let url = URL(fileURLWithPath: path)
      var bytes = try Data(contentsOf: url)
      for place in (4 * 4096)..<(5 * 4096) { bytes[place] = 0 }
      try bytes.write(to: url)
      let error = #expect(throws: StoreError.self) { try open(try ZstdCodec()) }
      #expect("\(String(describing: error))".contains("kept for codec zstd"))
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `damage anywhere is told, or mended`(seed: UInt64) throws {
      let packed = try open(try ZstdCodec())
      try fill(packed, 0..<3000)
      try packed.close()
      let url = URL(fileURLWithPath: path)
      let whole = try Data(contentsOf: url)
      var random = SeededGenerator(seed: seed)
      for _ in 0..<30 {
        var bytes = whole
        let place = Int.random(in: bytes.indices, using: &random)
        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        try bytes.write(to: url)
        do {
          let database = try open(try ZstdCodec())
          let tree = try #require(try database.snapshot().keyTree("texts"))
          for number in stride(from: 0, to: 3000, by: 50) {
            let found = try tree.value(for: Array("key \(number)".utf8))
            #expect(found == text(number))
          }
        } catch is StoreError {}
      }
    }
  }
#endif
