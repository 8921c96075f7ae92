#if Zstd
  import CambiumCore
  import CambiumFile
  import CambiumZstd
  import Foundation
  import TestSupport
  import Testing

  /// Pages through zstd: there and back, refused when they are damaged, in stores.
  struct ZstdCodecTests {
    private static let context = PageContext(
      storeHigh: 1, storeLow: 2, kind: .columnLeaf, address: 3, born: 4)

    private func encode(_ page: [UInt8], _ codec: any PageCodec) throws -> [UInt8] {
      try codec.encode(page.span, kind: .columnLeaf)
    }

    private func open(_ body: [UInt8], _ codec: any PageCodec) throws -> [UInt8] {
      try codec.open(body.span, context: Self.context).withBytes { Array(copying: $0) }
    }

    /// Pages of every kind of content: text, counters, noise, all alike.
    private func pages(seed: UInt64) -> [[UInt8]] {
      var random = SeededGenerator(seed: seed)
      var pages: [[UInt8]] = []
      for count in [1, 2, 63, 64, 65, 500, 7936, 8192, 65_536, 300_000] {
        pages.append([UInt8](repeating: 7, count: count))
        pages.append((0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) })
        pages.append((0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &random) })
        let rows = (0...count / 6).flatMap { Array("row \($0 % 90) ".utf8) }
        pages.append(Array(rows.prefix(count)))
      }
      return pages
    }

    @Test(arguments: [1, 3, 9, 19, 22])
    func `pages come back as they went`(level: Int) throws {
      let codec = try ZstdCodec(level: level)
      for page in pages(seed: UInt64(level)) {
        let body = try encode(page, codec)
        #expect(body.count <= page.count + 1)
        // Stores give bodies back with zeros up to a whole unit.
        let stored = body + [UInt8](repeating: 0, count: -body.count & 63)
        let opened = try open(stored, codec)
        #expect(Array(opened.prefix(page.count)) == page)
        #expect(opened.count % 64 == 0)
        #expect(opened.dropFirst(page.count).allSatisfy { $0 == 0 })
      }
    }

    @Test func `what does not shrink stays as it is`() throws {
      var random = SeededGenerator(seed: 5)
      let noise = (0..<4096).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
      let body = try encode(noise, try ZstdCodec(level: 22))
      #expect(body == [0] + noise)
      let alike = try encode([UInt8](repeating: 1, count: 4096), try ZstdCodec())
      #expect(alike[0] == 1 && alike.count < 64)
    }

    @Test(arguments: [-1, 0, 23, 100])
    func `a level that zstd lacks is an error`(level: Int) {
      let error = #expect(throws: StoreError.self) { try ZstdCodec(level: level) }
      #expect("\(String(describing: error))".contains("1 to 22"))
    }

    @Test func `levels are named behind a colon`() throws {
      ZstdCodec.register()
      #expect((try CodecRegistry.codec("zstd") as? ZstdCodec)?.level == 3)
      #expect((try CodecRegistry.codec("zstd:19") as? ZstdCodec)?.level == 19)
      for chain in ["zstd:", "zstd:x", "zstd:0", "zstd:23", "zstd:3:4"] {
        #expect(throws: StoreError.self) { try CodecRegistry.codec(chain) }
      }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `damaged bodies give an error or some page, and never more than a page's room`(
      seed: UInt64
    ) throws {
      var random = SeededGenerator(seed: seed)
      let codec = try ZstdCodec()
      for page in pages(seed: seed) where page.count < 9000 {
        let body = try encode(page, codec)
        for _ in 0..<40 {
          var damaged = body
          for _ in 0...Int.random(in: 0..<3, using: &random) {
            damaged[Int.random(in: damaged.indices, using: &random)] = .random(
              in: 0 ... .max, using: &random)
          }
          let count = Int.random(in: 0...damaged.count, using: &random)
          let cut = Bool.random(using: &random) ? damaged : Array(damaged.prefix(count))
          if let opened = try? open(cut, codec) { #expect(opened.count <= 65_536 * 64) }
        }
      }
    }

    @Test func `a size that no page has is refused before there is room for it`() throws {
      let codec = try ZstdCodec()
      var body = try encode([UInt8](repeating: 7, count: 100_000), codec)
      // The frame's header: four bytes of magic, a byte that says how the size is written, the size.
      #expect(Array(body[4..<8]) == [0x28, 0xb5, 0x2f, 0xfd])
      #expect(body[8] >> 6 == 2)
      for index in 9..<13 { body[index] = 0xff }
      let error = #expect(throws: StoreError.self) { try open(body, codec) }
      #expect("\(String(describing: error))".contains("a size that no page has"))
      // An empty frame, and one that can be skipped.
      for frame in [
        [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0], [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0],
      ]
        as [[UInt8]]
      {
        #expect(throws: StoreError.self) {
          try open([1, UInt8(frame.count), 0, 0] + frame, codec)
        }
      }
    }

    @Test func `many threads share the contexts`() async throws {
      let codec = try ZstdCodec()
      let pages = pages(seed: 3).filter { $0.count < 70_000 }
      let failures = await withTaskGroup(of: Int.self) { group in
        for worker in 0..<8 {
          group.addTask {
            var failures = 0
            for round in 0..<20 {
              let page = pages[(worker * 7 + round) % pages.count]
              guard let body = try? self.encode(page, codec),
                let opened = try? self.open(body, codec), opened.starts(with: page)
              else {
                failures += 1
                continue
              }
            }
            return failures
          }
        }
        return await group.reduce(0, +)
      }
      #expect(failures == 0)
    }

    // MARK: Dictionaries

    /// Small pages that are alike.
    private func alike(_ count: Int, seed: UInt64) -> [[UInt8]] {
      var random = SeededGenerator(seed: seed)
      return (0..<count).map { _ in
        var page: [UInt8] = []
        for _ in 0..<12 {
          let number = Int.random(in: 0..<1000, using: &random)
          page += Array("{'name': 'person \(number)', 'city': 'Springfield', 'age': 41}, ".utf8)
        }
        return page
      }
    }

    @Test func `a dictionary helps, and is needed to read`() throws {
      let dictionary = try ZstdCodec.dictionary(from: alike(400, seed: 1), byteCount: 4096)
      #expect(dictionary.count <= 4096)
      let plain = try ZstdCodec()
      let trained = try ZstdCodec(dictionary: dictionary)
      var sizes = (0, 0)
      for page in alike(50, seed: 2) {
        let body = try encode(page, trained)
        sizes = (sizes.0 + (try encode(page, plain)).count, sizes.1 + body.count)
        #expect(try open(body, trained).starts(with: page))
        #expect(throws: StoreError.self) { try open(body, plain) }
      }
      #expect(sizes.1 * 3 < sizes.0 * 2)
      let other = try ZstdCodec.dictionary(from: alike(400, seed: 9), byteCount: 4000)
      let page = alike(1, seed: 3)[0]
      #expect(throws: StoreError.self) {
        try open(try encode(page, trained), try ZstdCodec(dictionary: other))
      }
    }

    @Test func `too little to learn from is an error, and so are bytes that are no dictionary`() {
      #expect(throws: StoreError.self) { try ZstdCodec.dictionary(from: [[1, 2, 3]]) }
      #expect(throws: StoreError.self) { try ZstdCodec.dictionary(from: []) }
      #expect(throws: StoreError.self) {
        try ZstdCodec(dictionary: [UInt8](repeating: 3, count: 100))
      }
    }
  }
#endif
