/// Leaves of values of one type.
extension ValueReader {
  /// Where a leaf stands, which decides over the form of some types.
  enum Place {
    /// In an object tree, with that many objects, of some of which the values are read.
    case column(Int, LeafPart)
    /// In an element tree.
    case element

    /// How many values there must be; nil where it is not known.
    var expected: Int? {
      switch self {
      case .column(let count, _): count
      case .element: nil
      }
    }

    /// Calls `body` with each place of a value that is to be read, among `count`.
    func forEach(
      of count: Int, _ body: (Int) throws(ReadFault) -> Void
    ) throws(ReadFault) {
      switch self {
      case .column(_, let part): try part.forEach(of: count, body)
      case .element: for index in 0..<count { try body(index) }
      }
    }
  }

  /// Adds the values of a leaf; how many elements it has, of which unresolved links are left out.
  @discardableResult
  func append(
    _ node: Node, of column: Column, _ place: Place, to values: inout [RealmFileValue], _ walk: Walk
  ) throws(ReadFault) -> Int {
    let start = values.count
    switch column.storage {
    case .int: try appendIntegers(node, column, place, &values)
    case .bool: try appendBools(node, column, place, &values)
    case .string: try appendStrings(node, column, place, &values, walk)
    case .data: try appendData(node, column, place, &values, walk)
    case .date: try appendDates(node, column, place, &values, walk)
    case .float, .double: try appendFloats(node, column, &values)
    case .decimal128: try appendDecimals(node, column, &values)
    case .objectId, .uuid: try appendIdentities(node, column, place, &values)
    case .link: return try appendLinks(node, column, place, &values)
    case .typedLink: try appendTypedLinks(node, place, &values)
    case .mixed: try appendMixed(node, place, to: &values, walk)
    }
    return values.count - start
  }

  /// Throws when a value is null and must not be.
  private func checkNull(_ column: Column, _ node: Node) throws(ReadFault) {
    guard column.isNullable else {
      throw node.damage("a value is null, and the property is not optional")
    }
  }

  // MARK: Whole numbers

  /// The elements of a nullable leaf, whose first one stands for null.
  private func nullableIntegers(
    _ node: Node, _ expected: Int?
  ) throws(ReadFault) -> (marker: Int64, values: ArraySlice<Int64>) {
    let elements = try node.integers("optional integers", expected: expected.map { $0 + 1 })
    guard let marker = elements.first else {
      throw node.damage("a leaf of optional integers has no marker for null")
    }
    return (marker, elements.dropFirst())
  }

  private func appendIntegers(
    _ node: Node, _ column: Column, _ place: Place, _ values: inout [RealmFileValue]
  ) throws(ReadFault) {
    guard column.isNullable else {
      for value in try node.integers("integers", expected: place.expected) {
        values.append(.int(value))
      }
      return
    }
    let (marker, elements) = try nullableIntegers(node, place.expected)
    for element in elements { values.append(element == marker ? .null : .int(element)) }
  }

  private func appendBools(
    _ node: Node, _ column: Column, _ place: Place, _ values: inout [RealmFileValue]
  ) throws(ReadFault) {
    for element in try node.integers("truth values", expected: place.expected) {
      switch element {
      case 0: values.append(.bool(false))
      case 1: values.append(.bool(true))
      case 3:
        try checkNull(column, node)
        values.append(.null)
      default: throw node.damage("\(element) is no truth value")
      }
    }
  }

  private func appendDates(
    _ node: Node, _ column: Column, _ place: Place, _ values: inout [RealmFileValue], _ walk: Walk
  ) throws(ReadFault) {
    let (marker, seconds) = try nullableIntegers(
      walk.node(at: node.ref(0, "the seconds of dates")), place.expected)
    let nanoseconds = try walk.node(at: node.ref(1, "the nanoseconds of dates"))
      .integers("nanoseconds", expected: seconds.count)
    for (second, nanosecond) in zip(seconds, nanoseconds) {
      if second == marker {
        try checkNull(column, node)
        values.append(.null)
      } else {
        values.append(try date(second, nanosecond, node))
      }
    }
  }

