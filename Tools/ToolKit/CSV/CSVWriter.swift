/// Writes records as CSV (RFC 4180): commas, quotes where they are needed, lines that end with CR LF.
package enum CSVWriter {
  /// One record: nothing for null, and a pair of quotes for an empty text.
  package static func record(_ fields: [String?]) -> String {
    fields.map { field in
      guard let field else { return "" }
      let needsQuotes =
        field.isEmpty || field.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        || field.first == " " || field.last == " "
      return needsQuotes ? "\"\(field.replacing("\"", with: "\"\""))\"" : field
    }
    .joined(separator: ",")
  }
}
