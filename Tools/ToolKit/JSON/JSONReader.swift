/// Reads JSON texts (RFC 8259) out of bytes that come in portions: one text, or one after another.
///
/// What is not JSON, is not UTF-8 or nests too deep is refused with its line and column.
package struct JSONReader: ~Copyable {
  private let next: () throws -> [UInt8]
  private var portion: [UInt8] = []
  private var position = 0
  /// The line that is being read.
  package private(set) var line = 1
  /// How many bytes lie before the current line, and before the current portion.
  private var lineStart = 0
  private var portionStart = 0
  private var depth = 0

  /// How deep arrays and objects may nest.
  package static let depthLimit = 200

  /// Reads what `next` gives until it gives no more bytes.
  package init(_ next: @escaping () throws -> [UInt8]) { self.next = next }

  /// Reads a text.
  package init(_ text: String) {
    var rest = Array(text.utf8)
    self.init {
      defer { rest = [] }
      return rest
    }
  }

  /// The only value of `text`.
  package static func value(of text: String) throws -> JSONValue {
    var reader = JSONReader(text)
    let value = try reader.value()
    guard try reader.isAtEnd() else { throw reader.failure("there is more behind the end") }
    return value
  }

  // MARK: Bytes

  private mutating func peek() throws -> UInt8? {
    if position == portion.count {
      portionStart += portion.count
      portion = try next()
      position = 0
      if portion.isEmpty { return nil }
    }
    return portion[position]
  }

  private mutating func advance() {
    if portion[position] == 0x0A {
      line += 1
      lineStart = portionStart + position + 1
    }
    position += 1
  }

  private mutating func take() throws -> UInt8 {
    guard let byte = try peek() else { throw failure("the text ends too early") }
    advance()
    return byte
  }

  private mutating func skipSpace() throws {
    while let byte = try peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      advance()
    }
  }

  /// A mistake at the current place.
  package func failure(_ reason: String) -> TransferError {
    TransferError("Line \(line), column \(portionStart + position - lineStart + 1): \(reason).")
  }

  // MARK: Streams

  /// Whether nothing but space is left.
  package mutating func isAtEnd() throws -> Bool {
    try skipSpace()
    return try peek() == nil
  }

  /// What the next value is: the byte that it begins with.
  package mutating func start() throws -> UInt8? {
    try skipSpace()
    return try peek()
  }

  /// Takes what an array or an object begins with.
  package mutating func enter(_ bracket: Character) throws {
    try skipSpace()
    guard let byte = bracket.asciiValue, try take() == byte else {
      throw failure("expected '\(bracket)'")
    }
  }

  /// Moves to the next element of an array or object that was entered; false behind its end.
  package mutating func next(isFirst: inout Bool, until bracket: Character) throws -> Bool {
    try skipSpace()
    if try peek() == bracket.asciiValue {
      advance()
      return false
    }
    if !isFirst {
      guard try take() == UInt8(ascii: ",") else { throw failure("expected ',' or '\(bracket)'") }
      try skipSpace()
    }
    isFirst = false
    return true
  }

  /// The name of a member, and the colon.
  package mutating func name() throws -> String {
    try skipSpace()
    guard try peek() == UInt8(ascii: "\"") else { throw failure("expected a member's name") }
    let name = try string()
    try skipSpace()
    guard try take() == UInt8(ascii: ":") else { throw failure("expected ':'") }
    return name
  }

  // MARK: Values

  /// The next value.
  package mutating func value() throws -> JSONValue {
    try skipSpace()
    switch try peek() {
    case nil: throw failure("the text ends too early")
    case UInt8(ascii: "{"): return try nested { reader in .object(try reader.members()) }
    case UInt8(ascii: "["): return try nested { reader in .array(try reader.elements()) }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func nested(_ body: (inout JSONReader) throws -> JSONValue) throws -> JSONValue {
    guard depth < Self.depthLimit else { throw failure("it nests too deep") }
    depth += 1
    defer { depth -= 1 }
    return try body(&self)
  }

  private mutating func members() throws -> [JSONValue.Member] {
    try enter("{")
    var members: [JSONValue.Member] = []
    var isFirst = true
    while try next(isFirst: &isFirst, until: "}") {
      members.append(JSONValue.Member(try name(), try value()))
    }
    return members
  }

  private mutating func elements() throws -> [JSONValue] {
    try enter("[")
    var values: [JSONValue] = []
    var isFirst = true
    while try next(isFirst: &isFirst, until: "]") { values.append(try value()) }
    return values
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws -> JSONValue {
    for byte in word.utf8 {
      guard let next = try peek() else { throw failure("the text ends too early") }
      guard next == byte else { throw failure("expected '\(word)'") }
      advance()
    }
    return value
  }

  private mutating func number() throws -> JSONValue {
    var text: [UInt8] = []
    var isInteger = true
    while let byte = try peek() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"): break
      case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): isInteger = false
      default:
        return try Self.number(text, isInteger: isInteger)
          ?? { throw failure("expected a value") }()
      }
      text.append(byte)
      advance()
    }
    return try Self.number(text, isInteger: isInteger) ?? { throw failure("expected a value") }()
  }

  private static func number(_ bytes: [UInt8], isInteger: Bool) -> JSONValue? {
    let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
    func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } ?? false }
    guard isDigit(digits.first), isDigit(digits.last) else { return nil }
    if digits.first == 0x30, digits.count > 1, isDigit(digits.dropFirst().first) { return nil }
    if let point = digits.firstIndex(of: UInt8(ascii: ".")), !isDigit(bytes[point + 1]) {
      return nil
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if isInteger, let value = Int64(text) { return .integer(value) }
    return Double(text) == nil ? nil : .number(text)
  }

  private mutating func string() throws -> String {
    advance()
    var bytes: [UInt8] = []
    while true {
      takePlain(into: &bytes)
      let byte = try take()
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: bytes, as: UTF8.self) else {
          throw failure("a text is not UTF-8")
        }
        return text
      case UInt8(ascii: "\\"): try escape(into: &bytes)
      case 0..<0x20: throw failure("a text holds a control character")
      default: bytes.append(byte)
      }
    }
  }

  /// Takes the bytes of a text up to one with a meaning, or to the end of the portion.
  private mutating func takePlain(into bytes: inout [UInt8]) {
    var end = position
    while end < portion.count, portion[end] != UInt8(ascii: "\""),
      portion[end] != UInt8(ascii: "\\"), portion[end] >= 0x20
    {
      end += 1
    }
    bytes += portion[position..<end]
    position = end
  }

  private mutating func escape(into bytes: inout [UInt8]) throws {
    switch try take() {
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "u"): try unicode(into: &bytes)
    case let byte
    where byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "/"):
      bytes.append(byte)
    default: throw failure("unknown escape in a text")
    }
  }

  private mutating func unicode(into bytes: inout [UInt8]) throws {
    var code = try hexadecimal()
    if (0xD800..<0xDC00).contains(code) {
      guard try take() == UInt8(ascii: "\\"), try take() == UInt8(ascii: "u") else {
        throw failure("half of a character")
      }
      let low = try hexadecimal()
      guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a character") }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw failure("half of a character") }
    bytes += String(scalar).utf8
  }

  private mutating func hexadecimal() throws -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(try take())).hexDigitValue else {
        throw failure("unknown escape in a text")
      }
      code = code << 4 | UInt32(digit)
    }
    return code
  }
}
