import CambiumCore
import TestSupport
import Testing

/// Chains of codecs, and how they are named.
struct CodecChainTests {
  /// Doubles every byte, wherever the page is.
  private struct Doubling: PageCodec {
    let name: String
    let needsPlace = false
    var kept: [UInt8] = []

    func encode(_ page: Span<UInt8>, kind: PageKind) throws(StoreError) -> [UInt8] {
      withUnsafeBytes(of: UInt32(page.count).littleEndian) { Array($0) }
        + [UInt8](copying: page).flatMap { [$0, $0] }
    }
    func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}
    func open(
      _ body: Span<UInt8>, context: PageContext
    ) throws(StoreError) -> PageBuffer {
      let count = (0..<4).reduce(0) { $0 | Int(body[$1]) << (8 * $1) }
      let buffer = PageBuffer(byteCount: (count + 63) / 64 * 64)
      buffer.withMutableBytes { bytes in
        for index in 0..<count { bytes[index] = body[4 + 2 * index] }
      }
      return buffer
    }
    func makeParameters(for store: StoreNumber) throws(StoreError) -> [UInt8] {
      Array("a secret dictionary of \(name)".utf8)
    }
    func bound(
      to store: StoreNumber, parameters: [UInt8]
    ) throws(StoreError) -> any PageCodec { Doubling(name: name, kept: parameters) }
  }

  private let store = StoreNumber(high: 3, low: 4)

  private func context(_ address: UInt64) -> PageContext {
    PageContext(storeHigh: 3, storeLow: 4, kind: .columnLeaf, address: address, born: 5)
  }

  @Test func `pages go through a chain and come back`() throws {
    let chain = CodecChain([Doubling(name: "a"), Doubling(name: "b"), SealCodec()])
    #expect(chain.name == "a+b+seal")
    #expect(chain.needsPlace && chain.recordOverhead == 8)
    let bound = try chain.bound(to: store, parameters: try chain.makeParameters(for: store))
    let page = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    var body = try bound.encode(page.span, kind: .columnLeaf)
    let count = body.count
    try bound.seal(&body, context: context(9))
    #expect(body.count == count)
    let opened = try bound.open(body.span, context: context(9))
    #expect(withExtendedLifetime(opened) { Array(opened.page.buffer.prefix(1000)) } == page)
    #expect(throws: StoreError.self) {
      try bound.open(body.span, context: context(10))
    }
  }

  @Test func `what a chain keeps is sealed by its last codec`() throws {
    let chain = CodecChain([Doubling(name: "a"), SealCodec()])
    let kept = try chain.makeParameters(for: store)
    #expect(!String(decoding: kept, as: UTF8.self).contains("secret"))
    let open = CodecChain([Doubling(name: "a"), Doubling(name: "b")])
    let shown = try open.makeParameters(for: store)
    #expect(String(decoding: shown, as: UTF8.self).contains("secret"))
    for index in kept.indices {
      var damaged = kept
      damaged[index] ^= 0x40
      #expect(throws: StoreError.self) { try chain.bound(to: store, parameters: damaged) }
    }
    for count in 0..<kept.count {
      #expect(throws: StoreError.self) {
        try chain.bound(to: store, parameters: Array(kept.prefix(count)))
      }
    }
  }

  @Test func `names become codecs once they have joined`() throws {
    #expect(try CodecRegistry.codec("")?.name == nil)
    #expect(try CodecRegistry.codec("none")?.name == nil)
    let missing = #expect(throws: StoreError.self) { try CodecRegistry.codec("chain-test:1") }
    #expect("\(String(describing: missing))".contains("register()"))
    CodecRegistry.register(
      CodecRegistry.Entry(name: "chain-test") { parameter, _ throws(StoreError) in
        Doubling(name: "chain-test", kept: Array((parameter ?? "").utf8))
      })
    CodecRegistry.register(
      CodecRegistry.Entry(name: "chain-seal", needsKey: true) { _, _ throws(StoreError) in
        SealCodec()
      })
    #expect(CodecRegistry.names.contains("chain-test"))
    let codec = try #require(try CodecRegistry.codec("chain-test:9:x") as? Doubling)
    #expect(codec.kept == Array("9:x".utf8))
    #expect(throws: StoreError.self) { try CodecRegistry.codec("chain-test+chain-seal") }
    let key = CodecKey(copying: ([1, 2, 3] as [UInt8]).span)
    let chain = try #require(try CodecRegistry.codec("chain-test:1+chain-seal", key: key))
    #expect(chain.name == "chain-test+seal")
    #expect(throws: StoreError.self) {
      try CodecRegistry.codec("chain-seal+chain-test", key: key)
    }
    #expect(throws: StoreError.self) { try CodecRegistry.codec("chain-test+", key: key) }
    #expect(CodecRegistry.name(ofChain: "zstd:3+aes-256-gcm") == "zstd+aes-256-gcm")
  }

  @Test func `an error about a codec says how to get it, until it has joined`() {
    let mismatch = StoreError.codecMismatch(
      path: "/a", found: "chain-lost+chain-unknown", expected: "none")
    #expect(!"\(mismatch)".contains("chain-lost:"))
    CodecRegistry.register(missing: "chain-lost", advice: "Look under the bed")
    #expect("\(mismatch)".hasSuffix(" chain-lost: Look under the bed."))
    let unavailable = #expect(throws: StoreError.self) { try CodecRegistry.codec("chain-lost:3") }
    #expect("\(String(describing: unavailable))".contains("Look under the bed"))
    CodecRegistry.register(
      CodecRegistry.Entry(name: "chain-lost") { _, _ throws(StoreError) in
        Doubling(name: "chain-lost", kept: [])
      })
    #expect(!"\(mismatch)".contains("chain-lost:"))
    #expect(throws: Never.self) { try CodecRegistry.codec("chain-lost") }
  }

  @Test func `a key shows nothing of itself`() {
    let key = CodecKey(copying: Array("a very secret key".utf8).span)
    var text = "\(key) \(String(reflecting: key))"
    dump(key, to: &text)
    #expect(!text.contains("secret") && !text.contains("97"))
    #expect(key.withBytes { Array(copying: $0) } == Array("a very secret key".utf8))
    #expect(key.byteCount == 17)
  }
}
