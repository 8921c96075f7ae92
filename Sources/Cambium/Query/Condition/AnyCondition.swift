import CambiumCore

/// A condition on a value of any type that is not null: what it means for each kind of value.
///
/// Numbers compare by value whatever their type. Values of other kinds than the constant's satisfy only
/// inequality.
///
/// Pointers: arrays lend their bytes for the length of a call.
package struct AnyCondition: Sendable, Hashable {
  /// Whether the result of the rest is turned.
  private var isNegated = false
  private var bools: Set<Bool> = []
  private var number: DecimalCondition?
  /// Of texts, and of data.
  private var text: BytesCondition?
  private var data: BytesCondition?
  private var date: WideCondition?
  private var objectId: WideCondition?
  private var uuid: WideCondition?
  private var links: Set<StoredAnyLink> = []

  /// No value satisfies it.
  init() {}

  /// The condition of `operation constant`, which is not null; an object is given as a link, and nil when
  /// it was deleted.
  init(
    _ operation: QueryOperator, _ constant: QueryConstant, _ options: StringOptions,
    link: StoredAnyLink? = nil
  ) throws(QueryError) {
    var positive = operation
    if operation == .notEqual {
      isNegated = true
      positive = .equal
    }
    func subject(_ type: PropertyType) -> ValueCondition.Subject {
      ValueCondition.Subject(type: type, path: "")
    }
    switch constant {
    case .bool(let value):
      guard positive == .equal else { return }
      bools = [value]
    case .int, .float, .double, .decimal:
      guard !positive.isStringOperator else { return }
      let decimal = QueryConstant.decimal(Decimal128(bits: Self.number(constant)))
      if case .decimal(let condition) = try ValueCondition.make(
        subject(.decimal128), positive, decimal
      ).kind {
        number = condition
      }
    case .string(let value):
      text = try Self.bytes(subject(.string), positive, constant, options)
      data = try Self.bytes(subject(.data), positive, .data(.init(value.utf8)), options)
    case .data: data = try Self.bytes(subject(.data), positive, constant, options)
    case .date:
      guard !positive.isStringOperator else { return }
      date = Self.wide(try ValueCondition.make(subject(.date), positive, constant))
    case .objectId:
      guard positive == .equal else { return }
      objectId = Self.wide(try ValueCondition.make(subject(.objectId), positive, constant))
    case .uuid:
      guard positive == .equal else { return }
      uuid = Self.wide(try ValueCondition.make(subject(.UUID), positive, constant))
    case .object: if let link, positive == .equal { links = [link] }
    case .null, .array, .unsupported: break
    }
  }

  /// Numbers or dates from one to another, both included.
  init(from lower: QueryConstant, through upper: QueryConstant) throws(QueryError) {
    switch (lower, upper) {
    case (.date, .date):
      date = Self.wide(
        try ValueCondition.make(
          ValueCondition.Subject(type: .date, path: ""), .between, .array([lower, upper])))
    default:
      guard Self.isNumber(lower), Self.isNumber(upper) else { return }
      number = .range(Self.number(lower), Self.number(upper))
    }
  }

  /// The condition of being one of `constants`, none of them null, or one of the objects that `links` name.
  init(
    oneOf constants: [QueryConstant], _ options: StringOptions, links: Set<StoredAnyLink>
  ) throws(QueryError) {
    self.links = links
    func elements(
      _ type: PropertyType, _ elements: [QueryConstant], _ options: StringOptions = []
    ) throws(QueryError) -> ValueCondition? {
      if elements.isEmpty { return nil }
      return try ValueCondition.make(
        ValueCondition.Subject(type: type, path: ""), .in, .array(elements), options: options)
    }
    var (texts, bytes, dates): ([QueryConstant], [QueryConstant], [QueryConstant]) = ([], [], [])
    var (objectIds, uuids): ([QueryConstant], [QueryConstant]) = ([], [])
    var numbers: Set<DecimalBits> = []
    for constant in constants {
      switch constant {
      case .bool(let value): bools.insert(value)
      case .int, .float, .double, .decimal: numbers.insert(Self.number(constant))
      case .string(let value):
        texts.append(constant)
        bytes.append(.data(.init(value.utf8)))
      case .data: bytes.append(constant)
      case .date: dates.append(constant)
      case .objectId: objectIds.append(constant)
      case .uuid: uuids.append(constant)
      case .null, .object, .array, .unsupported: break
      }
    }
    if !numbers.isEmpty { number = .set(numbers) }
    if case .bytes(let bytes)? = try elements(.string, texts, options)?.kind { text = bytes }
    if case .bytes(let bytes)? = try elements(.data, bytes)?.kind { data = bytes }
    date = try elements(.date, dates).flatMap { Self.wide($0) }
    objectId = try elements(.objectId, objectIds).flatMap { Self.wide($0) }
    uuid = try elements(.UUID, uuids).flatMap { Self.wide($0) }
  }

  private static func isNumber(_ constant: QueryConstant) -> Bool {
    switch constant {
    case .int, .float, .double, .decimal: true
    default: false
    }
  }

  private static func number(_ constant: QueryConstant) -> DecimalBits {
    switch constant {
    case .int(let value): DecimalBits(rounding: value)
    case .float(let value): StoredAny.number(Double(value))
    case .double(let value): StoredAny.number(value)
    case .decimal(let value): value.bits
    default: .notANumber
    }
  }

  private static func bytes(
    _ subject: ValueCondition.Subject, _ operation: QueryOperator, _ constant: QueryConstant,
    _ options: StringOptions
  ) throws(QueryError) -> BytesCondition? {
    let condition = try ValueCondition.make(subject, operation, constant, options: options)
    if case .bytes(let bytes) = condition.kind { return bytes }
    return nil
  }

  private static func wide(_ condition: ValueCondition) -> WideCondition? {
    if case .wide(let wide) = condition.kind { return wide }
    return nil
  }

  /// Whether the value of a cell that is not null satisfies the condition.
  package func matches(_ cell: ColumnValue) -> Bool {
    guard let value = StoredAny(cell) else { return isNegated }
    return holds(value) != isNegated
  }

  private func holds(_ value: StoredAny) -> Bool {
    switch value {
    case .none: false
    case .bool(let value): bools.contains(value)
    case .int, .float, .double, .decimal:
      number.flatMap { condition in value.number.map { condition.matches($0) } } ?? false
    case .string(let bytes):
      text.map { condition in unsafe bytes.withUnsafeBytes { unsafe condition.matches($0) } }
        ?? false
    case .data(let bytes):
      data.map { condition in unsafe bytes.withUnsafeBytes { unsafe condition.matches($0) } }
        ?? false
    case .date(let value): date?.matches(low: value.wide.low, high: value.wide.high) ?? false
    case .objectId(let low, let high): objectId?.matches(low: low, high: high) ?? false
    case .uuid(let low, let high): uuid?.matches(low: low, high: high) ?? false
    case .link(let link): links.contains(link)
    case .list, .dictionary: false
    }
  }
}
