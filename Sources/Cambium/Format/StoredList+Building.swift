import CambiumCore

extension StoredList {
  /// The small form of `elements`, of a map with as many keys, or nil when they take more than
  /// ``byteLimit`` bytes.
  package static func form(
    _ elements: [ColumnValue], keys: [ColumnValue]? = nil, _ type: ColumnType
  ) -> [UInt8]? {
    if elements.isEmpty { return [] }
    guard elements.count <= byteLimit else { return nil }
    var builder = Builder(type: type, elements: elements, keys: keys)
    return builder.build()
  }

  private struct Builder {
    let type: ColumnType
    let elements: [ColumnValue]
    let keys: [ColumnValue]?
    var bytes: [UInt8] = []

    mutating func build() -> [UInt8]? {
      let hasNulls = elements.contains { if case .null = $0 { true } else { false } }
      let width = width
      let flags = (hasNulls ? StoredList.hasNulls : 0) | (keys == nil ? 0 : StoredList.hasKeys)
      bytes = [UInt8(width), flags]
      append(UInt64(elements.count), 2)
      if hasNulls { appendNulls() }
      if type == .bytes, !appendEnds(of: elements) { return nil }
      for element in elements {
        append(element, width)
        if bytes.count > StoredList.byteLimit { return nil }
      }
      guard let keys else { return bytes }
      guard appendEnds(of: keys) else { return nil }
      for key in keys { append(key, 0) }
      return bytes.count > StoredList.byteLimit ? nil : bytes
    }

    private var width: Int {
      switch type {
      case .int: integerWidth
      case .bool: 1
      case .float: 4
      case .double: 8
      case .wide: 16
      case .bytes: 0
      }
    }

    private var integerWidth: Int {
      var low: Int64 = 0
      var high: Int64 = 0
      for case .int(let value) in elements {
        low = min(low, value)
        high = max(high, value)
      }
      if low >= Int8.min, high <= Int8.max { return 1 }
      if low >= Int16.min, high <= Int16.max { return 2 }
      return low >= Int32.min && high <= Int32.max ? 4 : 8
    }

    private mutating func appendNulls() {
      var byte: UInt8 = 0
      for (index, element) in elements.enumerated() {
        if case .null = element { byte |= 1 << UInt8(index & 7) }
        if index & 7 == 7 || index == elements.count - 1 {
          bytes.append(byte)
          byte = 0
        }
      }
    }

    private mutating func appendEnds(of texts: [ColumnValue]) -> Bool {
      var end = 0
      for element in texts {
        if case .bytes(let value) = element { end += value.count }
        if end > StoredList.byteLimit { return false }
        append(UInt64(end), 2)
      }
      return true
    }

    private mutating func append(_ element: ColumnValue, _ width: Int) {
      switch element {
      case .null: append(0, min(width, 8)); if width == 16 { append(0, 8) }
      case .int(let value): append(UInt64(bitPattern: value), width)
      case .bool(let value): bytes.append(value ? 1 : 0)
      case .float(let value): append(UInt64(value.bitPattern), 4)
      case .double(let value): append(value.bitPattern, 8)
      case .wide(let low, let high):
        append(low, 8)
        append(high, 8)
      case .bytes(let value): unsafe bytes.append(contentsOf: value)
      case .tree: preconditionFailure("A list holds no trees.")
      }
    }

    private mutating func append(_ value: UInt64, _ byteCount: Int) {
      for index in 0..<byteCount {
        bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8)))
      }
    }
  }
}
