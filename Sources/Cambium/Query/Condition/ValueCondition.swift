import CambiumCore

/// A condition on one stored value, compiled from an operator and its constants.
///
/// Which kind it is follows from the column it tests, so that a scan chooses its loop once for a
/// whole leaf.
///
/// Pointers: the caller lends the bytes of the value for the length of a call.
package struct ValueCondition: Sendable, Hashable {
  /// The condition on values that are not null.
  package enum Kind: Sendable, Hashable {
    case none
    case all
    case integer(IntegerCondition)
    case bool(whenTrue: Bool, whenFalse: Bool)
    case floating(FloatingCondition)
    case wide(WideCondition)
    case decimal(DecimalCondition)
    case bytes(BytesCondition)
    /// On values of any type.
    case any(AnyCondition)
  }

  package var kind: Kind
  /// Whether null satisfies the condition.
  package var matchesNull: Bool

  package init(_ kind: Kind, matchesNull: Bool = false) {
    self.kind = kind
    self.matchesNull = matchesNull
  }

  /// Whether a value satisfies the condition.
  package func matches(_ value: ColumnValue) -> Bool {
    if case .null = value { return matchesNull }
    switch kind {
    case .none: return false
    case .all: return true
    case .integer(let condition):
      guard case .int(let integer) = value else { return false }
      return condition.matches(integer)
    case .bool(let whenTrue, let whenFalse):
      guard case .bool(let flag) = value else { return false }
      return flag ? whenTrue : whenFalse
    case .floating(let condition):
      switch value {
      case .double(let number): return condition.matches(number)
      case .float(let number): return condition.matches(Double(number))
      case .int(let number): return condition.matches(Double(number))
      default: return false
      }
    case .wide(let condition):
      guard case .wide(let low, let high) = value else { return false }
      return condition.matches(low: low, high: high)
    case .decimal(let condition):
      guard case .wide(let low, let high) = value else { return false }
      return condition.matches(DecimalBits(low: low, high: high))
    case .bytes(let condition):
      guard case .bytes(let bytes) = value else { return false }
      return unsafe condition.matches(bytes)
    case .any(let condition): return condition.matches(value)
    }
  }
}
