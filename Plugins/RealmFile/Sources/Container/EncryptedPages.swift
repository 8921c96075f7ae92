#if Crypto
  import Crypto
  import CryptoExtras

  /// The pages of an encrypted file, decrypted when they are read.
  ///
  /// In front of each 64 data pages (D) stands a page (M) with a record for each of them; all pages
  /// have 4096 bytes.
  ///
  /// ```
  ///  M₀ D₀ D₁ … D₆₃ M₁ D₆₄ … D₁₂₇ M₂ …
  ///
  ///  record    0     4        32    36       64
  ///           | iv1 | hmac1  | iv2 | hmac2  |
  /// ```
  ///
  /// The second pair is the one before: it counts when a write was interrupted after its record.
  final class EncryptedPages: BlockSource {
    static let keyByteCount = 64
    static let pageByteCount = 4096
    private static let cipherKeyByteCount = 32
    private static let pagesPerGroup = 64
    private static let recordByteCount = 64

    let byteCount: Int
    var blockByteCount: Int { Self.pageByteCount }
    private let file: DiskFile
    private let cipherKey: SymmetricKey
    private let authentication: HMACSHA224

    init(_ file: DiskFile, key: [UInt8]) throws(RealmFileError) {
      guard key.count == Self.keyByteCount else {
        throw .wrongKeyLength(byteCount: key.count, path: file.path)
      }
      let pageCount = file.byteCount / Self.pageByteCount
      guard file.byteCount % Self.pageByteCount == 0, pageCount >= 2 else {
        let what = "an encrypted file has at least two pages of 4096 bytes, and whole ones"
        throw .truncated(path: file.path, what: what)
      }
      self.file = file
      let groupCount = (pageCount + Self.pagesPerGroup) / (Self.pagesPerGroup + 1)
      byteCount = (pageCount - groupCount) * Self.pageByteCount
      cipherKey = SymmetricKey(data: key[..<Self.cipherKeyByteCount])
      authentication = HMACSHA224(key: Array(key[Self.cipherKeyByteCount...]))
    }

    func block(_ number: Int) throws(ReadFault) -> [UInt8] {
      let group = number / Self.pagesPerGroup
      let pagePosition = (number + group + 1) * Self.pageByteCount
      let recordPosition =
        group * (Self.pagesPerGroup + 1) * Self.pageByteCount
        + number % Self.pagesPerGroup * Self.recordByteCount
      let record: [UInt8]
      let page: [UInt8]
      do throws(RealmFileError) {
        record = try file.read(at: recordPosition, count: Self.recordByteCount)
        page = try file.read(at: pagePosition, count: Self.pageByteCount)
      } catch {
        throw .file(error)
      }
      return try decrypt(page, number: number, record: record)
    }

    private func decrypt(
      _ page: [UInt8], number: Int, record: [UInt8]
    ) throws(ReadFault) -> [UInt8] {
      let position = number * Self.pageByteCount
      let first = record.span.littleEndian(UInt32.self, at: 0)
      let second = record.span.littleEndian(UInt32.self, at: 32)
      guard first != 0 else {
        throw .damage("the encrypted page was never written", position: position)
      }
      let code = authentication.code(of: page)
      if code[...] == record[4..<32] { return try decrypt(page, first, position) }
      if second != 0 {
        if code[...] == record[36..<64] { return try decrypt(page, second, position) }
        if page.allSatisfy({ $0 == 0 }) { return page }
      }
      // Page 0 has the header: it was always written, and with another key no code is right.
      if number == 0 { throw .file(.wrongKey(path: file.path)) }
      throw .damage(
        second == 0
          ? "the first write of the encrypted page was broken off"
          : "the encrypted page is not what was written", position: position)
    }

    private func decrypt(
      _ page: [UInt8], _ number: UInt32, _ position: Int
    ) throws(ReadFault) -> [UInt8] {
      var vector: [UInt8] = []
      for shift in stride(from: 0, to: 32, by: 8) {
        vector.append(UInt8(truncatingIfNeeded: number >> UInt32(shift)))
      }
      for shift in stride(from: 0, to: 64, by: 8) {
        vector.append(UInt8(truncatingIfNeeded: position >> shift))
      }
      vector += [0, 0, 0, 0]
      do {
        let vector = try AES._CBC.IV(ivBytes: vector)
        return Array(try AES._CBC.decrypt(page, using: cipherKey, iv: vector, noPadding: true))
      } catch {
        throw .damage("the encrypted page cannot be decrypted: \(error)", position: position)
      }
    }
  }
#endif
