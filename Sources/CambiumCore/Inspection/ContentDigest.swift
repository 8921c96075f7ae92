/// What a version holds, in 128 bits: equal content has equal digests, in any store and through any
/// codec.
///
/// Content is every name with what it stands for: a table's columns, attributes, keys and cells, a key
/// tree's keys and values, a value's bytes. How it came to be is not: versions, pages, the order of
/// insertion, what was removed, the numbers that come next. It guards against accidents, not against
/// forgery: the hash is ``Checksum``.
public struct ContentDigest: Hashable, Sendable, CustomStringConvertible {
  /// The first half.
  public let high: UInt64
  /// The second half.
  public let low: UInt64

  /// 32 hexadecimal digits.
  public var description: String { Self.digits(high) + Self.digits(low) }

  private static func digits(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension ReadTransaction {
  /// The digest of all that this view sees.
  ///
  /// Reads everything once. `progress` is called now and then with the number of rows and keys read so
  /// far. Throws what reading throws.
  public func contentDigest(
    progress: (Int) -> Void = { _ in }
  ) throws(StoreError) -> ContentDigest {
    var reading = ContentReading()
    for name in try names(withPrefix: "") {
      reading.hasher.put(bytes: Array(name.utf8))
      if let table = try table(name) {
        try reading.add(table, progress)
      } else if let tree = try keyTree(name) {
        try reading.add(tree, progress)
      } else if let bytes = try value(name) {
        reading.hasher.put(byte: 1)
        reading.hasher.put(bytes: bytes)
      }
    }
    progress(reading.count)
    return reading.hasher.finish()
  }
}

/// Goes through what a view sees and puts it into a hasher, so that no two contents give the same
/// bytes.
///
/// Pointers: none is followed to count the keys of a tree; their number stands in its root.
private struct ContentReading: ~Copyable {
  var hasher = ContentHasher()
  /// How many rows and keys were read.
  private(set) var count = 0
  typealias Progress = (Int) -> Void
  private static let progressStride = 1 << 14
  /// No honest row owns trees within trees that deep.
  private static let largestDepth = 256

  private mutating func countOne(_ progress: Progress) {
    count += 1
    if count % Self.progressStride == 0 { progress(count) }
  }

  mutating func add(_ tree: KeyTree, _ progress: Progress) throws(StoreError) {
    hasher.put(byte: 2)
    unsafe hasher.put(word: UInt64(tree.count))
    var cursor = tree.cursor()
    var isValid = try cursor.seekFirst()
    while isValid {
      hasher.put(bytes: cursor.key)
      hasher.put(bytes: try cursor.copyValue())
      countOne(progress)
      isValid = try cursor.next()
    }
  }

  mutating func add(_ table: Table, _ progress: Progress) throws(StoreError) {
    hasher.put(byte: 3)
    hasher.put(bytes: table.record.attributes)
    hasher.put(word: UInt64(table.count))
    for (columns, tree) in zip(table.record.groups, table.groups) {
      hasher.put(word: UInt64(columns.count))
      for column in columns {
        hasher.put(word: UInt64(column.id))
        hasher.put(byte: column.type.rawValue)
        hasher.put(byte: column.isNullable ? 1 : 0)
        hasher.put(bytes: Array(column.name.utf8))
        hasher.put(bytes: column.attributes)
      }
      try add(tree, columns.map(\.spec), depth: 0, progress)
    }
  }

  /// The rows of a tree with the given columns; cells that are their column's default are left out, as
  /// leaves may leave them out.
  private mutating func add(
    _ tree: ColumnTree, _ specs: [ColumnSpec], depth: Int, _ progress: Progress
  ) throws(StoreError) {
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      let leaf = cursor.leaf
      let columns = specs.compactMap { leaf.column($0.id) }
      for row in 0..<leaf.rowCount {
        if !leaf.isPositional { hasher.put(word: UInt64(bitPattern: leaf.key(at: row))) }
        for column in columns where !column.isDefault(row) {
          try add(column, row, tree, depth: depth, progress)
        }
        // No column has this number.
        hasher.put(word: .max)
        countOne(progress)
      }
      isValid = try cursor.next()
    }
  }

  private mutating func add(
    _ column: LeafColumn, _ row: Int, _ tree: ColumnTree, depth: Int, _ progress: Progress
  ) throws(StoreError) {
    hasher.put(word: UInt64(column.id))
    hasher.put(byte: column.isNull(row) ? 0 : column.type.rawValue)
    if column.isNull(row) { return }
    switch column.type {
    case .int: hasher.put(word: UInt64(bitPattern: column.int(row)))
    case .bool: hasher.put(byte: column.bool(row) ? 1 : 0)
    case .float: hasher.put(word: UInt64(column.float(row).bitPattern))
    case .double: hasher.put(word: column.double(row).bitPattern)
    case .wide:
      hasher.put(word: column.wide(row).low)
      hasher.put(word: column.wide(row).high)
    case .bytes:
      let cell = column.bytes(row)
      if let root = cell.tree { return try add(owned: root, of: tree, depth: depth, progress) }
      hasher.put(bytes: try tree.bytes(of: cell) ?? [])
    }
  }

  /// A tree that a row owns.
  private mutating func add(
    owned root: TreeRoot, of tree: ColumnTree, depth: Int, _ progress: Progress
  ) throws(StoreError) {
    guard depth < Self.largestDepth else {
      throw .damaged(Damage(.height, at: root.reference, "trees lie too deep within trees"))
    }
    // No length of bytes is this.
    hasher.put(word: .max)
    if root.kind == .key { return try add(KeyTree(root: root, source: tree.source), progress) }
    let owned = ColumnTree(root: root, source: tree.source)
    hasher.put(word: UInt64(owned.count))
    try add(owned, try owned.storedLayout().columns, depth: depth + 1, progress)
  }
}

/// Hashes a stream of bytes block by block; each block begins with the hashes of all before it.
///
/// Pointers: the own bytes of integers and of the block, during one call. A block is never shorter than
/// the 16 bytes that it begins with.
private struct ContentHasher: ~Copyable {
  private var block: [UInt8] = []
  private var high: UInt64 = 0
  private var low: UInt64 = 0
  private static let blockByteCount = 64 << 10
  private static let stateByteCount = 16

