import CambiumCore
import CambiumToolKit
import Synchronization

/// What the bytes of a store are used for, and where in the file they lie.
struct SpaceMap {
  let json: JSONValue

  /// How many cells the map has at most.
  private static let cellLimit = 4096
  /// Cells are no smaller than a page.
  private static let smallestCell = 4096

  init(_ database: Database, isFile: Bool) throws {
    let statistics = try database.statistics()
    let pages = try database.pages()
    let kinds = PageKind.allCases.filter { kind in pages.contains { $0.rawKind == kind.rawValue } }
    let used = pages.reduce(0) { $0 + $1.byteCount }
    let total = max(
      statistics.totalByteCount, pages.map { $0.byteOffset + $0.byteCount }.max() ?? 0)
    var entries: [JSONValue] = [
      Self.entry("free or of older versions", 0, max(0, statistics.totalByteCount - used))
    ]
    for kind in kinds {
      let own = pages.filter { $0.rawKind == kind.rawValue }
      entries.append(Self.entry("\(kind)", own.count, own.reduce(0) { $0 + $1.byteCount }))
    }
    let needed = (total + Self.cellLimit - 1) / Self.cellLimit
    let step =
      (max(needed, Self.smallestCell) + Self.smallestCell - 1) / Self.smallestCell
      * Self.smallestCell
    json = .object([
      .init("total", .integer(Int64(statistics.totalByteCount))),
      .init("cell", .integer(Int64(isFile ? step : 0))), .init("kinds", .array(entries)),
      .init("map", .string(isFile ? Self.map(pages, kinds, total, step) : "")),
    ])
  }

  private static func entry(_ name: String, _ pages: Int, _ bytes: Int) -> JSONValue {
    .object([
      .init("name", .string(name)), .init("pages", .integer(Int64(pages))),
      .init("bytes", .integer(Int64(bytes))),
    ])
  }

  /// A digit for each cell: what takes most of it.
  private static func map(
    _ pages: [PageReference], _ kinds: [PageKind], _ total: Int, _ step: Int
  ) -> String {
    let width = kinds.count + 1
    let cellCount = (total + step - 1) / step
    var filled = [Int](repeating: 0, count: cellCount * width)
    for page in pages {
      guard let kind = kinds.firstIndex(where: { $0.rawValue == page.rawKind }) else { continue }
      var (start, left) = (page.byteOffset, page.byteCount)
      while left > 0 {
        let part = min(left, step - start % step)
        filled[start / step * width + kind + 1] += part
        (start, left) = (start + part, left - part)
      }
    }
    return String(
      (0..<cellCount).map { cell in
        let shares = filled[cell * width..<(cell + 1) * width]
        // What no page takes is free.
        let unused = step - shares.reduce(0, +)
        let most = shares.indices.max { shares[$0] < shares[$1] } ?? shares.startIndex
        let kind = shares[most] >= unused ? most - shares.startIndex : 0
        return Character(String(kind, radix: 36))
      })
  }
}

/// The map of the newest version, made once for all who ask.
///
/// Making it walks all pages, for which there is no limit on time: one is made at a time.
final class SpaceMaps: Sendable {
  private struct State {
    var known: (version: Version, json: JSONValue)?
    var isBusy = false
  }

  private let state = Mutex(State())

  func json(_ database: Database, isFile: Bool) throws -> JSONValue {
    let version = try database.snapshot().version
    let known = try state.withLock { state throws(WebRefusal) -> JSONValue? in
      if let known = state.known, known.version == version { return known.json }
      guard !state.isBusy else {
        throw WebRefusal(503, "The pages are being walked for somebody else; ask again.")
      }
      state.isBusy = true
      return nil
    }
    if let known { return known }
    defer { state.withLock { $0.isBusy = false } }
    let json = try SpaceMap(database, isFile: isFile).json
    state.withLock { $0.known = (version, json) }
    return json
  }
}
