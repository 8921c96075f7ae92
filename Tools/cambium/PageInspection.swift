import CambiumCore

/// The pages of a version, by kind, and where they lie.
struct PageInspection: Encodable {
  struct Kind: Encodable {
    var name: String
    var pages, bytes: Int
    /// The oldest and the newest version in which such a page was written.
    var oldest, newest: UInt64
  }

  var kinds: [Kind]
  /// The extents that pages take in their store, in bytes, by address; those that touch are one.
  ///
  /// A backup may have pages that no store has.
  var extents: [[Int]]

  init(_ references: [PageReference]) {
    kinds = PageKind.allCases.compactMap { kind in
      let pages = references.filter { $0.rawKind == kind.rawValue }
      guard let oldest = pages.map(\.born).min(), let newest = pages.map(\.born).max() else {
        return nil
      }
      return Kind(
        name: "\(kind)", pages: pages.count, bytes: pages.reduce(0) { $0 + $1.byteCount },
        oldest: oldest, newest: newest)
    }
    let placed = references.filter { $0.address < Extent.firstCollectedAddress }
    extents = placed.sorted { $0.address < $1.address }.reduce(into: []) { extents, page in
      if let last = extents.last, last[0] + last[1] == page.byteOffset {
        extents[extents.count - 1][1] += page.byteCount
      } else {
        extents.append([page.byteOffset, page.byteCount])
      }
    }
  }

  /// How many characters a line of the map has, if the terminal has room for them and its frame.
  private static let mapWidth = min(64, max(1, (Terminal.width() ?? .max) - 4))

  func printForPeople(total: Int) {
    Output.line("\nPages")
    Output.table(
      [["kind", "pages", "bytes", "born in versions"]]
        + kinds.map {
          [$0.name, "\($0.pages)", "\($0.bytes)", "\($0.oldest) to \($0.newest)"]
        })
    guard let last = extents.last, total > 0 else { return }
    let end = max(total, last[0] + last[1])
    let step = max(1, (end + 8 * Self.mapWidth - 1) / (8 * Self.mapWidth))
    var filled = [Int](repeating: 0, count: (end + step - 1) / step)
    for extent in extents {
      var (start, left) = (extent[0], extent[1])
      while left > 0 {
        let part = min(left, step - start % step)
        filled[start / step] += part
        (start, left) = (start + part, left - part)
      }
    }
    Output.line(
      "\n  each character stands for \(Output.bytes(step)), and shows how much of it is reached")
    let shades = Array(" ░▒▓█")
    for line in stride(from: 0, to: filled.count, by: Self.mapWidth) {
      let cells = filled[line..<min(filled.count, line + Self.mapWidth)].map { count in
        shades[count == 0 ? 0 : max(1, min(4, (count * 4 + step - 1) / step))]
      }
      let text = "  |" + String(cells) + "|"
      Output.line(Terminal.width().map { CellText.cut(text, to: $0) } ?? text)
    }
  }
}
