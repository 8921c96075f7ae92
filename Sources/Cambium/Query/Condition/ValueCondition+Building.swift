import CambiumCore
import Foundation

/// Compiles operators and constants, by the matrix of what may be compared with what.
extension ValueCondition {
  /// What is tested, for the choice of the condition and for messages.
  package struct Subject {
    var type: PropertyType
    /// The path as the user wrote it.
    var path: String
  }

  /// The condition of `subject operation constant`.
  ///
  /// - Throws: `QueryError` when the type does not know the operator or cannot be compared with the
  ///   constant.
  package static func make(
    _ subject: Subject, _ operation: QueryOperator, _ constant: QueryConstant,
    options: StringOptions = []
  ) throws(QueryError) -> ValueCondition {
    switch operation {
    case .between: return try between(subject, constant)
    case .in: return try membership(subject, constant, options)
    default: break
    }
    try check(subject, operation, options)
    if case .null = constant { return comparisonWithNull(operation) }
    let kind: Kind
    switch subject.type {
    case .int, .object:
      kind = integer(operation, try integer(subject, constant))
    case .bool:
      let flag = try bool(subject, constant)
      let isEqual = operation == .equal
      kind = .bool(whenTrue: flag == isEqual, whenFalse: flag != isEqual)
    case .float, .double:
      let number = try floating(subject, constant)
      kind = FloatingCondition(operation, number).map(Kind.floating) ?? .none
    case .decimal128:
      kind = .decimal(.compare(operation, try decimal(subject, constant)))
    case .date, .objectId, .UUID:
      kind = wide(operation, try wideKey(subject, constant), isSigned: subject.type == .date)
    case .string, .data:
      kind = bytes(operation, try bytes(subject, constant), options, subject.type)
    case .any, .linkingObjects:
      throw unsupported(operation, subject)
    }
    return ValueCondition(kind, matchesNull: operation == .notEqual)
  }

  // MARK: Rules

  private static func unsupported(_ operation: QueryOperator, _ subject: Subject) -> QueryError {
    QueryError("Operator '\(operation.rawValue)' not supported for type '\(subject.type)'")
  }

  private static func mismatch(_ constant: QueryConstant, _ subject: Subject) -> QueryError {
    QueryError(
      "Cannot compare value '\(constant.text)' of type '\(constant.typeName)' to property "
        + "'\(subject.path)' of type '\(subject.type)'")
  }

  static func check(
    _ subject: Subject, _ operation: QueryOperator, _ options: StringOptions
  ) throws(QueryError) {
    let isText = subject.type == .string || subject.type == .data || subject.type == .any
    if operation.isStringOperator, !isText { throw unsupported(operation, subject) }
    if operation.isOrdering {
      switch subject.type {
      case .bool, .objectId, .UUID, .object: throw unsupported(operation, subject)
      default: break
      }
      if isText, !options.isEmpty {
        throw QueryError("Lexicographical comparisons must be case-sensitive")
      }
    }
    if operation == .like, options.contains(.diacriticInsensitive) {
      throw QueryError("Operator 'LIKE' not supported with diacritic-insensitive modifier.")
    }
  }

  static func comparisonWithNull(_ operation: QueryOperator) -> ValueCondition {
    switch operation {
    case .equal, .lessOrEqual, .greaterOrEqual, .like: ValueCondition(.none, matchesNull: true)
    case .notEqual: ValueCondition(.all)
    default: ValueCondition(.none)
    }
  }

  // MARK: Several constants

  private static func between(
    _ subject: Subject, _ constant: QueryConstant
  ) throws(QueryError) -> ValueCondition {
    guard case .array(let bounds) = constant, bounds.count == 2 else {
      throw QueryError("NSArray object must contain exactly two objects for BETWEEN operations")
    }
    switch subject.type {
    case .int, .float, .double, .decimal128, .date: break
    default: throw unsupported(.between, subject)
    }
    let lower = try make(subject, .greaterOrEqual, bounds[0])
    let upper = try make(subject, .lessOrEqual, bounds[1])
    let matchesNull = lower.matchesNull && upper.matchesNull
    let kind: Kind
    switch (lower.kind, upper.kind) {
    case (.integer(.range(let low)), .integer(.range(let high))):
      kind =
        low.lowerBound <= high.upperBound
        ? .integer(.range(low.lowerBound...high.upperBound)) : .none
    case (.floating(.range(let low, _)), .floating(.range(_, let high))):
      kind = .floating(.range(low, high))
    case (.decimal(.compare(_, let low)), .decimal(.compare(_, let high))):
      kind = .decimal(.range(low, high))
    case (.wide(let low), .wide(let high)):
      guard case .range(let first) = low.kind, case .range(let last) = high.kind,
        first.lowerBound <= last.upperBound
      else { return ValueCondition(.none, matchesNull: matchesNull) }
      kind = .wide(
        WideCondition(.range(first.lowerBound...last.upperBound), isSigned: subject.type == .date))
    default: kind = .none
    }
    return ValueCondition(kind, matchesNull: matchesNull)
  }

