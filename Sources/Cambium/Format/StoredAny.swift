import CambiumCore
import Foundation

/// The stored form of a value of any type, in a column of bytes.
///
///      0     1
///     | tag | content …
///
/// Nothing at all is a null cell. Integers take 1, 2, 4 or 8 bytes as they need, signed; floats 4, doubles
/// 8; decimals, dates, object identifiers and UUIDs the 16 bytes of their wide form, the low word first;
/// texts and data their bytes; an object the number of its class's table in 4 bytes and its key in 8.
/// Everything is little-endian.
///
/// A list or a dictionary is stored as a whole:
///
///      1            9       13
///     | identifier | count | entries …
///
/// An entry is the number of a value's bytes, in 4, and its stored form, which for nothing has no bytes. In
/// a dictionary the number of bytes of a key and its text come before; the keys are in the order of their
/// bytes, each of them once. No other list or dictionary of the database has the same identifier.
///
/// Pointers: cells borrow their bytes for the length of a call. Of each part the length is compared
/// with what is left before it is read, and what is kept is copied.
package indirect enum StoredAny: Hashable, Sendable {
  case none
  case bool(Bool)
  case int(Int64)
  case float(Float)
  case double(Double)
  case decimal(DecimalBits)
  case string([UInt8])
  case data([UInt8])
  case date(StoredDate)
  case objectId(low: UInt64, high: UInt64)
  case uuid(low: UInt64, high: UInt64)
  case link(StoredAnyLink)
  case list(identifier: UInt64, [StoredAny])
  case dictionary(identifier: UInt64, [Entry])

  /// An entry of a dictionary.
  package struct Entry: Hashable, Sendable {
    package var key: [UInt8]
    package var value: StoredAny
  }

  /// What a value begins with; part of the file format.
  enum Tag: UInt8 {
    case bool = 1
    case int = 2
    case float = 3
    case double = 4
    case decimal = 5
    case string = 6
    case data = 7
    case date = 8
    case objectId = 9
    case uuid = 10
    case link = 11
    case list = 12
    case dictionary = 13
  }

  /// No value is nested deeper.
  package static let depthLimit = 100

  // MARK: Telling apart

  /// Whether two cells of a property of `type` hold the same value: lists and dictionaries of any type do whatever
  /// their identifiers are.
  static func isSame(_ left: ColumnValue, _ right: ColumnValue, _ type: PropertyType) -> Bool {
    if left.isEqual(to: right) { return true }
    guard type == .any, let left = StoredAny(left), let right = StoredAny(right) else {
      return false
    }
    return left.content == right.content
  }

  /// The value without identifiers.
  private var content: StoredAny {
    switch self {
    case .list(_, let values): .list(identifier: 0, values.map(\.content))
    case .dictionary(_, let entries):
      .dictionary(identifier: 0, entries.map { Entry(key: $0.key, value: $0.value.content) })
    default: self
    }
  }

  // MARK: Reading

  /// The value of a cell; nil when it breaks the format.
  package init?(_ cell: ColumnValue) {
    switch cell {
    case .null: self = .none
    case .bytes(let bytes): unsafe self.init(bytes, depth: 0)
    default: return nil
    }
  }

  private init?(_ bytes: UnsafeRawBufferPointer, depth: Int) {
    guard let tag = unsafe bytes.first.flatMap(Tag.init) else { return nil }
    let content = unsafe UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    switch tag {
    case .bool:
      guard content.count == 1, unsafe content[0] <= 1 else { return nil }
      self = unsafe .bool(content[0] == 1)
    case .int:
      guard let value = unsafe Self.integer(content) else { return nil }
      self = .int(value)
    case .float:
      guard content.count == 4 else { return nil }
      self = unsafe .float(
        Float(bitPattern: UInt32(littleEndian: content.loadUnaligned(as: UInt32.self))))
    case .double:
      guard content.count == 8 else { return nil }
      self = unsafe .double(Double(bitPattern: Self.word(content, 0)))
    case .string: self = unsafe .string(Array(content))
    case .data: self = unsafe .data(Array(content))
    case .decimal, .date, .objectId, .uuid:
      guard content.count == 16 else { return nil }
      let (low, high) = unsafe (Self.word(content, 0), Self.word(content, 8))
      switch tag {
      case .decimal: self = .decimal(DecimalBits(low: low, high: high))
      case .date: self = .date(StoredDate(low: low, high: high))
      case .objectId: self = .objectId(low: low, high: high)
      default: self = .uuid(low: low, high: high)
      }
    case .link:
      guard let link = unsafe StoredAnyLink(content: content) else { return nil }
      self = .link(link)
    case .list, .dictionary:
      guard depth < Self.depthLimit,
        let value = unsafe Self.collection(content, hasKeys: tag == .dictionary, depth: depth)
      else { return nil }
      self = value
    }
  }

  private static func collection(
    _ bytes: UnsafeRawBufferPointer, hasKeys: Bool, depth: Int
  ) -> StoredAny? {
    guard bytes.count >= 12 else { return nil }
    let identifier = unsafe word(bytes, 0)
    var rest = unsafe bytes.dropFirst(8)
    func number() -> Int? {
      guard unsafe rest.count >= 4 else { return nil }
      let value = unsafe bytes.loadUnaligned(fromByteOffset: rest.startIndex, as: UInt32.self)
      unsafe rest = unsafe rest.dropFirst(4)
      return Int(UInt32(littleEndian: value))
    }
    func part() -> UnsafeRawBufferPointer? {
      guard let count = number(), unsafe count <= rest.count else { return nil }
      defer { unsafe rest = unsafe rest.dropFirst(count) }
      return unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
    guard let count = number(), unsafe count <= rest.count / 4 else { return nil }
    var (keys, values): ([[UInt8]], [StoredAny]) = ([], [])
    for _ in 0..<count {
      if hasKeys {
        guard let key = unsafe part().map({ unsafe Array($0) }),
          keys.last.map({ $0.lexicographicallyPrecedes(key) }) ?? true
        else { return nil }
        keys.append(key)
      }
      guard let part = unsafe part() else { return nil }
      guard let value = unsafe part.isEmpty ? StoredAny.none : StoredAny(part, depth: depth + 1)
      else {
        return nil
      }
      values.append(value)
    }
    guard unsafe rest.isEmpty else { return nil }
    guard hasKeys else { return .list(identifier: identifier, values) }
    return .dictionary(identifier: identifier, zip(keys, values).map { Entry(key: $0, value: $1) })
  }

  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  private static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    switch bytes.count {
    case 1: unsafe Int64(Int8(bitPattern: bytes[0]))
    case 2: unsafe Int64(Int16(littleEndian: bytes.loadUnaligned(as: Int16.self)))
    case 4: unsafe Int64(Int32(littleEndian: bytes.loadUnaligned(as: Int32.self)))
    case 8: unsafe Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
    default: nil
    }
  }

  // MARK: Writing

  /// The stored form; nil for nothing.
  package var bytes: [UInt8]? {
    switch self {
    case .none: nil
    case .bool(let value): [Tag.bool.rawValue, value ? 1 : 0]
    case .int(let value): [Tag.int.rawValue] + Self.bytes(of: value)
    case .float(let value): [Tag.float.rawValue] + Self.bytes(value.bitPattern)
    case .double(let value): [Tag.double.rawValue] + Self.bytes(value.bitPattern)
    case .decimal(let value): Self.bytes(.decimal, value.low, value.high)
    case .string(let value): [Tag.string.rawValue] + value
    case .data(let value): [Tag.data.rawValue] + value
    case .date(let value): Self.bytes(.date, value.wide.low, value.wide.high)
    case .objectId(let low, let high): Self.bytes(.objectId, low, high)
    case .uuid(let low, let high): Self.bytes(.uuid, low, high)
    case .link(let link): [Tag.link.rawValue] + Self.bytes(link.table) + Self.bytes(link.key)
    case .list(let identifier, let values):
      values.reduce(into: Self.head(.list, identifier, values.count)) { bytes, value in
        bytes += Self.part(value.bytes ?? [])
      }
    case .dictionary(let identifier, let entries):
      entries.reduce(into: Self.head(.dictionary, identifier, entries.count)) { bytes, entry in
        bytes += Self.part(entry.key)
        bytes += Self.part(entry.value.bytes ?? [])
      }
    }
  }

  private static func head(_ tag: Tag, _ identifier: UInt64, _ count: Int) -> [UInt8] {
    [tag.rawValue] + bytes(identifier) + bytes(UInt32(count))
  }

  // A value that is so large is refused where it is written.
  private static func part(_ part: [UInt8]) -> [UInt8] {
    bytes(UInt32(clamping: part.count)) + part
  }

  private static func bytes(of value: Int64) -> [UInt8] {
    if let short = Int8(exactly: value) { return bytes(short) }
    if let short = Int16(exactly: value) { return bytes(short) }
    if let short = Int32(exactly: value) { return bytes(short) }
    return bytes(value)
  }

  private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe Array($0) }
  }

  private static func bytes(_ tag: Tag, _ low: UInt64, _ high: UInt64) -> [UInt8] {
    [tag.rawValue] + bytes(low) + bytes(high)
  }

  /// Calls `body` with the cell that holds the value.
  package func withCell<Result>(_ body: (ColumnValue) throws -> Result) rethrows -> Result {
    guard let bytes else { return try body(.null) }
    return try unsafe bytes.withUnsafeBytes { try unsafe body(.bytes($0)) }
  }
}

extension StoredAny {
  /// The same for a body that throws store errors.
  func withStoreCell(
    _ body: (ColumnValue) throws(StoreError) -> Void
  ) throws(StoreError) {
    let result = withCell { cell in catching { () throws(StoreError) in try body(cell) } }
    try result.get()
  }
}

/// An object that a value of any type is.
///
/// Pointers: the cell's bytes are borrowed for the length of a call, and are twelve behind the tag.
package struct StoredAnyLink: Hashable, Sendable {
  /// The number of the class's table.
  package var table: UInt32
  package var key: Int64

  package init(table: UInt32, key: Int64) {
    self.table = table
    self.key = key
  }

  fileprivate init?(content: UnsafeRawBufferPointer) {
    guard content.count == 12 else { return nil }
    table = unsafe UInt32(littleEndian: content.loadUnaligned(as: UInt32.self))
    key = unsafe Int64(littleEndian: content.loadUnaligned(fromByteOffset: 4, as: Int64.self))
  }

  /// The object that a cell with a value of any type is; nil when it is none.
  package init?(_ cell: ColumnValue) {
    guard case .bytes(let bytes) = cell, unsafe bytes.first == StoredAny.Tag.link.rawValue else {
      return nil
    }
    unsafe self.init(content: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
  }
}
