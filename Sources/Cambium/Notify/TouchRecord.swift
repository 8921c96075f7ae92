import CambiumCore
import Foundation

/// What a transaction has touched, in the form in which its commit keeps it.
///
/// Other processes read it, and who follows the database's changes from a position of an earlier time. What
/// does not fit is told as "many", and is found by comparing the trees then.
struct TouchRecord: Sendable {
  /// What was touched.
  var touches = TransactionTouches()
  /// The primary keys of the objects that went, by the numbers of tables; their rows are gone.
  var deleted: [UInt32: Set<ObjectKey>] = [:]

  /// No more keys of a table are recorded; a commit's record should not outgrow its pages.
  static let largestCount = 2048
  /// No more bytes are recorded of a commit.
  static let largestByteCount = 8192
  private static let format: UInt8 = 2

  /// What follows of a table.
  private enum Tag: UInt8 {
    case many = 0
    case rows = 1
  }

  init() {}

  init(_ touches: TransactionTouches, deleted: [UInt32: Set<ObjectKey>]) {
    self.touches = touches
    self.deleted = deleted
  }

  /// Adds what happened after this.
  mutating func append(_ later: TouchRecord) {
    for (table, rows) in later.touches.tables { touches.change(table) { $0.append(rows) } }
    deleted.merge(later.deleted) { $0.union($1) }
  }

  // MARK: Stored form

  /// The stored form; tables that do not fit are told to have been touched in many places.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    // Most transactions are small.
    bytes.reserveCapacity(64)
    bytes.append(Self.format)
    Self.forEachInOrder(touches.tables, &bytes, put)
    return bytes
  }

  /// Appends how many there are, and then each one by ascending key; mostly there is one.
  private static func forEachInOrder<Key: Comparable, Value>(
    _ values: [Key: Value], _ bytes: inout [UInt8], _ put: (Key, Value, inout [UInt8]) -> Void
  ) {
    bytes.putNumber(UInt64(values.count))
    if values.count == 1, let (key, value) = values.first {
      put(key, value, &bytes)
    } else {
      for (key, value) in values.sorted(by: { $0.key < $1.key }) { put(key, value, &bytes) }
    }
  }

  /// Appends what was touched of the table with that number, or that it was much.
  private func put(_ number: UInt32, _ rows: TouchedRows, _ bytes: inout [UInt8]) {
    bytes.putNumber(UInt64(number))
    let start = bytes.count
    if !rows.isMany, rows.count <= Self.largestCount {
      bytes.append(Tag.rows.rawValue)
      Self.put(rows, deleted[number] ?? [], &bytes)
      if bytes.count <= Self.largestByteCount { return }
      bytes.removeLast(bytes.count - start)
    }
    bytes.append(Tag.many.rawValue)
  }

  private static func put(
    _ rows: TouchedRows, _ deleted: Set<ObjectKey>, _ bytes: inout [UInt8]
  ) {
    bytes.put(rows.insertedKeys)
    bytes.put(rows.deletedKeys)
    forEachInOrder(rows.assignedKeys, &bytes) { column, keys, bytes in
      bytes.putNumber(UInt64(column))
      bytes.put(keys)
    }
    bytes.putNumber(UInt64(rows.edits.count))
    for (collection, edits) in rows.edits {
      bytes.putNumber(UInt64(collection.column))
      bytes.putInteger(collection.owner)
      edits.put(to: &bytes)
    }
    bytes.putNumber(UInt64(rows.entries.count))
    for (map, keys) in rows.entries {
      bytes.putNumber(UInt64(map.column))
      bytes.putInteger(map.owner)
      bytes.putNumber(UInt64(keys.count))
      for key in keys { bytes.put(key.text) }
    }
    bytes.putNumber(UInt64(deleted.count))
    for key in deleted { bytes.put(key) }
  }

  /// Reads the stored form; nil for anything else, such as a commit by something that records nothing.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard reader.get(UInt8.self) == Self.format, let count = reader.number() else { return nil }
    for _ in 0..<count {
      guard let number = reader.number().flatMap({ UInt32(exactly: $0) }),
        touches.tables[number] == nil, let tag = reader.get(UInt8.self).flatMap(Tag.init)
      else { return nil }
      var rows = TouchedRows(limit: Self.largestCount)
      switch tag {
      case .many: rows.becomeMany()
      case .rows:
        guard let keys = Self.read(&rows, &reader) else { return nil }
        if !keys.isEmpty { deleted[number] = keys }
      }
      touches.change(number) { $0 = rows }
    }
    if !reader.isAtEnd { return nil }
  }

  /// Reads what was touched of a table; returns the primary keys of the objects that went.
  private static func read(_ rows: inout TouchedRows, _ reader: inout ByteReader) -> Set<ObjectKey>?
  {
    guard let inserted = reader.keys(), let gone = reader.keys(), let columnCount = reader.number()
    else { return nil }
    for key in inserted { rows.insert(key) }
    for key in gone { rows.delete(key) }
    for _ in 0..<columnCount {
      guard let column = reader.number().flatMap({ UInt16(exactly: $0) }),
        let keys = reader.keys()
      else { return nil }
      for key in keys { rows.assign(column, key) }
    }
    guard let editCount = reader.number() else { return nil }
    for _ in 0..<editCount {
      guard let column = reader.number().flatMap({ UInt16(exactly: $0) }),
        let owner = reader.integer(), let edits = PositionalEdits(from: &reader)
      else { return nil }
      rows.edit(TouchedRows.CollectionKey(column: column, owner: owner)) { $0 = edits }
    }
    guard let mapCount = reader.number() else { return nil }
    for _ in 0..<mapCount {
      guard let column = reader.number().flatMap({ UInt16(exactly: $0) }),
        let owner = reader.integer(), let count = reader.number()
      else { return nil }
      var keys: [String] = []
      for _ in 0..<count {
        guard let key = reader.text() else { return nil }
        keys.append(key)
      }
      rows.assign(keys, of: TouchedRows.CollectionKey(column: column, owner: owner))
    }
    guard let keyCount = reader.number(), !rows.isMany else { return nil }
    var deleted: Set<ObjectKey> = []
    for _ in 0..<keyCount {
      guard let key = reader.objectKey() else { return nil }
      deleted.insert(key)
    }
    return deleted
  }
}