  init() {
    block.reserveCapacity(Self.blockByteCount + 8)
    beginBlock()
  }

  private mutating func beginBlock() {
    block.removeAll(keepingCapacity: true)
    unsafe withUnsafeBytes(of: high.littleEndian) { unsafe block.append(contentsOf: $0) }
    unsafe withUnsafeBytes(of: low.littleEndian) { unsafe block.append(contentsOf: $0) }
  }

  /// The two halves see different states before the same bytes.
  private mutating func endBlock() {
    let half = Self.stateByteCount / 2
    (high, low) = unsafe block.withUnsafeBytes { bytes in
      unsafe (Checksum.hash(bytes), Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[half...])))
    }
    beginBlock()
  }

  @inline(__always) mutating func put(byte: UInt8) {
    block.append(byte)
    if block.count >= Self.blockByteCount { endBlock() }
  }

  @inline(__always) mutating func put(word: UInt64) {
    for shift in stride(from: 0, to: 64, by: 8) {
      put(byte: UInt8(truncatingIfNeeded: word >> UInt64(shift)))
    }
  }

  /// Bytes, and how many there are.
  mutating func put(bytes: [UInt8]) {
    put(word: UInt64(bytes.count))
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.blockByteCount - block.count)
      block.append(contentsOf: part)
      rest = rest.dropFirst(part.count)
      if block.count >= Self.blockByteCount { endBlock() }
    }
  }

  mutating func finish() -> ContentDigest {
    endBlock()
    return ContentDigest(high: high, low: low)
  }
}
