/// A JSON text (RFC 8259) in memory.
///
/// Integers and other numbers are told apart by their text: a point or an exponent makes a `number`, which
/// keeps every digit of its text. Objects keep the order of their members.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Any other number, as it is written.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A name and its value.
  package struct Member: Hashable, Sendable {
    package var name: String
    package var value: JSONValue

    package init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The member with that name; nil where there is none, and of what is no object.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The text; nil for what is none.
  package var text: String? { if case .string(let text) = self { text } else { nil } }
  /// The integer; nil for what is none.
  package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The elements; nil for what has none.
  package var elements: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
  /// The members; nil for what has none.
  package var members: [Member]? { if case .object(let members) = self { members } else { nil } }

  /// A finite number with as many digits as tell it from others, and always a point or an exponent.
  package static func number(_ value: Double) -> JSONValue { .number("\(value)") }

  /// What the value is, for people.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a truth value"
    case .integer, .number: "a number"
    case .string: "a text"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

// MARK: Writing

extension JSONValue {
  /// The text on one line.
  package var line: String {
    var bytes: [UInt8] = []
    write(to: &bytes, indent: nil)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text on many lines.
  package var pretty: String {
    var bytes: [UInt8] = []
    write(to: &bytes, indent: 0)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the text; over many lines from an indent on.
  package func write(to bytes: inout [UInt8], indent: Int?) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += "\(value)".utf8
    case .number(let text): bytes += text.utf8
    case .string(let text): Self.write(text, to: &bytes)
    case .array(let values):
      Self.write(values, "[", "]", to: &bytes, indent) { value, bytes, indent in
        value.write(to: &bytes, indent: indent)
      }
    case .object(let members):
      Self.write(members, "{", "}", to: &bytes, indent) { member, bytes, indent in
        Self.write(member.name, to: &bytes)
        bytes += (indent == nil ? ":" : ": ").utf8
        member.value.write(to: &bytes, indent: indent)
      }
    }
  }

  private static func write<Part>(
    _ parts: [Part], _ start: String, _ end: String, to bytes: inout [UInt8], _ indent: Int?,
    _ write: (Part, inout [UInt8], Int?) -> Void
  ) {
    bytes += start.utf8
    let inner = indent.map { $0 + 2 }
    for (place, part) in parts.enumerated() {
      if place > 0 { bytes += ",".utf8 }
      newLine(inner, &bytes)
      write(part, &bytes, inner)
    }
    if !parts.isEmpty { newLine(indent, &bytes) }
    bytes += end.utf8
  }

  private static func newLine(_ indent: Int?, _ bytes: inout [UInt8]) {
    guard let indent else { return }
    bytes.append(0x0A)
    bytes += repeatElement(0x20, count: indent)
  }

  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): bytes += "\\\"".utf8
      case UInt8(ascii: "\\"): bytes += "\\\\".utf8
      case 0x0A: bytes += "\\n".utf8
      case 0x0D: bytes += "\\r".utf8
      case 0x09: bytes += "\\t".utf8
      case 0..<0x20, 0x7F:
        let digits = String(byte, radix: 16)
        bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
