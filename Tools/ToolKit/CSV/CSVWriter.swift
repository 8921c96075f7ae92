/// Writes records as CSV (RFC 4180): commas, quotes where they are needed, lines that end with CR LF.
package enum CSVWriter {
  /// One record: nothing for null, and a pair of quotes for an empty text.
  package static func record(_ fields: [String?]) -> String {
    fields.map { field in
      guard let field else { return "" }
      let needsQuotes =
        field.isEmpty || field.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        || field.utf8.first == 0x20 || field.utf8.last == 0x20
      return needsQuotes ? quoted(field) : field
    }
    .joined(separator: ",")
  }

  /// By bytes: a mark that combines with a quotation mark makes another character of it.
  private static func quoted(_ field: String) -> String {
    var bytes: [UInt8] = [0x22]
    for byte in field.utf8 {
      if byte == 0x22 { bytes.append(byte) }
      bytes.append(byte)
    }
    return String(decoding: bytes + [0x22], as: UTF8.self)
  }
}
