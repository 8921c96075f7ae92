/// Text as cells of a terminal hold it: one for most characters, two for wide ones such as those of Chinese.
enum CellText {
  /// How many cells `text` takes.
  static func width(_ text: some StringProtocol) -> Int {
    text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + width($1) }
  }

  /// As much of `text` as `width` cells hold, with a mark at its end if that is not all.
  static func cut(_ text: String, to width: Int) -> String {
    // No character takes less than nothing.
    if text.utf8.count <= width || self.width(text) <= width { return text }
    guard width > 0 else { return "" }
    var (part, left) = ("", width - 1)
    for character in text {
      left -= self.width(character)
      if left < 0 { break }
      part.append(character)
    }
    return part + "…"
  }

  /// `text` on one line, with what would move the cursor or turn the direction made visible.
  static func cleaned(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    var cleaned = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": cleaned += "\\n"
      case "\r": cleaned += "\\r"
      case "\t": cleaned += "\\t"
      case _ where isHidden(scalar): cleaned += "\\u{\(String(scalar.value, radix: 16))}"
      default: cleaned.unicodeScalars.append(scalar)
      }
    }
    return cleaned
  }

  /// Each line of `text` as ``cleaned(_:)`` leaves it.
  static func cleanedLines(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0 != "\n" && isHidden($0) }) else { return text }
    return text.reduce(into: "") { lines, character in
      let isEnd = character == "\n" || character == "\r\n"
      lines += isEnd ? String(character) : cleaned(String(character))
    }
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: true
    // Those that join and part letters belong to scripts and to emoji.
    case .format: scalar.value != 0x200C && scalar.value != 0x200D && scalar.value < 0xE0000
    default: false
    }
  }

  private static func width(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    let properties = first.properties
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if properties.isEmojiPresentation { return 2 }
    if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
    return wideRanges.contains { $0.contains(first.value) } ? 2 : 1
  }

  /// The blocks whose characters are wide or of full width (Unicode Standard Annex 11).
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
    0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD,
  ]
}