  private static func membership(
    _ subject: Subject, _ constant: QueryConstant, _ options: StringOptions
  ) throws(QueryError) -> ValueCondition {
    guard case .array(let elements) = constant else {
      throw QueryError("IN clause requires an array of items")
    }
    var values: [QueryConstant] = []
    var matchesNull = false
    for element in elements {
      if case .null = element { matchesNull = true } else { values.append(element) }
    }
    if values.isEmpty { return ValueCondition(.none, matchesNull: matchesNull) }
    let kind: Kind
    switch subject.type {
    case .int, .object:
      var members: [Int64] = []
      for value in values { members.append(try integer(subject, value)) }
      kind = .integer(.set(IntegerSet(members)))
    case .bool:
      var (whenTrue, whenFalse) = (false, false)
      for value in values {
        if try bool(subject, value) { whenTrue = true } else { whenFalse = true }
      }
      kind = .bool(whenTrue: whenTrue, whenFalse: whenFalse)
    case .float, .double:
      var members: Set<Double> = []
      for value in values { members.insert(try floating(subject, value)) }
      kind = .floating(.set(members))
    case .decimal128:
      var members: Set<DecimalBits> = []
      for value in values { members.insert(try decimal(subject, value)) }
      kind = .decimal(.set(members))
    case .date, .objectId, .UUID:
      var members: Set<UInt128> = []
      for value in values { members.insert(try wideKey(subject, value)) }
      kind = .wide(WideCondition(.set(members.sorted()), isSigned: subject.type == .date))
    case .string, .data:
      let folding = subject.type == .string && !options.isEmpty ? TextFolding(options) : nil
      var members: Set<[UInt8]> = []
      for value in values {
        let member = try bytes(subject, value)
        members.insert(folding?.fold(String(decoding: member, as: UTF8.self)) ?? member)
      }
      let sorted = members.sorted { $0.lexicographicallyPrecedes($1) }
      kind = .bytes(BytesCondition(.set(sorted), folding: folding))
    case .any, .linkingObjects: throw unsupported(.in, subject)
    }
    return ValueCondition(kind, matchesNull: matchesNull)
  }

  // MARK: Kinds

  private static func integer(_ operation: QueryOperator, _ constant: Int64) -> Kind {
    switch operation {
    case .equal: .integer(.range(constant...constant))
    case .notEqual: .integer(.outside(constant...constant))
    case .less: constant == .min ? .none : .integer(.range(.min...constant - 1))
    case .lessOrEqual: .integer(.range(.min...constant))
    case .greater: constant == .max ? .none : .integer(.range(constant + 1 ... .max))
    case .greaterOrEqual: .integer(.range(constant ... .max))
    default: .none
    }
  }

  private static func wide(
    _ operation: QueryOperator, _ key: UInt128, isSigned: Bool
  ) -> Kind {
    let kind: WideCondition.Kind
    switch operation {
    case .equal: kind = .range(key...key)
    case .notEqual: kind = .outside(key...key)
    case .less:
      guard key > 0 else { return .none }
      kind = .range(0...key - 1)
    case .lessOrEqual: kind = .range(0...key)
    case .greater:
      guard key < .max else { return .none }
      kind = .range(key + 1 ... .max)
    case .greaterOrEqual: kind = .range(key ... .max)
    default: return .none
    }
    return .wide(WideCondition(kind, isSigned: isSigned))
  }

