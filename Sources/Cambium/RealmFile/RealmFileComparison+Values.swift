#if RealmFile
  import CambiumCore
  internal import CambiumRealmFile

  /// What is expected of single values.
  ///
  /// Pointers: the bytes of cells are lent by who compares them, for the length of a call.
  extension RealmFileComparison {
    func isEqual(
      _ value: RealmFileValue, _ cell: ColumnValue, _ column: RealmFileColumn
    ) throws -> Bool {
      let type = column.type
      if type == .any {
        guard let stored = StoredAny(cell) else { return false }
        return try isEqual(value, stored)
      }
      switch (value, cell) {
      case (.null, .null): return true
      case (.int(let value), .int(let stored)): return type == .int && value == stored
      case (.bool(let value), .bool(let stored)): return value == stored
      case (.float(let value), .float(let stored)): return value.bitPattern == stored.bitPattern
      case (.double(let value), .double(let stored)): return value.bitPattern == stored.bitPattern
      case (.string(let value), .bytes(let stored)):
        return unsafe type == .string && value.utf8.elementsEqual(stored)
      case (.data(let value), .bytes(let stored)):
        return unsafe type == .data && value.elementsEqual(stored)
      case (.date(let seconds, let nanoseconds), .wide(let low, let high)):
        return type == .date
          && Self.isEqual(seconds, nanoseconds, StoredDate(low: low, high: high))
      case (.decimal(let low, let high), .wide(let storedLow, let storedHigh)):
        return type == .decimal128 && low == storedLow && high == storedHigh
      case (.objectId(let bytes), .wide(let low, let high)):
        return type == .objectId && Self.bytes(low, high).starts(with: bytes)
      case (.uuid(let bytes), .wide(let low, let high)):
        return type == .UUID && Self.bytes(low, high) == bytes
      case (.link(let classIndex, let key), _):
        guard type == .object, classIndex == column.target else { return false }
        let row = try self.key(key, classIndex)
        return row == cell.link && isThere(row, classIndex)
      default: return false
      }
    }

    private func isEqual(_ value: RealmFileValue, _ stored: StoredAny) throws -> Bool {
      switch (value, stored) {
      case (.null, .none): return true
      case (.int(let value), .int(let stored)): return value == stored
      case (.bool(let value), .bool(let stored)): return value == stored
      case (.float(let value), .float(let stored)): return value.bitPattern == stored.bitPattern
      case (.double(let value), .double(let stored)): return value.bitPattern == stored.bitPattern
      case (.string(let value), .string(let stored)): return value.utf8.elementsEqual(stored)
      case (.data(let value), .data(let stored)): return value == stored
      case (.date(let seconds, let nanoseconds), .date(let stored)):
        return Self.isEqual(seconds, nanoseconds, stored)
      case (.decimal(let low, let high), .decimal(let stored)):
        return low == stored.low && high == stored.high
      case (.objectId(let bytes), .objectId(let low, let high)):
        return Self.bytes(low, high).starts(with: bytes)
      case (.uuid(let bytes), .uuid(let low, let high)): return Self.bytes(low, high) == bytes
      case (.link(let classIndex, let key), .link(let link)):
        return try targets[classIndex]?.stored.tableID == link.table
          && self.key(key, classIndex) == link.key
      case (.link, .none): return try !leads(value)
      case (.list(let values), .list(_, let stored)):
        return try values.count == stored.count
          && zip(values, stored).allSatisfy { try isEqual($0, $1) }
      case (.dictionary(let entries), .dictionary(_, let stored)):
        return try entries.count == stored.count
          && zip(Self.sorted(entries), stored).allSatisfy {
            try $0.key == $1.key && isEqual($0.value, $1.value)
          }
      default: return false
      }
    }

    /// Whether an embedded object that is held has its row; the others are counted.
    private func isThere(_ row: Int64?, _ classIndex: Int) -> Bool {
      guard let row, let target = targets[classIndex], target.stored.isEmbedded else { return true }
      return target.seek(row) != nil
    }

    /// Whether a link leads to an object.
    func leads(_ value: RealmFileValue) throws -> Bool {
      guard case .link(let classIndex, let key) = value else { return false }
      return try self.key(key, classIndex) != nil
    }

    /// What an object of the file is called here: by its integer primary key, or as there.
    private func key(_ key: Int64, _ classIndex: Int) throws -> Int64? {
      guard let access = targets[classIndex] else { return nil }
      guard access.stored.isKeyPrimaryKey, let index = file.classes[classIndex].primaryKey else {
        return try file.contains(key, in: classIndex) ? key : nil
      }
      guard case .int(let value)? = try file.value(of: index, of: key, in: classIndex) else {
        return nil
      }
      return value
    }

    /// Both are counted in nanoseconds since 1970; here nothing is before the first second of 64 bits.
    private static func isEqual(
      _ seconds: Int64, _ nanoseconds: Int32, _ stored: StoredDate
    ) -> Bool {
      max(moment(seconds, Int128(nanoseconds)), moment(.min, 0))
        == moment(stored.seconds, Int128(stored.nanoseconds))
    }

    /// Nanoseconds since 1970.
    private static func moment(_ seconds: Int64, _ nanoseconds: Int128) -> Int128 {
      Int128(seconds) * 1_000_000_000 + nanoseconds
    }

    /// Bytes as two numbers, the first of them in the high one, zeros behind them.
    private static func words(_ bytes: [UInt8]) -> (low: UInt64, high: UInt64) {
      let filled = bytes + [UInt8](repeating: 0, count: max(0, 16 - bytes.count))
      func word(_ part: ArraySlice<UInt8>) -> UInt64 {
        part.reduce(0) { $0 << 8 | UInt64($1) }
      }
      return (word(filled[8..<16]), word(filled[..<8]))
    }

    private static func bytes(_ low: UInt64, _ high: UInt64) -> [UInt8] {
      [high, low].flatMap { word in
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
      }
    }

    static func sorted(
      _ entries: [RealmFileValue.Entry]
    ) -> [(key: [UInt8], value: RealmFileValue)] {
      entries.map { entry in
        switch entry.key {
        case .int(let number): (Array(String(number).utf8), entry.value)
        case .string(let text): (Array(text.utf8), entry.value)
        default: ([], entry.value)
        }
      }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// A value of a set; nil for a collection, which no set has.
    func scalar(_ value: RealmFileValue) throws -> StoredAny? {
      switch value {
      case .null: return StoredAny.none
      case .int(let value): return .int(value)
      case .bool(let value): return .bool(value)
      case .float(let value): return .float(value)
      case .double(let value): return .double(value)
      case .string(let value): return .string(Array(value.utf8))
      case .data(let value): return .data(value)
      case .decimal(let low, let high): return .decimal(DecimalBits(low: low, high: high))
      case .date(let seconds, let nanoseconds):
        let whole = max(Self.moment(seconds, Int128(nanoseconds)), Self.moment(.min, 0))
        let start = Int64(truncatingIfNeeded: (whole - Self.moment(.min, 0)) / 1_000_000_000)
        return .date(
          StoredDate(
            seconds: .min &+ start,
            nanoseconds: UInt32((whole - Self.moment(.min, 0)) % 1_000_000_000)))
      case .objectId(let bytes):
        let words = Self.words(bytes)
        return .objectId(low: words.low, high: words.high)
      case .uuid(let bytes):
        let words = Self.words(bytes)
        return .uuid(low: words.low, high: words.high)
      case .link(let classIndex, let key):
        guard let row = try self.key(key, classIndex), let target = targets[classIndex] else {
          return StoredAny.none
        }
        return .link(StoredAnyLink(table: target.stored.tableID, key: row))
      case .list, .dictionary: return nil
      }
    }
  }
#endif
