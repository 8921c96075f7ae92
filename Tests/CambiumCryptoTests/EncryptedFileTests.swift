#if Crypto
  import CambiumCore
  import CambiumCrypto
  import CambiumFile
  import CambiumZstd
  import Foundation
  import TestSupport
  import Testing

  /// Encrypted files as an attacker finds them.
  struct EncryptedFileTests {
    private func options(_ device: MemoryDevice, key: UInt8? = 1) throws -> FileStoreOptions {
      var options = FileStoreOptions(
        access: .buffered, codec: try key.map { try AESCodec(key: Keys.key($0)) })
      options.device = { _ in device }
      return options
    }

    private func open(_ device: MemoryDevice, key: UInt8? = 1) throws -> Database {
      try Database(store: FileStore(path: "memory", options: try options(device, key: key)))
    }

    private static let secret = Array("the treasure lies under the old oak".utf8)

    /// A few commits of a few values.
    private func fill(_ device: MemoryDevice) throws {
      let database = try open(device)
      for round in 0..<3 as Range<UInt8> {
        let transaction = try database.beginWrite()
        try transaction.setValue("secret \(round)", Self.secret + [round])
        let tree = try transaction.editKeyTree("names")
        for number in 0..<20 {
          try Array("key \(round) \(number)".utf8).withUnsafeBytes { key in
            _ = try Self.secret.withUnsafeBytes { try tree.set(key, $0) }
          }
        }
        _ = try transaction.commit()
      }
      try database.close()
    }

    /// Reads everything; true when it is what was written, and throws or fails otherwise.
    private func readsAll(_ database: Database) throws -> Bool {
      let snapshot = try database.snapshot()
      for round in 0..<3 as Range<UInt8> {
        guard try snapshot.value("secret \(round)") == Self.secret + [round] else { return false }
      }
      guard let tree = try snapshot.keyTree("names"), tree.count == 60 else { return false }
      for round in 0..<3 {
        for number in 0..<20 {
          guard try tree.value(for: Array("key \(round) \(number)".utf8)) == Self.secret else {
            return false
          }
        }
      }
      return true
    }

    @Test func `nothing of the content can be read in the file`() throws {
      let device = MemoryDevice()
      try fill(device)
      #expect(try readsAll(open(device)))
      let text = String(decoding: device.bytes, as: UTF8.self)
      for word in ["treasure", "secret", "names", "key 1"] { #expect(!text.contains(word)) }
      #expect(text.contains("aes-256-gcm"))
    }

    @Test func `without the key, with another, or none where there should be, nothing opens`()
      throws
    {
      let device = MemoryDevice()
      try fill(device)
      let before = device.bytes
      #expect(
        throws: StoreError.codecMismatch(
          path: "memory", found: "aes-256-gcm", expected: "none")
      ) { try open(device, key: nil) }
      let error = #expect(throws: StoreError.self) { try open(device, key: 2) }
      guard case .codecFailure(codec: "aes-256-gcm", _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(device.bytes == before)
      let plain = MemoryDevice()
      try open(plain, key: nil).close()
      #expect(
        throws: StoreError.codecMismatch(
          path: "memory", found: "none", expected: "aes-256-gcm")
      ) { try open(plain) }
    }

    /// Every byte that is not zero, and some that are.
    private static let shares = 4
    @Test(arguments: 0..<shares)
    func `a change of a byte is told, or changes nothing`(share: Int) throws {
      let device = MemoryDevice()
      try fill(device)
      let whole = device.bytes
      var toldCount = 0
      var tried = 0
      for place in whole.indices where whole[place] != 0 || place % 64 == 5 {
        tried += 1
        guard tried % Self.shares == share, Exhaustive.tries(tried / Self.shares, oneIn: 7) else {
          continue
        }
        var bytes = whole
        bytes[place] ^= place % 2 == 0 ? 0x01 : 0x80
        do {
          let database = try open(MemoryDevice(bytes))
          #expect(try readsAll(database), "byte \(place)")
        } catch is StoreError {
          toldCount += 1
        }
      }
      #expect(toldCount > (Exhaustive.isWanted ? 100 : 14))
    }

    @Test func `pages that change places, with all checksums right, are refused`() throws {
      let device = MemoryDevice()
      try fill(device)
      let first = try open(device)
      let before = device.bytes
      let transaction = try first.beginWrite()
      try transaction.setValue("secret 0", Array("moved".utf8))
      _ = try transaction.commit()
      try first.close()
      // Any block of the older file in the place of any other: sealed heads among them.
      var opened = 0
      for from in 1..<before.count / 4096 {
        for to in 1..<before.count / 4096 where from != to {
          guard Exhaustive.tries(from &* 31 &+ to, oneIn: 5) else { continue }
          var bytes = device.bytes
          bytes.replaceSubrange(
            to * 4096..<(to + 1) * 4096, with: before[from * 4096..<(from + 1) * 4096])
          do {
            let database = try open(MemoryDevice(bytes))
            let value = try database.snapshot().value("secret 0")
            #expect(value == Array("moved".utf8) || value == Self.secret + [0])
            opened += 1
          } catch is StoreError {}
        }
      }
      #expect(opened > 0)
    }

    @Test func `a file made from the parts of two with the same key does not open`() throws {
      let devices = [MemoryDevice(), MemoryDevice()]
      for device in devices { try fill(device) }
      let (first, second) = (devices[0].bytes, devices[1].bytes)
      for place in [4096, 8192, 16_384] {
        var bytes = first
        bytes.replaceSubrange(place..<place + 4096, with: second[place..<place + 4096])
        if place == 16_384 {
          #expect(throws: StoreError.self) { try open(MemoryDevice(bytes)) }
        } else {
          // The other slot has the same version.
          #expect(try readsAll(open(MemoryDevice(bytes))))
        }
      }
    }

    @Test func `a key is changed by compaction`() throws {
      let folder = try TemporaryFolder()
      let path = folder.file("a.cambium")
      let device = MemoryDevice()
      try fill(device)
      try Data(device.bytes).write(to: URL(fileURLWithPath: path))
      _ = try FileStore.compact(
        path: path, codec: try AESCodec(key: Keys.key(1)),
        recoding: { _ throws(StoreError) in try AESCodec(key: Keys.key(2)) })
      func open(_ key: UInt8) throws -> Database {
        try Database(
          store: FileStore(
            path: path, options: FileStoreOptions(codec: try AESCodec(key: Keys.key(key)))))
      }
      #expect(throws: StoreError.self) { try open(1) }
      let database = try open(2)
      #expect(try readsAll(database))
      #expect(try database.verify().findings == [])
      try database.close()
      // Compaction with the same key makes a new salt.
      let before = try Data(contentsOf: URL(fileURLWithPath: path))[16_384..<16_480]
      _ = try FileStore.compact(path: path, codec: try AESCodec(key: Keys.key(2)))
      #expect(try Data(contentsOf: URL(fileURLWithPath: path))[16_384..<16_480] != before)
      #expect(try readsAll(open(2)))
    }

    @Test func `two users of one file see each other's commits`() throws {
      let folder = try TemporaryFolder()
      let path = folder.file("a.cambium")
      func open() throws -> Database {
        try Database(
          store: FileStore(
            path: path, options: FileStoreOptions(codec: try AESCodec(key: Keys.key(1)))))
      }
      let users = [try open(), try open()]
      for round in 0..<10 as Range<UInt8> {
        let transaction = try users[Int(round % 2)].beginWrite()
        try transaction.setValue("secret 0", Self.secret + [round])
        _ = try transaction.commit(durability: round % 3 == 0 ? .full : .relaxed)
        #expect(try users[1 - Int(round % 2)].snapshot().value("secret 0") == Self.secret + [round])
      }
      let lockFile = try Data(contentsOf: URL(fileURLWithPath: path + ".lock"))
      #expect(!String(decoding: lockFile, as: UTF8.self).contains("treasure"))
      for user in users { try user.close() }
    }

    @Test func `the key is let go when the store is closed`() throws {
      weak var known: CodecKey?
      do {
        let key = Keys.key(1)
        known = key
        var options = FileStoreOptions(codec: try AESCodec(key: key))
        let device = MemoryDevice()
        options.device = { _ in device }
        let database = try Database(store: FileStore(path: "memory", options: options))
        let transaction = try database.beginWrite()
        try transaction.setValue("a", [1])
        _ = try transaction.commit()
        try database.close()
      }
      #expect(known == nil)
    }

    #if Zstd
      @Test func `a compressed and encrypted file takes both codecs`() throws {
        let device = MemoryDevice()
        func open(_ codec: any PageCodec) throws -> Database {
          var options = FileStoreOptions(codec: codec)
          options.device = { _ in device }
          return try Database(store: FileStore(path: "memory", options: options))
        }
        func chain(_ key: UInt8) throws -> CodecChain {
          CodecChain([try ZstdCodec(), try AESCodec(key: Keys.key(key))])
        }
        let database = try open(try chain(1))
        let transaction = try database.beginWrite()
        try transaction.setValue("long", [UInt8](repeating: 65, count: 50_000))
        _ = try transaction.commit()
        #expect(database.identity.codec == "zstd+aes-256-gcm")
        #expect(try database.verify().reachableByteCount < 10_000)
        try database.close()
        #expect(try open(try chain(1)).snapshot().value("long")?.count == 50_000)
        #expect(throws: StoreError.self) { try open(try chain(2)) }
        #expect(throws: StoreError.self) { try open(try ZstdCodec()) }
        #expect(throws: StoreError.self) { try open(try AESCodec(key: Keys.key(1))) }
      }
    #endif
  }
#endif
