#if Crypto
  import Crypto
  import CryptoExtras
  import Foundation

  /// Encrypts a plain file, page by page; records and pages can then be spoiled.
  struct EncryptedBuilder {
    static let pageByteCount = 4096

    private let key: [UInt8]
    /// The code of a page's ciphertext, 28 bytes.
    private let code: ([UInt8]) -> [UInt8]
    private(set) var bytes: [UInt8]

    init(_ plain: [UInt8], key: [UInt8], code: @escaping ([UInt8]) -> [UInt8]) throws {
      self.key = key
      self.code = code
      let pageCount = (plain.count + Self.pageByteCount - 1) / Self.pageByteCount
      let padding = pageCount * Self.pageByteCount - plain.count
      let plain = plain + [UInt8](repeating: 0, count: padding)
      let fileCount = pageCount + (pageCount + 63) / 64
      bytes = [UInt8](repeating: 0, count: fileCount * Self.pageByteCount)
      for page in 0..<pageCount {
        let start = page * Self.pageByteCount
        try put(Array(plain[start..<start + Self.pageByteCount]), page, number: UInt32(page + 1))
      }
    }

    /// Where the ciphertext of a page lies.
    static func position(of page: Int) -> Int { pageByteCount * (page + page / 64 + 1) }
    /// Where its record lies.
    static func recordPosition(of page: Int) -> Int {
      pageByteCount * (page / 64) * 65 + 64 * (page % 64)
    }

    private mutating func put(_ plain: [UInt8], _ page: Int, number: UInt32) throws {
      var vector = withUnsafeBytes(of: number.littleEndian) { Array($0) }
      let place = UInt64(page * Self.pageByteCount)
      vector += withUnsafeBytes(of: place.littleEndian) { Array($0) } + [0, 0, 0, 0]
      let cipher = Array(
        try AES._CBC.encrypt(
          plain, using: SymmetricKey(data: key[..<32]), iv: AES._CBC.IV(ivBytes: vector),
          noPadding: true))
      replace(at: Self.position(of: page), cipher)
      replace(at: Self.recordPosition(of: page), vector[..<4] + code(cipher))
    }

    mutating func replace(at position: Int, _ new: some Collection<UInt8>) {
      bytes.replaceSubrange(position..<position + new.count, with: new)
    }

    /// Moves the record of a page to where that of the write before belongs, and puts another in its
    /// place, as an interrupted write does.
    mutating func interrupt(_ page: Int) {
      let position = Self.recordPosition(of: page)
      let record = Array(bytes[position..<position + 32])
      replace(at: position, [9, 9, 9, 9] + [UInt8](repeating: 0xAB, count: 28) + record)
    }

    /// Makes the write of a page the first one, and an interrupted one.
    mutating func interruptFirst(_ page: Int) {
      let record = [9, 9, 9, 9] + [UInt8](repeating: 0xAB, count: 28)
      replace(
        at: Self.recordPosition(of: page), record + [UInt8](repeating: 0, count: 32))
    }

    /// Gives a page two records and no bytes, as a file has that shrank and grew again.
    mutating func empty(_ page: Int) {
      replace(at: Self.recordPosition(of: page), [UInt8](repeating: 0xAB, count: 64))
      replace(
        at: Self.position(of: page), [UInt8](repeating: 0, count: Self.pageByteCount))
    }

    /// Makes a page one that was never written.
    mutating func forget(_ page: Int) {
      replace(at: Self.recordPosition(of: page), [UInt8](repeating: 0, count: 64))
    }
  }
#endif
