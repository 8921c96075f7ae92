#if Crypto
  import CambiumCore
  import CambiumCrypto
  import CambiumZstd
  import TestSupport
  import Testing

  /// Pages and records through AES: there and back, and for nobody and nowhere else.
  struct AESCodecTests {
    private static let store = StoreNumber(high: 11, low: 12)

    private func bound(
      key: UInt8 = 1, store: StoreNumber = store, parameters: [UInt8]? = nil
    ) throws -> any PageCodec {
      let codec = try AESCodec(key: Keys.key(key))
      return try codec.bound(
        to: store, parameters: parameters ?? (try codec.makeParameters(for: store)))
    }

    private func context(
      kind: PageKind = .columnLeaf, address: UInt64 = 256, born: Version = 7
    ) -> PageContext {
      PageContext(storeHigh: 11, storeLow: 12, kind: kind, address: address, born: born)
    }

    private func sealed(
      _ page: [UInt8], _ codec: any PageCodec, _ context: PageContext
    ) throws -> [UInt8] {
      var body = try codec.encode(page.span, kind: context.kind)
      try codec.seal(&body, context: context)
      return body
    }

    private func open(
      _ body: [UInt8], _ codec: any PageCodec, _ context: PageContext
    ) throws -> [UInt8] {
      try codec.open(body.span, context: context).withBytes { Array(copying: $0) }
    }

    @Test(arguments: [1, 34, 35, 36, 63, 64, 65, 99, 1000, 7936, 70_000])
    func `pages come back as they went, and fill whole units`(count: Int) throws {
      let codec = try bound()
      let page = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let body = try sealed(page, codec, context())
      #expect(body.count % 64 == 0 && body.count < count + 96)
      let opened = try open(body, codec, context())
      #expect(Array(opened.prefix(count)) == page)
      #expect(opened.count == (count + 63) / 64 * 64)
    }

    @Test func `no byte can be changed, and none left out`() throws {
      let codec = try bound()
      let body = try sealed([UInt8](repeating: 9, count: 300), codec, context())
      for index in body.indices {
        for bit in [0, 7] as [UInt8] {
          var changed = body
          changed[index] ^= 1 << bit
          #expect(throws: StoreError.self) { try open(changed, codec, context()) }
        }
      }
      for count in 0..<body.count {
        #expect(throws: StoreError.self) { try open(Array(body.prefix(count)), codec, context()) }
      }
      #expect(throws: StoreError.self) {
        try open(body + [UInt8](repeating: 0, count: 64), codec, context())
      }
    }

    @Test func `a page opens only at its place, in its time and in its store`() throws {
      let codec = try bound()
      let body = try sealed([UInt8](repeating: 9, count: 300), codec, context())
      let others = [
        context(kind: .keyLeaf), context(kind: .overflow), context(address: 257),
        context(born: 6), context(born: 7 + 4096),
      ]
      for other in others {
        #expect(throws: StoreError.self) { try open(body, codec, other) }
      }
      #expect(throws: StoreError.self) { try open(body, try bound(), context()) }
      #expect(throws: StoreError.self) { try open(body, try bound(key: 2), context()) }
      // The same key and salt, but another store.
      let parameters = try AESCodec(key: Keys.key(1)).makeParameters(for: Self.store)
      #expect(throws: StoreError.self) {
        try bound(store: StoreNumber(high: 11, low: 13), parameters: parameters)
      }
    }

    @Test func `no nonce is used twice, not even for the same page at the same place`() throws {
      let codec = try bound()
      var nonces: Set<[UInt8]> = []
      var bodies: Set<[UInt8]> = []
      for _ in 0..<3000 {
        let body = try sealed([1, 2, 3], codec, context())
        nonces.insert(Array(body.prefix(12)))
        bodies.insert(Array(body.dropFirst(12)))
      }
      #expect(nonces.count == 3000 && bodies.count == 3000)
      let records = (0..<1000).map { _ in
        codec.sealRecord([1, 2, 3], context: RecordContext(role: 16, place: 5, version: 9))
      }
      #expect(Set(records.map { Array($0[4..<16]) }).count == 1000)
    }

    @Test func `records open at their place only`() throws {
      let codec = try bound()
      let record = (0..<200).map { UInt8($0) }
      for version in [0, 4095, 70_000, (1 << 48) - 1] as [Version] {
        let place = RecordContext(role: 16, place: 5, version: version)
        let sealed = codec.sealRecord(record, context: place)
        #expect(sealed.count == record.count + codec.recordOverhead)
        #expect(try codec.openRecord(sealed, context: RecordContext(role: 16, place: 5)) == record)
        for other in [RecordContext(role: 17, place: 5), RecordContext(role: 16, place: 6)] {
          #expect(throws: StoreError.self) { try codec.openRecord(sealed, context: other) }
        }
        for index in sealed.indices {
          var changed = sealed
          changed[index] ^= 1
          #expect(throws: StoreError.self) {
            try codec.openRecord(changed, context: RecordContext(role: 16, place: 5))
          }
        }
      }
    }

    @Test func `a wrong key is told when a store is opened`() throws {
      let codec = try AESCodec(key: Keys.key(1))
      let parameters = try codec.makeParameters(for: Self.store)
      #expect(parameters != (try codec.makeParameters(for: Self.store)))
      _ = try bound(parameters: parameters)
      let error = #expect(throws: StoreError.self) { try bound(key: 2, parameters: parameters) }
      #expect("\(String(describing: error))".contains("the key is not the one"))
      for index in parameters.indices {
        var changed = parameters
        changed[index] ^= 0x10
        #expect(throws: StoreError.self) { try bound(parameters: changed) }
      }
      for count in 0..<parameters.count {
        #expect(throws: StoreError.self) {
          try bound(parameters: Array(parameters.prefix(count)))
        }
      }
    }

    @Test(arguments: [0, 1, 32, 63, 65, 128])
    func `a key has 64 bytes`(count: Int) {
      let key = CodecKey(copying: [UInt8](repeating: 1, count: count).span)
      let error = #expect(throws: StoreError.self) { try AESCodec(key: key) }
      #expect("\(String(describing: error))".contains("64 bytes"))
    }

    @Test func `an unbound codec seals no pages, and says why`() throws {
      let codec = try AESCodec(key: Keys.key(1))
      #expect(throws: StoreError.self) { try sealed([1], codec, context()) }
    }

    @Test func `it is found by its name, with a key`() throws {
      AESCodec.register()
      #expect(try CodecRegistry.codec("aes-256-gcm", key: Keys.key(1))?.name == "aes-256-gcm")
      #expect(throws: StoreError.self) { try CodecRegistry.codec("aes-256-gcm") }
      #expect(throws: StoreError.self) {
        try CodecRegistry.codec("aes-256-gcm:1", key: Keys.key(1))
      }
    }

    @Test func `keys go with their last user`() throws {
      weak var known: CodecKey?
      do {
        let key = Keys.key(1)
        known = key
        let codec = try AESCodec(key: key)
        let bound = try codec.bound(
          to: Self.store, parameters: try codec.makeParameters(for: Self.store))
        #expect(known != nil)
        _ = bound
      }
      #expect(known == nil)
    }

    #if Zstd
      @Test func `compressed pages are encrypted, and so is their dictionary`() throws {
        let samples = (0..<600).map { number in
          Array((0..<20).flatMap { Array("the word \($0 * number % 97) again ".utf8) })
        }
        let dictionary = try ZstdCodec.dictionary(from: samples, byteCount: 4096)
        let chain = CodecChain([
          try ZstdCodec(dictionary: dictionary), try AESCodec(key: Keys.key(1)),
        ])
        #expect(chain.name == "zstd+aes-256-gcm")
        let parameters = try chain.makeParameters(for: Self.store)
        #expect(!String(decoding: parameters, as: UTF8.self).contains("again"))
        let reader = CodecChain([try ZstdCodec(), try AESCodec(key: Keys.key(1))])
        let codec = try reader.bound(to: Self.store, parameters: parameters)
        for page in samples.prefix(20) {
          let body = try sealed(page, codec, context())
          #expect(body.count < page.count)
          #expect(try open(body, codec, context()).starts(with: page))
        }
      }
    #endif
  }
#endif
