/// Writes nodes one behind the other, sound or not, and files of one class around them.
package struct FileBuilder {
  /// A public column of the class.
  package struct Column {
    package var name = "value"
    package var type: Int64
    package var attributes: Int64 = 0
    /// The type of a dictionary's keys: 2 for strings, 0 for integers.
    package var keyType: Int64 = 0
    package var enumeration: Int64 = 0

    package init(
      name: String = "value", type: Int64, attributes: Int64 = 0, keyType: Int64 = 0,
      enumeration: Int64 = 0
    ) {
      self.name = name
      self.type = type
      self.attributes = attributes
      self.keyType = keyType
      self.enumeration = enumeration
    }

    package static func int(_ name: String = "value") -> Column { Column(name: name, type: 0) }
  }

  package static let nullable: Int64 = 16
  package static let list: Int64 = 32
  package static let dictionary: Int64 = 64
  package static let noTable: Int64 = 0x7FFF_FFFF

  package private(set) var bytes = [UInt8](repeating: 0, count: 24)
  /// Where the next node goes.
  package var next: Int64 { Int64(bytes.count) }

  package init() {}

  /// A tagged integer.
  package static func tag(_ value: Int64) -> Int64 { value << 1 | 1 }

  // MARK: Nodes

  /// A node of any kind; its ref.
  package mutating func node(
    flags: UInt8 = 0, scheme: UInt8, width: Int, count: Int, payload: [UInt8]
  ) -> Int64 {
    let position = next
    let code = width == 0 ? 0 : UInt8(width.trailingZeroBitCount) + 1
    bytes += [0x41, 0x41, 0x41, 0x41, flags | scheme << 3 | code]
    bytes += [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)]
    bytes += payload
    while bytes.count % 8 != 0 { bytes.append(0xEE) }
    return position
  }

  /// Integers of 64 bits, or of none if there is nothing but zeros and `width` is 0.
  package mutating func integers(_ values: [Int64], width: Int = 64, flags: UInt8 = 0) -> Int64 {
    let payload = values.flatMap { value in
      (0..<width / 8).map { UInt8(truncatingIfNeeded: value >> Int64(8 * $0)) }
    }
    return node(flags: flags, scheme: 0, width: width, count: values.count, payload: payload)
  }

  /// Refs and tagged integers.
  package mutating func refs(_ values: [Int64], isInner: Bool = false, context: Bool = false)
    -> Int64
  {
    integers(values, flags: 0x40 | (isInner ? 0x80 : 0) | (context ? 0x20 : 0))
  }

  /// Short texts, each shorter than 64 bytes; nil is null.
  package mutating func texts(_ values: [String?]) -> Int64 {
    let payload = values.flatMap { value -> [UInt8] in
      let text = Array((value ?? "").utf8)
      let padding = 63 - text.count
      return text + [UInt8](repeating: 0, count: padding) + [value == nil ? 64 : UInt8(padding)]
    }
    return node(scheme: 1, width: 64, count: values.count, payload: payload)
  }

  package mutating func blob(_ content: [UInt8]) -> Int64 {
    node(scheme: 2, width: 0, count: content.count, payload: content)
  }

  /// A leaf of values of any type; the pools are refs or 0.
  package mutating func mixed(
    _ descriptors: [Int64], ints: Int64 = 0, pairs: Int64 = 0, strings: Int64 = 0,
    collections: Int64 = 0
  ) -> Int64 {
    let list = integers(descriptors)
    return refs([list, ints, pairs, strings, collections, 0])
  }

  /// A descriptor of a leaf of values of any type.
  package static func descriptor(type: Int64, place: Int64, _ x: Int64) -> Int64 {
    x << 8 | place << 5 | (type + 1)
  }

  /// A leaf of an object tree with keys from 0 on.
  package mutating func leaf(count: Int64, _ columns: [Int64]) -> Int64 {
    refs([Self.tag(count)] + columns)
  }

  /// Changes element `index` of a node of 64-bit elements.
  package mutating func patch(_ node: Int64, _ index: Int, _ value: Int64) {
    for byte in 0..<8 {
      bytes[Int(node) + 8 + 8 * index + byte] = UInt8(truncatingIfNeeded: value >> Int64(8 * byte))
    }
  }

  // MARK: Files

  /// Ends the file with a table `class_A` that has those columns and that object tree.
  package mutating func finish(
    _ columns: [Column] = [.int()], tree: Int64, format: UInt8 = 24, target: Int64 = 0
  ) -> [UInt8] {
    let table = table(columns, tree: tree, targets: columns.map { _ in target })
    return finish(names: texts(["class_A"]), tables: refs([table]), format: format)
  }

  /// A table with those columns and that object tree; `key` is its own, `targets` those of the tables to which
  /// its columns link.
  package mutating func table(
    _ columns: [Column], tree: Int64, key: Int64 = 0, targets: [Int64], primaryKey: Int? = nil,
    isEmbedded: Bool = false
  ) -> Int64 {
    let types = integers(columns.map { $0.type | $0.keyType << 16 })
    let names = texts(columns.map(\.name))
    let attributes = integers(columns.map(\.attributes))
    let columnKeys = columns.enumerated().map { index, column in
      Int64(index) | column.type << 16 | column.attributes << 22 | Int64(index) << 30
    }
    let keys = integers(columnKeys)
    var enumeration: Int64 = 0
    if columns.contains(where: { $0.enumeration != 0 }) {
      enumeration = refs(columns.map(\.enumeration))
    }
    let spec = refs([types, names, attributes, 0, enumeration, keys])
    let opposite = integers(
      zip(columns, targets).map { $0.type == 12 || $0.type == 13 ? $1 : Self.noTable })
    return refs([
      spec, 0, tree, Self.tag(key), 0, 0, 0, opposite, 0, 0, 0,
      primaryKey.map { Self.tag(columnKeys[$0]) } ?? 0, Self.tag(isEmbedded ? 1 : 0), 0,
    ])
  }

  /// Ends the file with its root.
  package mutating func finish(names: Int64, tables: Int64, format: UInt8 = 24) -> [UInt8] {
    let size = next + 8 + 3 * 8
    let root = refs([names, tables, Self.tag(size)])
    return Self.withHeader(bytes, root: root, format: format)
  }

  /// The bytes with a file header in front.
  package static func withHeader(_ bytes: [UInt8], root: Int64, format: UInt8) -> [UInt8] {
    var bytes = bytes
    for byte in 0..<8 { bytes[byte] = UInt8(truncatingIfNeeded: root >> Int64(8 * byte)) }
    bytes.replaceSubrange(16..<24, with: [0x54, 0x2D, 0x44, 0x42, format, 0, 0, 0])
    return bytes
  }
}
