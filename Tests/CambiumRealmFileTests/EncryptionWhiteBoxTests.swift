#if Crypto
  import Foundation
  import RealmFileBuilder
  import Testing

  @testable import CambiumRealmFile

  /// Encrypted files open with their key only, and give what was written last.
  @Suite struct EncryptionWhiteBoxTests {
    private static func isWrongKey(_ error: RealmFileError?) -> Bool {
      if case .wrongKey? = error { true } else { false }
    }

    private static func isDamaged(_ error: RealmFileError?) -> Bool {
      if case .damaged? = error { true } else { false }
    }

    @Test(arguments: Samples.encrypted, [0, 31, 32, 63])
    func `a key that differs in one byte is told to be wrong`(name: String, index: Int) throws {
      var key = Samples.key
      key[index] ^= 1
      #expect(Self.isWrongKey(try ContentCheck.read(Samples.path(name), key: key)))
    }

    @Test func `an encrypted file without a key asks for one`() throws {
      let path = try Samples.path("encrypted")
      #expect(throws: RealmFileError.needsKey(path: path)) { try RealmFile(path: path) }
    }

    @Test func `a key for a plain file is told to be needless`() throws {
      let path = try Samples.path("tiny")
      #expect(throws: RealmFileError.notEncrypted(path: path)) {
        try RealmFile(path: path, encryptionKey: Samples.key)
      }
    }

    @Test(arguments: [0, 32, 63, 65])
    func `a key of another length is told`(count: Int) throws {
      let path = try Samples.path("encrypted")
      #expect(throws: RealmFileError.wrongKeyLength(byteCount: count, path: path)) {
        try RealmFile(path: path, encryptionKey: [UInt8](repeating: 1, count: count))
      }
    }

    @Test(arguments: [4096, 8191, 8200, 300_000])
    func `an encrypted file that ends within a page is cut short`(count: Int) throws {
      try Samples.withFile(Samples.bytes("encrypted-copy.realm").prefix(count)) { path in
        let error = try ContentCheck.read(path, key: Samples.key)
        guard case .truncated? = error else {
          Issue.record("\(String(describing: error))")
          return
        }
      }
    }

    @Test(arguments: [0, 1, 30, 63, 64, 74])
    func `a changed byte of a page in use is an error`(page: Int) throws {
      var bytes = [UInt8](try Samples.bytes("encrypted-copy.realm"))
      let position = EncryptedBuilder.position(of: page) + 17 * page
      try #require(position < bytes.count)
      bytes[position] ^= 1
      try Samples.withFile(bytes) { path in
        let error = try ContentCheck.read(path, key: Samples.key)
        #expect(page == 0 ? Self.isWrongKey(error) : Self.isDamaged(error))
      }
    }

    // MARK: Pages that a writer left behind

    private static let zeroByteCount = 3 * EncryptedBuilder.pageByteCount

    /// A file whose pages 1 and 2 are within one blob of zeros, and its pages.
    private static func file() throws -> EncryptedBuilder {
      var plain = FileBuilder()
      let blob = plain.blob([UInt8](repeating: 0, count: zeroByteCount))
      let column = plain.refs([blob], context: true)
      let tree = plain.leaf(count: 1, [column])
      var bytes = plain.finish([FileBuilder.Column(type: 4)], tree: tree)
      // A page behind the snapshot.
      bytes += [UInt8](repeating: 0, count: EncryptedBuilder.pageByteCount)
      let hash = HMACSHA224(key: Array(Samples.key[32...]))
      return try EncryptedBuilder(bytes, key: Samples.key) { hash.code(of: $0) }
    }

    private static func read(_ bytes: [UInt8]) throws -> RealmFileError? {
      try Samples.withFile(bytes) { path -> RealmFileError? in
        if let error = try ContentCheck.read(path, key: Samples.key) { return error }
        let file = try RealmFile(path: path, encryptionKey: Samples.key)
        let value = try file.value(of: 0, of: 0, in: 0)
        #expect(value == .data([UInt8](repeating: 0, count: zeroByteCount)))
        return nil
      }
    }

    @Test func `a page of zeros that no record belongs to is one of zeros`() throws {
      var file = try Self.file()
      #expect(try Self.read(file.bytes) == nil)
      file.empty(1)
      #expect(try Self.read(file.bytes) == nil)
    }

    @Test(arguments: [0, 1, 2, 3])
    func `an interrupted write leaves what was there before`(page: Int) throws {
      var file = try Self.file()
      file.interrupt(page)
      #expect(try Self.read(file.bytes) == nil)
    }

    @Test func `a page whose first write was interrupted is damage where it is in use`() throws {
      var file = try Self.file()
      file.interruptFirst(4)
      #expect(try Self.read(file.bytes) == nil)
      file.interruptFirst(2)
      #expect(Self.isDamaged(try Self.read(file.bytes)))
    }

    @Test func `a page that was never written is damage where it is in use`() throws {
      var file = try Self.file()
      file.forget(4)
      #expect(try Self.read(file.bytes) == nil)
      file.forget(2)
      #expect(Self.isDamaged(try Self.read(file.bytes)))
    }
  }
#endif