  /// A date of two integers.
  func date(_ seconds: Int64, _ nanoseconds: Int64, _ node: Node) throws(ReadFault)
    -> RealmFileValue
  {
    guard -999_999_999...999_999_999 ~= nanoseconds else {
      throw node.damage("a date has \(nanoseconds) nanoseconds")
    }
    return .date(seconds: seconds, nanoseconds: Int32(nanoseconds))
  }

  // MARK: Broken numbers

  /// The bit patterns that stand for null; all others are numbers.
  private static let nullFloat: UInt32 = 0x7FC0_00AA
  private static let nullDouble: UInt64 = 0x7FF8_0000_0000_00AA

  private func appendFloats(
    _ node: Node, _ column: Column, _ values: inout [RealmFileValue]
  ) throws(ReadFault) {
    try node.check(.bytes, hasRefs: false, "numbers")
    if node.count == 0 { return }
    let width = column.storage == .float ? 4 : 8
    guard node.width == width else {
      throw node.damage("numbers of \(width) bytes have the width \(node.width)")
    }
    let isNullable = column.isNullable
    let bytes = node.payload.span
    if width == 4 {
      for index in 0..<node.count {
        let bits = bytes.littleEndian(UInt32.self, at: 4 * index)
        let isNull = isNullable && bits == Self.nullFloat
        values.append(isNull ? .null : .float(Float(bitPattern: bits)))
      }
    } else {
      for index in 0..<node.count {
        let bits = bytes.littleEndian(UInt64.self, at: 8 * index)
        let isNull = isNullable && bits == Self.nullDouble
        values.append(isNull ? .null : .double(Double(bitPattern: bits)))
      }
    }
  }

  private func appendDecimals(
    _ node: Node, _ column: Column, _ values: inout [RealmFileValue]
  ) throws(ReadFault) {
    try node.check(.bytes, hasRefs: false, "decimal numbers")
    guard node.width > 0 || node.count <= Node.largestEmptyWidthCount else {
      throw node.damage("\(node.count) decimal numbers take no space")
    }
    let bytes = node.payload.span
    for index in 0..<node.count {
      let value: RealmFileValue?
      switch node.width {
      case 0: value = node.hasContext ? Decimal.zero : .null
      case 4: value = Decimal.value(bytes.littleEndian(UInt32.self, at: 4 * index))
      case 8: value = Decimal.value(bytes.littleEndian(UInt64.self, at: 8 * index))
      case 16:
        value = Decimal.value(
          low: bytes.littleEndian(UInt64.self, at: 16 * index),
          high: bytes.littleEndian(UInt64.self, at: 16 * index + 8))
      default: throw node.damage("decimal numbers have the width \(node.width)")
      }
      guard let value else { throw node.damage("a decimal number has bits of none") }
      if value == .null { try checkNull(column, node) }
      values.append(value)
    }
  }

  // MARK: Identities

  /// Object ids and UUIDs: blocks of up to eight, each with a byte of flags for null in front.
  private func appendIdentities(
    _ node: Node, _ column: Column, _ place: Place, _ values: inout [RealmFileValue]
  ) throws(ReadFault) {
    try node.check(.bytes, hasRefs: false, "identities")
    if node.count == 0 { return }
    let size = column.storage == .uuid ? 16 : 12
    let block = 1 + 8 * size
    let flagCount = (node.count + block - 1) / block
    guard node.width == 1, (node.count - flagCount) % size == 0 else {
      throw node.damage("identities of \(size) bytes have \(node.count) bytes in all")
    }
    for index in 0..<(node.count - flagCount) / size {
      let start = index / 8 * block
      if node.payload[start] >> UInt8(index % 8) & 1 == 1 {
        try checkNull(column, node)
        values.append(.null)
        continue
      }
      let first = start + 1 + index % 8 * size
      let bytes = Array(node.payload[first..<first + size])
      values.append(column.storage == .uuid ? .uuid(bytes) : .objectId(bytes))
    }
  }
}
