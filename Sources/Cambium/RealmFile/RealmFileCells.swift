#if RealmFile
  import CambiumCore
  internal import CambiumRealmFile

  /// Turns values of a `.realm` file into cells.
  ///
  /// Pointers: texts and data lend their bytes for the length of a call; the row copies what it keeps.
  final class RealmFileCells {
    let file: RealmFile
    /// The classes here, by their numbers in the file; nil for those that are left out.
    let targets: [ClassAccess?]
    let session: WriteSession

    init(file: RealmFile, targets: [ClassAccess?], session: WriteSession) {
      self.file = file
      self.targets = targets
      self.session = session
    }

    // MARK: Links

    /// The row that an object of the file has here; nil when the file has no such object.
    ///
    /// Objects keep their keys, unless their class has an integer primary key: then that is the key.
    func rowKey(of key: Int64, in classIndex: Int) throws -> Int64? {
      guard let stored = targets[classIndex]?.stored else { return nil }
      guard stored.isKeyPrimaryKey, let primaryKey = file.classes[classIndex].primaryKey else {
        return try file.contains(key, in: classIndex) ? key : nil
      }
      guard case .int(let value)? = try file.value(of: primaryKey, of: key, in: classIndex) else {
        return nil
      }
      return value
    }

    // MARK: Single values

    /// Appends a value of a property that is no collection to the row; links that lead nowhere are null.
    func append(
      _ value: RealmFileValue, of column: RealmFileColumn, to row: _RowWriter
    ) throws {
      if column.type == .any {
        if let bytes = try storedAny(value, column).bytes {
          row.append(bytes)
        } else {
          row.append(.null)
        }
        return
      }
      try withCell(value, of: column) { row.append($0) }
    }

    /// Calls `body` with the cell of one value that is not of any type.
    private func withCell(
      _ value: RealmFileValue, of column: RealmFileColumn, _ body: (ColumnValue) -> Void
    ) throws {
      switch (value, column.type) {
      case (.null, _):
        guard column.allowsNull else { throw column.damage("a value that must be there is null") }
        body(.null)
      case (.int(let value), .int): body(.int(value))
      case (.bool(let value), .bool): body(.bool(value))
      case (.float(let value), .float): body(.float(value))
      case (.double(let value), .double): body(.double(value))
      case (.string(var value), .string):
        value.withUTF8 { body(unsafe .bytes(UnsafeRawBufferPointer($0))) }
      case (.data(let value), .data): unsafe value.withUnsafeBytes { body(unsafe .bytes($0)) }
      case (.date(let seconds, let nanoseconds), .date):
        let wide = try date(seconds, nanoseconds, column).wide
        body(.wide(low: wide.low, high: wide.high))
      case (.decimal(let low, let high), .decimal128): body(.wide(low: low, high: high))
      case (.objectId(let bytes), .objectId):
        let wide = Self.wide(bytes, byteCount: 12)
        body(.wide(low: wide.low, high: wide.high))
      case (.uuid(let bytes), .UUID):
        let wide = Self.wide(bytes, byteCount: 16)
        body(.wide(low: wide.low, high: wide.high))
      case (.link(let classIndex, let key), .object):
        guard classIndex == column.target else {
          throw column.damage("a link leads to another class")
        }
        if let row = try rowKey(of: key, in: classIndex) { body(.int(row)) } else { body(.null) }
      default: throw column.damage("a value is of another type than its property")
      }
    }

    /// The two words of an identifier: its bytes as one big-endian number, zeros behind them.
    private static func wide(_ bytes: [UInt8], byteCount: Int) -> (low: UInt64, high: UInt64) {
      var words: (high: UInt64, low: UInt64) = (0, 0)
      for (index, byte) in bytes.prefix(byteCount).enumerated() {
        let shift = UInt64(56 - index % 8 * 8)
        if index < 8 {
          words.high |= UInt64(byte) << shift
        } else {
          words.low |= UInt64(byte) << shift
        }
      }
      return (words.low, words.high)
    }

    /// The file has both parts of the same sign; here seconds are rounded down.
    private func date(
      _ seconds: Int64, _ nanoseconds: Int32, _ column: RealmFileColumn
    ) throws -> StoredDate {
      guard abs(Int64(nanoseconds)) < 1_000_000_000 else {
        throw column.damage("a date has more than a second of nanoseconds")
      }
      if nanoseconds >= 0 {
        return StoredDate(seconds: seconds, nanoseconds: UInt32(nanoseconds))
      }
      let (whole, isOver) = seconds.subtractingReportingOverflow(1)
      // Less than a second below the first moment that there is; as a Date it is the same.
      if isOver { return StoredDate(seconds: .min, nanoseconds: 0) }
      return StoredDate(seconds: whole, nanoseconds: UInt32(1_000_000_000 + nanoseconds))
    }

    // MARK: Collections

    /// Appends the elements of a list or set, or the entries of a map, to the row; links that lead nowhere are
    /// left out of lists and sets, and null in maps.
    func appendCollection(
      _ value: RealmFileValue, of column: RealmFileColumn, to row: _RowWriter
    ) throws {
      let property = column.property
      var cells: [ColumnValue] = []
      var keys: [ColumnValue]?
      switch value {
      case .list(let values) where !property.isMap:
        cells.reserveCapacity(values.count)
        for value in values {
          let cell = try element(value, of: column, row)
          if property.type == .object, case .null = cell { continue }
          cells.append(cell)
        }
        if property.isSet { cells = CellOrder(property.type).members(of: cells) }
      case .dictionary(let entries) where property.isMap:
        let entries = try sorted(entries, column)
        keys = entries.map { entry in
          unsafe entry.key.withUnsafeBytes { unsafe row.lasting(.bytes($0)) }
        }
        for entry in entries {
          cells.append(try element(entry.value, of: column, row))
        }
      default: throw column.damage("a value is of another type than its property")
      }
      if cells.isEmpty {
        row.append([])
        return
      }
      if property.type == .any { row.noteAnyLinks(in: cells) }
      if property.type == .object { row.noteTargets(cells.compactMap(\.link)) }
      try StoredList.withCell(
        of: cells, keys: keys, column.elementType, in: session.transaction.context
      ) { row.append($0) }
    }

    private func element(
      _ value: RealmFileValue, of column: RealmFileColumn, _ row: _RowWriter
    ) throws -> ColumnValue {
      if column.type == .any {
        let value = try storedAny(value, column)
        if column.property.isSet, value.identifier != nil {
          throw column.damage("a set has a collection inside")
        }
        return value.withCell { row.lasting($0) }
      }
      var result = ColumnValue.null
      try withCell(value, of: column) { result = row.lasting($0) }
      return result
    }

    /// The entries in the order of their keys' bytes; integers are keys by their digits.
    private func sorted(
      _ entries: [RealmFileValue.Entry], _ column: RealmFileColumn
    ) throws -> [(key: [UInt8], value: RealmFileValue)] {
      var result = try entries.map { entry -> (key: [UInt8], value: RealmFileValue) in
        switch entry.key {
        case .string(let text): (Array(text.utf8), entry.value)
        case .int(let number): (Array("\(number)".utf8), entry.value)
        default: throw column.damage("a key of a dictionary is neither a text nor a number")
        }
      }
      result.sort { $0.key.lexicographicallyPrecedes($1.key) }
      for (entry, next) in zip(result, result.dropFirst()) where entry.key == next.key {
        throw column.damage("a dictionary has a key twice")
      }
      return result
    }

    // MARK: Values of any type

    private func storedAny(
      _ value: RealmFileValue, _ column: RealmFileColumn, depth: Int = 0
    ) throws -> StoredAny {
      guard depth <= StoredAny.depthLimit else {
        throw column.damage("a value is nested deeper than \(StoredAny.depthLimit) levels")
      }
      switch value {
      case .null: return .none
      case .int(let value): return .int(value)
      case .bool(let value): return .bool(value)
      case .float(let value): return .float(value)
      case .double(let value): return .double(value)
      case .string(let value): return .string(Array(value.utf8))
      case .data(let value): return .data(value)
      case .date(let seconds, let nanoseconds):
        return .date(try date(seconds, nanoseconds, column))
      case .decimal(let low, let high): return .decimal(DecimalBits(low: low, high: high))
      case .objectId(let bytes):
        let wide = Self.wide(bytes, byteCount: 12)
        return .objectId(low: wide.low, high: wide.high)
      case .uuid(let bytes):
        let wide = Self.wide(bytes, byteCount: 16)
        return .uuid(low: wide.low, high: wide.high)
      case .link(let classIndex, let key):
        guard let stored = targets[classIndex]?.stored,
          let row = try rowKey(of: key, in: classIndex)
        else { return .none }
        if stored.isEmbedded { throw column.damage("a value links to an embedded object") }
        return .link(StoredAnyLink(table: stored.tableID, key: row))
      case .list(let values):
        let identifier = session.newIdentifier()
        return .list(
          identifier: identifier, try values.map { try storedAny($0, column, depth: depth + 1) })
      case .dictionary(let entries):
        let identifier = session.newIdentifier()
        return .dictionary(
          identifier: identifier,
          try sorted(entries, column).map {
            StoredAny.Entry(
              key: $0.key, value: try storedAny($0.value, column, depth: depth + 1))
          })
      }
    }
  }
#endif
