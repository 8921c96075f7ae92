/// Reads CSV (RFC 4180) out of bytes that come in portions.
///
/// Fields are separated by commas, perhaps in quotes, in which quotes are doubled; records by LF or CR LF.
/// A mark of UTF-8 at the start is passed over.
package struct CSVReader: ~Copyable {
  /// One field and whether it stood in quotes.
  package struct Field: Hashable, Sendable {
    package var text: String
    package var isQuoted: Bool
  }

  private let next: () throws -> [UInt8]
  private let separator: UInt8
  private var portion: [UInt8] = []
  private var position = 0
  private var isAtStart = true
  /// The line on which the next record begins.
  package private(set) var line = 1

  /// Reads what `next` gives until it gives no more bytes.
  package init(separator: Character = ",", _ next: @escaping () throws -> [UInt8]) {
    self.separator = separator.asciiValue ?? 0x2C
    self.next = next
  }

  private mutating func peek() throws -> UInt8? {
    if position == portion.count {
      portion = try next()
      position = 0
      if isAtStart {
        isAtStart = false
        if portion.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
      }
      if position == portion.count { return nil }
    }
    return portion[position]
  }

  private mutating func take() throws -> UInt8? {
    guard let byte = try peek() else { return nil }
    position += 1
    if byte == 0x0A { line += 1 }
    return byte
  }

  /// The next record; nil at the end.
  ///
  /// Empty lines are passed over, but not of records with one field, of which they are those without a value.
  package mutating func record(fieldCount: Int? = nil) throws -> [Field]? {
    if fieldCount != 1 {
      while let byte = try peek(), byte == 0x0A || byte == 0x0D { _ = try take() }
    }
    guard try peek() != nil else { return nil }
    var fields: [Field] = []
    while true {
      fields.append(try field())
      switch try take() {
      case separator: continue
      case 0x0D:
        if try peek() == 0x0A { _ = try take() }
        return fields
      case 0x0A, nil: return fields
      default: throw failure("something stands behind the quotes of a field")
      }
    }
  }

  private mutating func field() throws -> Field {
    guard try peek() == 0x22 else {
      var bytes: [UInt8] = []
      while let byte = try peek(), byte != separator, byte != 0x0A, byte != 0x0D {
        bytes.append(byte)
        position += 1
      }
      return Field(text: try text(bytes), isQuoted: false)
    }
    _ = try take()
    var bytes: [UInt8] = []
    while let byte = try take() {
      guard byte == 0x22 else {
        bytes.append(byte)
        continue
      }
      guard try peek() == 0x22 else { return Field(text: try text(bytes), isQuoted: true) }
      _ = try take()
      bytes.append(0x22)
    }
    throw failure("the quotes of a field do not end")
  }

  private func text(_ bytes: [UInt8]) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw failure("a field is not UTF-8")
    }
    return text
  }

  /// A mistake in the record that is being read.
  package func failure(_ reason: String) -> TransferError {
    TransferError("Line \(line): \(reason).")
  }
}