// MARK: - Parts

/// Pointers: to the 16 bytes of a UUID on the stack.
extension [UInt8] {
  /// Appends a number, seven bits to a byte, the lowest first; the highest bit says that more follow.
  mutating func putNumber(_ value: UInt64) {
    var rest = value
    while rest > 0x7f {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  /// Appends an integer so that those near zero are short.
  mutating func putInteger(_ value: Int64) {
    putNumber(UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  /// Appends keys as the distances from one to the next.
  fileprivate mutating func put(_ keys: TouchedKeys) {
    if keys.isEmpty { return append(0) }
    let keys = keys.sorted
    putNumber(UInt64(keys.count))
    var last: Int64 = 0
    for key in keys {
      putInteger(key &- last)
      last = key
    }
  }

  fileprivate mutating func put(_ text: String) {
    putNumber(UInt64(text.utf8.count))
    self += text.utf8
  }

  fileprivate mutating func put(_ key: ObjectKey) {
    switch key {
    case .null: append(0)
    case .int(let value):
      append(1)
      putInteger(value)
    case .string(let text):
      append(2)
      put(text)
    case .objectId(let id):
      append(3)
      self += id.bytes
    case .uuid(let uuid):
      append(4)
      unsafe Swift.withUnsafeBytes(of: uuid.uuid) { unsafe append(contentsOf: $0) }
    case .number(let value):
      append(5)
      putInteger(value)
    }
  }
}

// Pointers: into arrays that have as many bytes as are read from them.
extension ByteReader {
  mutating func number() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      guard let byte = get(UInt8.self) else { return nil }
      value |= UInt64(byte & 0x7f) << UInt64(shift)
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }

  mutating func integer() -> Int64? {
    number().map { Int64(bitPattern: $0 >> 1) ^ -Int64($0 & 1) }
  }

  fileprivate mutating func text() -> String? {
    number().flatMap { Int(exactly: $0) }.flatMap { get(count: $0) }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  fileprivate mutating func keys() -> [Int64]? {
    guard let count = number(), count <= UInt64(TouchRecord.largestCount) else { return nil }
    var keys: [Int64] = []
    var last: Int64 = 0
    for _ in 0..<count {
      guard let distance = integer() else { return nil }
      last &+= distance
      keys.append(last)
    }
    return keys
  }

  fileprivate mutating func objectKey() -> ObjectKey? {
    switch get(UInt8.self) {
    case 0: return .null
    case 1: return integer().map { .int($0) }
    case 2: return text().map { .string($0) }
    case 3:
      return get(count: ObjectId.byteCount).map { bytes in
        unsafe .objectId(bytes.withUnsafeBytes { unsafe ObjectId(bytes: $0) })
      }
    case 4:
      return get(count: 16).map { bytes in
        unsafe .uuid(UUID(uuid: bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: uuid_t.self) }))
      }
    case 5: return integer().map { .number($0) }
    default: return nil
    }
  }
}
