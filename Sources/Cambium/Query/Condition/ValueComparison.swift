import CambiumCore

/// Compares two stored values of the same kind.
///
/// Pointers: the caller lends the bytes of both values; what is folded lies in arrays.
package struct ValueComparison: Sendable, Hashable {
  package var operation: QueryOperator
  package var property: PropertyType
  package var options: StringOptions = []

  /// Whether `left operation right`.
  package func holds(_ left: ColumnValue, _ right: ColumnValue) -> Bool {
    switch (left, right) {
    case (.null, .null):
      return [.equal, .lessOrEqual, .greaterOrEqual, .like].contains(operation)
    case (.null, _), (_, .null):
      return operation == .notEqual
    case (.bytes, .bytes) where property == .any && comparesTexts:
      return holdsTexts(left, right)
    case (.bytes, .bytes) where property == .any:
      let order = CellOrder(.any).compare(left, right)
      // Values of different kinds have no order.
      let areAlike = order == 0 || Self.kind(left) == Self.kind(right)
      return areAlike ? holds(order: order) : operation == .notEqual
    case (.bytes(let left), .bytes(let right)): return unsafe holds(left, right)
    default:
      if CellOrder.isFloatingNaN(left) || CellOrder.isFloatingNaN(right) {
        return operation == .notEqual
      }
      return holds(order: CellOrder(property).compare(left, right))
    }
  }

  /// Whether more of a text counts than its place in the order of values.
  private var comparesTexts: Bool { operation.isStringOperator || !options.isEmpty }

  /// The same for values of any type, of which two texts, and two pieces of data, compare as such.
  private func holdsTexts(_ left: ColumnValue, _ right: ColumnValue) -> Bool {
    var alike = self
    switch (StoredAny(left), StoredAny(right)) {
    case (.string(let left)?, .string(let right)?):
      alike.property = .string
      return alike.holds(left, right)
    case (.data(let left)?, .data(let right)?):
      alike.property = .data
      return alike.holds(left, right)
    default:
      alike.options = []
      return !operation.isStringOperator && alike.holds(left, right)
    }
  }

  /// What a value of any type begins with in the order of all.
  private static func kind(_ cell: ColumnValue) -> UInt8? { StoredAny(cell)?.orderedKey.first }

  private func holds(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    unsafe left.withUnsafeBytes { left in
      unsafe right.withUnsafeBytes { unsafe holds(left, $0) }
    }
  }

  private func holds(order: Int) -> Bool {
    switch operation {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    default: false
    }
  }

  private func holds(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard options.isEmpty || property != .string else {
      let folding = TextFolding(options, keepsCount: operation == .like)
      var (first, second): ([UInt8], [UInt8]) = ([], [])
      unsafe folding.fold(left, into: &first)
      unsafe folding.fold(right, into: &second)
      return unsafe first.withUnsafeBytes { first in
        unsafe second.withUnsafeBytes { unsafe holdsFolded(first, $0) }
      }
    }
    return unsafe holdsFolded(left, right)
  }

  private func holdsFolded(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Bool {
    switch operation {
    case .beginsWith, .endsWith, .contains:
      guard unsafe !right.isEmpty else { return false }
      let piece = unsafe Array(right)
      let kind: BytesCondition.Kind =
        operation == .beginsWith
        ? .beginsWith(piece) : operation == .endsWith ? .endsWith(piece) : .contains(piece)
      return unsafe BytesCondition(kind).matches(left)
    case .like:
      return unsafe LikePattern(bytes: Array(right), isText: property == .string).matches(left)
    default: return unsafe holds(order: BytesCondition.compare(left, right))
    }
  }
}
