/// What a terminal shows of what was written to it: the little that the tool makes use of.
struct TerminalScreen {
  /// The lines, of which the last is the one with the cursor.
  private(set) var lines: [[Character]] = [[]]
  /// Which lines went on from the one before, because that was full.
  private(set) var continued: Set<Int> = []
  /// Whether anything was not written in the terminal's own colours.
  private(set) var hasColours = false
  private var column = 0
  private let columns: Int

  init(columns: Int) { self.columns = columns == 0 ? 80 : columns }

  /// The lines as text.
  var text: String {
    lines.map { line in
      var line = line
      while line.last == " " { line.removeLast() }
      return String(line)
    }.joined(separator: "\n")
  }

  mutating func show(_ output: String) {
    // By scalars, because a line's end is one character of Swift and two of a terminal.
    var rest = output.unicodeScalars.map { Character($0) }[...]
    while let character = rest.popFirst() {
      switch character {
      case "\r": column = 0
      case "\n": lines.append([])
      case "\u{1B}":
        precondition(rest.popFirst() == "[", "an escape that the tool does not write")
        let arguments = rest.prefix { !$0.isLetter }
        rest = rest.dropFirst(arguments.count)
        switch rest.popFirst() {
        case "K": lines.append((lines.popLast() ?? []).prefix(column).map { $0 })
        case "m": hasColours = true
        default: preconditionFailure("an escape that the tool does not write")
        }
      default: put(character)
      }
    }
  }

  private mutating func put(_ character: Character) {
    if column == columns {
      lines.append([])
      continued.insert(lines.count - 1)
      column = 0
    }
    let last = lines.count - 1
    while lines[last].count <= column { lines[last].append(" ") }
    lines[last][column] = character
    column += 1
  }
}