  private static func bytes(
    _ operation: QueryOperator, _ constant: [UInt8], _ options: StringOptions,
    _ type: PropertyType
  ) -> Kind {
    let folding =
      type == .string && !options.isEmpty
      ? TextFolding(options, keepsCount: operation == .like) : nil
    let bytes = folding?.fold(String(decoding: constant, as: UTF8.self)) ?? constant
    let kind: BytesCondition.Kind
    switch operation {
    case .equal: kind = .equal(bytes)
    case .notEqual: kind = .notEqual(bytes)
    case .less, .lessOrEqual:
      kind = .range(
        lower: nil, includesLower: true, upper: bytes, includesUpper: operation == .lessOrEqual)
    case .greater, .greaterOrEqual:
      kind = .range(
        lower: bytes, includesLower: operation == .greaterOrEqual, upper: nil, includesUpper: true)
    case .like: kind = .like(LikePattern(bytes: bytes, isText: type == .string))
    // An empty piece is in every string, but these operators never find it.
    case _ where bytes.isEmpty: return .none
    case .beginsWith: kind = .beginsWith(bytes)
    case .endsWith: kind = .endsWith(bytes)
    case .contains: kind = .contains(bytes)
    case .between, .in: return .none
    }
    return .bytes(BytesCondition(kind, folding: folding))
  }

  // MARK: Constants

  private static func integer(
    _ subject: Subject, _ constant: QueryConstant
  ) throws(QueryError) -> Int64 {
    switch constant {
    case .int(let value): return value
    case .bool(let value): return value ? 1 : 0
    default: throw mismatch(constant, subject)
    }
  }

  private static func bool(
    _ subject: Subject, _ constant: QueryConstant
  ) throws(QueryError) -> Bool {
    switch constant {
    case .bool(let value): return value
    case .int(0): return false
    case .int(1): return true
    default: throw mismatch(constant, subject)
    }
  }

  private static func floating(
    _ subject: Subject, _ constant: QueryConstant
  ) throws(QueryError) -> Double {
    let number: Double
    switch constant {
    case .int(let value): number = Double(value)
    case .bool(let value): number = value ? 1 : 0
    case .float(let value): number = Double(value)
    case .double(let value): number = value
    case .decimal(let value): number = value.doubleValue
    default: throw mismatch(constant, subject)
    }
    guard subject.type == .float else { return number }
    // A property of 32 bits is compared with the constant in 32 bits: 0.1 finds 0.1.
    let narrow = Float(number)
    guard narrow.isFinite || !number.isFinite else { throw mismatch(constant, subject) }
    return Double(narrow)
  }

  private static func decimal(
    _ subject: Subject, _ constant: QueryConstant
  ) throws(QueryError) -> DecimalBits {
    switch constant {
    case .int(let value): return DecimalBits(rounding: value)
    case .bool(let value): return DecimalBits(rounding: value ? 1 : 0)
    case .float(let value): return DecimalBits(value)
    case .double(let value): return DecimalBits(value)
    case .decimal(let value): return value.bits
    case .string(let text):
      guard let bits = DecimalBits(text: text) else { throw mismatch(constant, subject) }
      return bits
    default: throw mismatch(constant, subject)
    }
  }

  private static func wideKey(
    _ subject: Subject, _ constant: QueryConstant
  ) throws(QueryError) -> UInt128 {
    let words: (low: UInt64, high: UInt64)
    switch (subject.type, constant) {
    case (.date, .date(let date)): words = StoredDate(date).wide
    case (.objectId, .objectId(let id)): words = id.wide
    case (.UUID, .uuid(let id)): words = StoredUUID.wide(id)
    case (.UUID, .string(let text)):
      guard let id = UUID(uuidString: text) else { throw mismatch(constant, subject) }
      words = StoredUUID.wide(id)
    default: throw mismatch(constant, subject)
    }
    return WideCondition.key(low: words.low, high: words.high, isSigned: subject.type == .date)
  }

  private static func bytes(
    _ subject: Subject, _ constant: QueryConstant
  ) throws(QueryError) -> [UInt8] {
    switch (subject.type, constant) {
    case (.string, .string(let text)): return Array(text.utf8)
    case (.data, .data(let data)): return Array(data)
    default: throw mismatch(constant, subject)
    }
  }
}

extension QueryConstant {
  /// The value in messages.
  var text: String {
    switch self {
    case .null: "(null)"
    case .array(let values): "(" + values.map(\.text).joined(separator: ", ") + ")"
    case .unsupported(let text, _): text
    case .object(let object): "\(object)"
    default: "\(swiftValue)"
    }
  }

  /// The type's name in messages.
  var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .int: "int"
    case .float: "float"
    case .double: "double"
    case .string: "string"
    case .data: "data"
    case .date: "date"
    case .objectId: "object id"
    case .uuid: "uuid"
    case .decimal: "decimal128"
    case .object: "object"
    case .array: "array"
    case .unsupported(_, let type): type
    }
  }
}
