/// Files with very many objects of one class, as a program would have made them.
package enum WideFile {
  private static let leafCount = 256
  private static let link: Int64 = 12
  private static let double: Int64 = 10
  private static let date: Int64 = 8
  private static let text: Int64 = 2
  private static let bool: Int64 = 1

  /// Objects with six scalar properties: `number`, `ratio`, `name`, `isOpen`, `begun`, `rank` (optional).
  package static func scalars(count: Int) -> [UInt8] {
    var builder = FileBuilder()
    let leaves = leaves(count) { rows in
      [
        builder.integers(rows.map { Int64($0) * 7 }, width: 32),
        doubles(rows.map { Double($0) / 2 }, &builder), names(rows, &builder),
        bools(rows.map { $0 % 3 == 0 }, &builder), dates(rows, &builder),
        builder.integers([127] + rows.map { Int64($0 % 100) }, width: 8),
      ]
    } leaf: {
      builder.leaf(count: $0, $1)
    }
    let root = tree(leaves, count, &builder)
    return builder.finish(
      [
        .int("number"), .init(name: "ratio", type: double), .init(name: "name", type: text),
        .init(name: "isOpen", type: bool), .init(name: "begun", type: date),
        .init(name: "rank", type: 0, attributes: FileBuilder.nullable),
      ], tree: root)
  }

  /// Objects with `number`, `name`, a link `friend` and a list of three, `friends`, to any of them.
  package static func links(count: Int) -> [UInt8] {
    var builder = FileBuilder()
    var state: UInt64 = 1
    func any() -> Int64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int64(state >> 33) % Int64(count)
    }
    let leaves = leaves(count) { rows in
      let lists = rows.map { _ in builder.integers([any(), any(), any()], width: 32) }
      return [
        builder.integers(rows.map { Int64($0) }, width: 32), names(rows, &builder),
        builder.integers(rows.map { _ in any() + 1 }, width: 32), builder.refs(lists),
      ]
    } leaf: {
      builder.leaf(count: $0, $1)
    }
    let root = tree(leaves, count, &builder)
    return builder.finish(
      [
        .int("number"), .init(name: "name", type: text),
        .init(name: "friend", type: link, attributes: FileBuilder.nullable),
        .init(name: "friends", type: link, attributes: FileBuilder.list),
      ], tree: root)
  }

  // MARK: Trees

  private static func leaves(
    _ count: Int, columns: (Range<Int>) -> [Int64], leaf: (Int64, [Int64]) -> Int64
  ) -> [Int64] {
    stride(from: 0, to: count, by: leafCount).map { start in
      let rows = start..<min(start + leafCount, count)
      return leaf(Int64(rows.count), columns(rows))
    }
  }

  /// The root above leaves of objects that count from 0.
  private static func tree(
    _ leaves: [Int64], _ count: Int, _ builder: inout FileBuilder
  ) -> Int64 {
    var (level, height, span) = (leaves, Int64(0), leafCount)
    while level.count > 1 {
      height += 1
      level = stride(from: 0, to: level.count, by: leafCount).map { start in
        let children = Array(level[start..<min(start + leafCount, level.count)])
        let first = start * span
        let objects = min(children.count * span, count - first)
        return builder.refs(
          [0, FileBuilder.tag(height), FileBuilder.tag(Int64(objects))] + children, isInner: true)
      }
      span *= leafCount
    }
    return level[0]
  }

  // MARK: Columns

  private static func doubles(_ values: [Double], _ builder: inout FileBuilder) -> Int64 {
    var payload: [UInt8] = []
    payload.reserveCapacity(values.count * 8)
    for value in values {
      for byte in 0..<8 {
        payload.append(UInt8(truncatingIfNeeded: value.bitPattern >> UInt64(8 * byte)))
      }
    }
    return builder.node(scheme: 1, width: 8, count: values.count, payload: payload)
  }

  private static func names(_ rows: Range<Int>, _ builder: inout FileBuilder) -> Int64 {
    let width = 16
    var payload: [UInt8] = []
    payload.reserveCapacity(rows.count * width)
    for row in rows {
      let text = Array("name \(row % 100_000)".utf8)
      payload += text
      payload += [UInt8](repeating: 0, count: width - 1 - text.count)
      payload.append(UInt8(width - 1 - text.count))
    }
    return builder.node(scheme: 1, width: width, count: rows.count, payload: payload)
  }

  private static func bools(_ values: [Bool], _ builder: inout FileBuilder) -> Int64 {
    var payload = [UInt8](repeating: 0, count: (values.count + 7) / 8)
    for (index, value) in values.enumerated() where value {
      payload[index / 8] |= 1 << UInt8(index % 8)
    }
    return builder.node(scheme: 0, width: 1, count: values.count, payload: payload)
  }

  private static func dates(_ rows: Range<Int>, _ builder: inout FileBuilder) -> Int64 {
    let seconds = builder.integers(
      [Int64(Int32.max)] + rows.map { 1_600_000_000 + Int64($0) }, width: 32)
    let nanoseconds = builder.integers(rows.map { _ in 0 }, width: 8)
    return builder.refs([seconds, nanoseconds])
  }
}
