/// Cuts a predicate's text into tokens.
struct PredicateLexer {
  private let text: String
  private let bytes: [UInt8]
  private var position = 0
  /// Where the token that is being read begins.
  private var start = 0

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  /// All tokens and where each begins, the last one `.end`.
  static func tokens(
    of text: String
  ) throws(QueryError) -> [(token: PredicateToken, offset: Int)] {
    var lexer = PredicateLexer(text)
    var tokens: [(token: PredicateToken, offset: Int)] = []
    while true {
      lexer.skipSpace()
      lexer.start = lexer.position
      tokens.append((try lexer.next(), lexer.start))
      if tokens[tokens.count - 1].token == .end { return tokens }
    }
  }

  /// A mistake in the token that is being read.
  private func failure(_ reason: String) -> QueryError {
    .unparsable(text, at: start, reason)
  }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func peek(_ offset: Int = 1) -> UInt8? {
    position + offset < bytes.count ? bytes[position + offset] : nil
  }

  private mutating func next() throws(QueryError) -> PredicateToken {
    guard let byte = current else { return .end }
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      return .string(try quoted(byte))
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      return try number()
    case UInt8(ascii: "."):
      if let digit = peek(), Self.isDigit(digit) { return try number() }
      position += 1
      return .symbol(".")
    case UInt8(ascii: "%"):
      return try argument()
    case UInt8(ascii: "$"):
      position += 1
      return .variable(try name("a variable's name is missing after $"))
    case UInt8(ascii: "@"):
      position += 1
      return .aggregate(try name("an operator's name is missing after @"))
    case UInt8(ascii: "#"):
      position += 1
      return .name(try name("a name is missing after #"), isEscaped: true)
    default:
      if Self.isNameByte(byte) { return .name(try name(""), isEscaped: false) }
      return try symbol()
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Letters, digits, the underscore and everything beyond ASCII.
  private static func isNameByte(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte == UInt8(ascii: "_") || isDigit(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private mutating func name(_ missing: String) throws(QueryError) -> String {
    let start = position
    while let byte = current, Self.isNameByte(byte) { position += 1 }
    guard position > start else { throw failure(missing) }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static let symbols = [
    "==", "!=", "<=", ">=", "=<", "=>", "<>", "&&", "||", "=", "<", ">", "!", "(", ")", "{", "}",
    "[", "]", ",", "-", "+", "*", "/",
  ]

  private mutating func symbol() throws(QueryError) -> PredicateToken {
    for symbol in Self.symbols where bytes[position...].starts(with: symbol.utf8) {
      position += symbol.utf8.count
      return .symbol(symbol)
    }
    let rest = String(decoding: bytes[position...], as: UTF8.self)
    throw failure("unexpected '\(rest.prefix(1))'")
  }

  /// `%@` and the number formats of C, whose widths do not matter here; `%%` is the text `%`.
  private mutating func argument() throws(QueryError) -> PredicateToken {
    position += 1
    if current == UInt8(ascii: "%") {
      position += 1
      return .string("%")
    }
    while let byte = current, "lhqztjL".utf8.contains(byte) { position += 1 }
    guard let kind = current else { throw failure("a format is missing after %") }
    position += 1
    switch kind {
    case UInt8(ascii: "@"): return .valueArgument
    case UInt8(ascii: "K"): return .pathArgument
    case _ where "diuxXofFgGeE".utf8.contains(kind): return .valueArgument
    default: throw failure("unknown format '%\(Character(UnicodeScalar(kind)))'")
    }
  }

  private mutating func number() throws(QueryError) -> PredicateToken {
    let start = position
    if current == UInt8(ascii: "0"), let sign = peek(), sign | 0x20 == UInt8(ascii: "x") {
      position += 2
      let digits = try name("digits are missing after 0x")
      guard let value = Int64(digits, radix: 16) else {
        throw failure("'0x\(digits)' is not a number")
      }
      return .integer(value)
    }
    var isInteger = true
    while let byte = current {
      if byte == UInt8(ascii: "."), let digit = peek(), Self.isDigit(digit) {
        isInteger = false
      } else if byte | 0x20 == UInt8(ascii: "e"), startsExponent {
        isInteger = false
        position += 1
      } else if !Self.isDigit(byte) {
        break
      }
      position += 1
    }
    let digits = String(decoding: bytes[start..<position], as: UTF8.self)
    if let byte = current, Self.isNameByte(byte) { throw failure("'\(digits)' runs into a name") }
    if isInteger, let value = Int64(digits) { return .integer(value) }
    guard let value = Double(digits) else { throw failure("'\(digits)' is not a number") }
    return .decimal(value)
  }

  /// Whether an `e` here is followed by digits, perhaps with a sign.
  private var startsExponent: Bool {
    guard let next = peek() else { return false }
    if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") {
      return peek(2).map(Self.isDigit) ?? false
    }
    return Self.isDigit(next)
  }

  /// The content of a quoted string; a backslash takes the next character as it is, except for
  /// `\n`, `\r`, `\t` and `\uXXXX`.
  private mutating func quoted(_ quote: UInt8) throws(QueryError) -> String {
    position += 1
    var content: [UInt8] = []
    while let byte = current, byte != quote {
      position += 1
      guard byte == UInt8(ascii: "\\") else {
        content.append(byte)
        continue
      }
      guard let escaped = current else { break }
      position += 1
      switch escaped {
      case UInt8(ascii: "n"): content.append(0x0A)
      case UInt8(ascii: "r"): content.append(0x0D)
      case UInt8(ascii: "t"): content.append(0x09)
      case UInt8(ascii: "u"): content += try unicode()
      default: content.append(escaped)
      }
    }
    guard current == quote else { throw failure("a closing quotation mark is missing") }
    position += 1
    return String(decoding: content, as: UTF8.self)
  }

  private mutating func unicode() throws(QueryError) -> [UInt8] {
    let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
    guard digits.utf8.count == 4, let code = UInt32(digits, radix: 16),
      let scalar = Unicode.Scalar(code)
    else { throw failure("\\u needs four hexadecimal digits of a character") }
    position += 4
    return Array(String(Character(scalar)).utf8)
  }
}
