import CambiumCore

/// The one order of the values that a property's cells hold: what sorting, extremes, telling apart
/// and comparisons go by.
///
/// Null comes first. Numbers compare by value, −0 with 0, NaN below all of them and with itself;
/// decimal numbers whatever their exponents. False comes before true, and text, data and identifiers
/// go byte by byte. ``SortColumn`` holds many values in a form with the same order.
///
/// Pointers: the caller lends the bytes of cells for the length of a call.
package struct CellOrder: Sendable {
  let type: PropertyType

  /// The order of the values of a property of `type`.
  package init(_ type: PropertyType) { self.type = type }

  /// Below 0, 0 or above 0 as `left` comes before, with or behind `right`.
  package func compare(_ left: ColumnValue, _ right: ColumnValue) -> Int {
    switch (left, right) {
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    case (.int(let left), .int(let right)): Self.compare(left, right)
    case (.bool(let left), .bool(let right)): Self.compare(left ? 1 : 0, right ? 1 : 0)
    case (.bytes, .bytes) where type == .any: anyOrder(left, right)
    case (.bytes(let left), .bytes(let right)): unsafe BytesCondition.compare(left, right)
    case (.wide(let low, let high), .wide(let otherLow, let otherHigh)) where type != .decimal128:
      Self.compare(
        WideCondition.key(low: low, high: high, isSigned: type == .date),
        WideCondition.key(low: otherLow, high: otherHigh, isSigned: type == .date))
    default: numericOrder(left, right)
    }
  }

  /// Whether both are the same value: as in Swift, a `Float` or `Double` that is NaN equals nothing.
  package func areEqual(_ left: ColumnValue, _ right: ColumnValue) -> Bool {
    !Self.isFloatingNaN(left) && !Self.isFloatingNaN(right) && compare(left, right) == 0
  }

  /// Whether the value is no number, and so neither the smallest nor the greatest of any.
  func isNaN(_ value: ColumnValue) -> Bool {
    if type == .decimal128, case .wide(let low, let high) = value {
      return DecimalBits(low: low, high: high).isNaN
    }
    return Self.isFloatingNaN(value)
  }

  static func isFloatingNaN(_ value: ColumnValue) -> Bool {
    switch value {
    case .float(let value): value.isNaN
    case .double(let value): value.isNaN
    default: false
    }
  }

  private func anyOrder(_ left: ColumnValue, _ right: ColumnValue) -> Int {
    let (first, second) = (StoredAny(left)?.orderedKey ?? [], StoredAny(right)?.orderedKey ?? [])
    return unsafe first.withUnsafeBytes { unsafe BytesCondition.compare($0, second) }
  }

  private static func compare<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  /// Numbers of the same kind, or of two where one was computed.
  private func numericOrder(_ left: ColumnValue, _ right: ColumnValue) -> Int {
    if type == .decimal128 {
      guard let left = Self.decimal(left), let right = Self.decimal(right) else { return 0 }
      return DecimalBits.compare(left, right)
    }
    guard let left = Self.double(left), let right = Self.double(right) else { return 0 }
    if left.isNaN || right.isNaN { return (left.isNaN ? 0 : 1) - (right.isNaN ? 0 : 1) }
    return Self.compare(left, right)
  }

  private static func double(_ value: ColumnValue) -> Double? {
    switch value {
    case .int(let value): Double(value)
    case .float(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  private static func decimal(_ value: ColumnValue) -> DecimalBits? {
    switch value {
    case .int(let value): DecimalBits(rounding: value)
    case .float(let value): DecimalBits(value)
    case .double(let value): DecimalBits(value)
    case .wide(let low, let high): DecimalBits(low: low, high: high)
    default: nil
    }
  }
}

extension CellOrder {
  /// A value by which a set tells cells apart as the order does: NaN is one value, too.
  struct Identity: Hashable {
    let cell: ColumnValue
    let order: CellOrder

    static func == (left: Identity, right: Identity) -> Bool {
      left.order.compare(left.cell, right.cell) == 0
    }

    func hash(into hasher: inout Hasher) {
      switch cell {
      case .null, .tree: break
      case .int(let value): hasher.combine(value)
      case .bool(let value): hasher.combine(value)
      case .float(let value): hasher.combine(value.isNaN ? .nan : value)
      case .double(let value): hasher.combine(value.isNaN ? .nan : value)
      case .wide(let low, let high) where order.type == .decimal128:
        hasher.combine(DecimalBits(low: low, high: high))
      case .wide(let low, let high):
        hasher.combine(low)
        hasher.combine(high)
      case .bytes where order.type == .any: hasher.combine(StoredAny(cell)?.orderedKey)
      case .bytes(let bytes): unsafe hasher.combine(bytes: bytes)
      }
    }
  }
}
