/// Operands: constants, lists, paths and subqueries.
extension PredicateParser {
  mutating func operand() throws(QueryError) -> QueryOperand {
    let operand = try primaryOperand()
    if case .symbol(let symbol) = token, Self.arithmeticSymbols.contains(symbol) {
      throw failure("arithmetic is not supported")
    }
    return operand
  }

  private mutating func primaryOperand() throws(QueryError) -> QueryOperand {
    switch token {
    case .symbol("("):
      position += 1
      let inner = try nested { parser throws(QueryError) in try parser.operand() }
      try expect(symbol: ")")
      return inner
    case .symbol("{"):
      return .constant(
        .array(try nested { parser throws(QueryError) in try parser.list() }))
    case .symbol("-"), .string, .integer, .decimal, .valueArgument:
      return .constant(try constant())
    case .pathArgument, .variable:
      return .path(try path())
    case .name(let name, let isEscaped):
      if !isEscaped, !Self.continuesPath(peek()) {
        if let constant = Self.namedConstant(name.uppercased()) {
          position += 1
          return .constant(constant)
        }
      }
      if peek() == .symbol("("), !isEscaped {
        guard name.uppercased() == "SUBQUERY" else {
          throw failure("the function '\(name)' is not supported")
        }
        return try subquery()
      }
      return .path(try path())
    case .aggregate(let name):
      throw failure("'@\(name)' needs a collection before it")
    case .symbol, .end:
      throw failure("expected an operand instead of \(describe(token))")
    }
  }

  private static func namedConstant(_ keyword: String) -> QueryConstant? {
    switch keyword {
    case "TRUE", "YES": .bool(true)
    case "FALSE", "NO": .bool(false)
    case "NULL", "NIL": .null
    default: nil
    }
  }

  private static func continuesPath(_ token: PredicateToken) -> Bool {
    token == .symbol(".") || token == .symbol("[")
  }

  private mutating func list() throws(QueryError) -> [QueryConstant] {
    try expect(symbol: "{")
    var elements: [QueryConstant] = []
    while !accept(symbol: "}") {
      if !elements.isEmpty { try expect(symbol: ",") }
      let place = position
      guard case .constant(let element) = try operand() else {
        throw failure("a list may hold constants only", at: place)
      }
      elements.append(element)
    }
    return elements
  }

  private mutating func constant() throws(QueryError) -> QueryConstant {
    let isNegated = accept(symbol: "-")
    let place = position
    switch take() {
    case .integer(let value): return .int(isNegated ? -value : value)
    case .decimal(let value):
      // 9223372036854775808 does not fit, but its negative does.
      if isNegated, value == 0x1p63 { return .int(.min) }
      return .double(isNegated ? -value : value)
    case .string(let text) where !isNegated: return .string(text)
    case .valueArgument where !isNegated: return QueryConstant(try argument())
    default: throw failure("a number must follow '-'", at: place)
    }
  }

  /// `SUBQUERY(collection, $variable, predicate).@count`.
  private mutating func subquery() throws(QueryError) -> QueryOperand {
    position += 1
    try expect(symbol: "(")
    let collection = try path()
    try expect(symbol: ",")
    guard case .variable(let variable) = token else {
      throw failure("expected a variable instead of \(describe(token))")
    }
    position += 1
    try expect(symbol: ",")
    let predicate = try nested(by: collection.steps.count) { parser throws(QueryError) in
      try parser.disjunction()
    }
    try expect(symbol: ")")
    guard accept(symbol: "."), token == .aggregate("count") else {
      throw refusal(
        "SUBQUERY is only supported when immediately followed by .@count that is compared with a "
          + "constant number.")
    }
    position += 1
    return .subqueryCount(collection: collection, variable: variable, predicate)
  }

  // MARK: Paths

  mutating func path() throws(QueryError) -> QueryPath {
    var path = QueryPath()
    if case .variable(let name) = token {
      path.variable = name
      position += 1
    } else {
      try step(into: &path, isFirst: true)
    }
    while true {
      // Each link is a level of what is evaluated.
      try checkDepth(depth + path.steps.count - 1)
      if accept(symbol: ".") {
        try step(into: &path, isFirst: false)
      } else if token == .symbol("[") {
        position += 1
        path.steps.append(try subscriptStep())
        try expect(symbol: "]")
      } else {
        return path
      }
    }
  }

  private mutating func step(into path: inout QueryPath, isFirst: Bool) throws(QueryError) {
    let place = position
    switch take() {
    case .pathArgument:
      guard let name = try argument() as? String else {
        throw failure("%K needs a text as its argument", at: place)
      }
      let inner = try PredicateParser.parsePath(name)
      if let variable = inner.variable {
        guard isFirst else {
          throw failure("%K that names a variable begins a keypath", at: place)
        }
        path.variable = variable
      }
      path.steps += inner.steps
    case .name(let name, let isEscaped):
      let isSelf = isFirst && !isEscaped && name.uppercased() == "SELF"
      if !isSelf { path.steps.append(.property(name)) }
    case .aggregate(let name):
      guard let step = Self.aggregateStep(name) else {
        throw refusal("Unsupported collection operator '@\(name)'", at: place)
      }
      path.steps.append(step)
    default:
      let text = isFirst ? path.text : "\(path.text)."
      throw refusal("Invalid keypath '\(text)': no key name after last '.'", at: place)
    }
  }

  private static func aggregateStep(_ name: String) -> QueryPath.Step? {
    switch name {
    case "count", "size": .aggregate(.count)
    case "min": .aggregate(.minimum)
    case "max": .aggregate(.maximum)
    case "sum": .aggregate(.sum)
    case "avg": .aggregate(.average)
    case "allKeys": .allKeys
    case "allValues": .allValues
    default: nil
    }
  }

  private mutating func subscriptStep() throws(QueryError) -> QueryPath.Step {
    let place = position
    let token = take()
    switch token {
    case .string(let key): return .key(key)
    case .integer(let index): return .index(Int(index))
    case .name("any", isEscaped: true): return .anyElement
    case .valueArgument, .pathArgument:
      let value = try argument()
      if let key = value as? String {
        return key == "#any" && token == .pathArgument ? .anyElement : .key(key)
      }
      if let index = value as? Int { return .index(index) }
      throw failure("a subscript must be a text or an index", at: place)
    case .symbol("-"): throw failure("an index cannot be negative", at: place)
    case .name(let name, _):
      throw failure("the subscript '\(name)' is not supported", at: place)
    default: throw failure("unexpected \(describe(token)) as a subscript", at: place)
    }
  }
}
