/// How the engine stands beside each of the other databases: a row for each measure, a mark for each database.
struct EnginePicture {
  private struct Row {
    var workload: String
    var name: String
    /// How many times as good Cambium is.
    var factors: [(peer: Peer, factor: Double)]

    /// The database that does best.
    var best: (peer: Peer, factor: Double)? { factors.min { $0.factor < $1.factor } }
  }

  private let rows: [Row]
  private let rowCount: Int

  private static let left = 16.0
  private static let nameStart = 58.0
  private static let plotStart = 344.0
  private static let plotLength = 400.0
  private static let textStart = 770.0
  private static let width = 896.0
  private static let top = 118.0
  private static let rowHeight = 20.0
  private static let gap = 8.0

  /// What is no figure of a database: the load of others, and what follows from other lines.
  private static let leftOut = ["commits of that writer"]
  /// Shares and quotients of figures follow from those; of the rest more or less of it is better.
  private static let units: Set<String> = ["s", "ms", "µs", "ns", "MB", "k/s"]

  init(_ all: [Recorded.Figure]) {
    let rowCount = all.map(\.rows).max() ?? 0
    let figures = all.filter { $0.rows == rowCount }
    self.rowCount = rowCount
    rows = figures.filter { $0.engine == "cambium" }.compactMap { own in
      guard Self.units.contains(own.unit), !Self.leftOut.contains(own.variant),
        !own.variant.contains("p99"), own.median > 0
      else { return nil }
      let factors = Peer.allCases.compactMap { peer -> (peer: Peer, factor: Double)? in
        let other = figures.first {
          $0.engine == peer.rawValue && $0.workload == own.workload && $0.variant == own.variant
        }
        guard let other, other.median > 0 else { return nil }
        let isRate = own.isRate == true
        return (peer, isRate ? own.median / other.median : other.median / own.median)
      }
      if factors.isEmpty { return nil }
      return Row(workload: own.workload, name: own.variant, factors: factors)
    }
  }

  var picture: Picture {
    let workloads = rows.map(\.workload).reduce(into: [String]()) { names, name in
      if names.last != name { names.append(name) }
    }
    let bottom =
      Self.top + Double(rows.count) * Self.rowHeight
      + Double(max(0, workloads.count - 1)) * Self.gap
    let title = "The engine of Cambium beside LMDB, RocksDB and SQLite"
    var picture = Picture(
      width: Self.width, height: bottom + 62, title: title,
      description: rows.map { row in
        "\(row.workload) \(row.name): "
          + row.factors.map { "\(Words.times($0.factor)) \($0.peer.name)" }.joined(separator: ", ")
      }.joined(separator: "; "))
    picture.write(title, at: Self.left, 30, size: 18, isBold: true)
    picture.write(
      "How many times as fast, or as small, as each of them with \(Words.rows(rowCount)) records; medians. "
        + "To the right of the line Cambium is better.", at: Self.left, 52, ink: .faint)
    var x = Self.plotStart
    for peer in Peer.allCases {
      picture.mark(peer.shape, at: x + 6, 74, ink: peer.ink)
      picture.write("beside \(peer.name)", at: x + 17, 78)
      x += 130
    }
    let scale = LogScale(
      rows.flatMap { $0.factors.map(\.factor) }, start: Self.plotStart, length: Self.plotLength)
    for power in scale.powers {
      let x = scale.place(of: power)
      picture.draw(
        [(x, Self.top - 4), (x, bottom + 2)], thickness: power == 1 ? 1.5 : 1,
        ink: power == 1 ? .faint : .grid)
      for y in [Self.top - 11, bottom + 18] {
        picture.write(
          power == 1 ? "alike" : Words.power(power), at: x, y, size: 11, anchor: .middle,
          ink: .faint)
      }
    }
    picture.write("beside the best", at: Self.textStart, Self.top - 11, size: 11, ink: .faint)
    var (y, last) = (Self.top, rows.first?.workload)
    for row in rows {
      let isFirst = row.workload != last || y == Self.top
      if row.workload != last { y += Self.gap }
      last = row.workload
      draw(row, isFirst: isFirst, scale, at: y, &picture)
      y += Self.rowHeight
    }
    picture.write(
      "Logarithmic scale. Measured by make bench, drawn from results/latest.json by make pictures",
      at: Self.left, bottom + 46,
      size: 11, ink: .faint)
    return picture
  }

  private func draw(
    _ row: Row, isFirst: Bool, _ scale: LogScale, at y: Double, _ picture: inout Picture
  ) {
    let (middle, line) = (y + 9, y + 13)
    if isFirst { picture.write(row.workload, at: Self.left, line, isBold: true, ink: .faint) }
    picture.write(row.name, at: Self.nameStart, line)
    picture.draw(
      [(Self.plotStart, middle), (Self.plotStart + Self.plotLength, middle)], ink: .grid)
    let places = row.factors.map { scale.place(of: $0.factor) }
    if let first = places.min(), let last = places.max() {
      picture.draw([(first, middle), (last, middle)], thickness: 2, ink: .faint)
    }
    for (peer, factor) in row.factors {
      picture.mark(peer.shape, at: scale.place(of: factor), middle, ink: peer.ink)
    }
    if let (peer, factor) = row.best {
      picture.write(
        "\(Words.times(factor)) \(peer.name)", at: Self.textStart, line, isBold: factor >= 1)
    }
  }
}

/// A database that the engine is compared with.
enum Peer: String, CaseIterable {
  case lmdb, rocksdb, sqlite

  var name: String {
    switch self {
    case .lmdb: "LMDB"
    case .rocksdb: "RocksDB"
    case .sqlite: "SQLite"
    }
  }

  var ink: Ink {
    switch self {
    case .lmdb: .lmdb
    case .rocksdb: .rocksDB
    case .sqlite: .sqlite
    }
  }

  var shape: Picture.Shape {
    switch self {
    case .lmdb: .square
    case .rocksdb: .triangle
    case .sqlite: .diamond
    }
  }
}
