/// Reads the text form of a predicate (`age > %@ AND name BEGINSWITH[c] 'a'`).
///
/// Keywords are recognised in any case; `NOT` binds tighter than `AND`, `AND` tighter than `OR`.
/// Each token is taken once, and the depth is bounded: text from outside costs what its length does.
package struct PredicateParser {
  private let text: String
  private let tokens: [(token: PredicateToken, offset: Int)]
  /// For each opening parenthesis, the place of the token behind the closing one.
  private let ends: [Int: Int]
  let arguments: [Any?]
  /// The place of the current token.
  var position = 0 { didSet { stepCount += 1 } }
  private var nextArgument = 0
  private(set) var depth = 0
  /// The comparisons outside of subqueries, and where in the text each begins.
  private(set) var comparisons: [(comparison: QueryComparison, offset: Int)] = []
  /// How often the parser has moved.
  private(set) var stepCount = 0

  /// How deep parentheses, `NOT`, `SUBQUERY` and lists may nest.
  static let depthLimit = 200

  /// Parses a whole predicate.
  ///
  /// - Throws: `QueryError` when the text breaks the grammar, nests too deep or wants more arguments
  ///   than there are.
  package static func parse(
    _ text: String, arguments: [Any?] = []
  ) throws(QueryError) -> QueryPredicate {
    var parser = try PredicateParser(text, arguments: arguments)
    return try parser.predicate()
  }

  /// Parses a key path, as arguments of `%K` and sort descriptors have it.
  package static func parsePath(_ text: String) throws(QueryError) -> QueryPath {
    if text == "#any" { return QueryPath([.anyElement]) }
    var parser = try PredicateParser(text, arguments: [])
    let path = try parser.path()
    guard parser.token == .end else {
      throw QueryError("Invalid keypath '\(text)': no key name after last '.'")
    }
    return path
  }

  /// Cuts the text into tokens.
  init(_ text: String, arguments: [Any?]) throws(QueryError) {
    self.text = text
    self.arguments = arguments
    tokens = try PredicateLexer.tokens(of: text)
    var ends: [Int: Int] = [:]
    var open: [Int] = []
    for (place, (token, _)) in tokens.enumerated() {
      if token == .symbol("(") { open.append(place) }
      if token == .symbol(")"), let start = open.popLast() { ends[start] = place + 1 }
    }
    self.ends = ends
  }

  /// All of the text.
  mutating func predicate() throws(QueryError) -> QueryPredicate {
    let predicate = try disjunction()
    guard token == .end else { throw failure("unexpected \(describe(token))") }
    return predicate
  }

  // MARK: Tokens

  var tokenCount: Int { tokens.count }

  var token: PredicateToken { tokens[position].token }

  /// Where in the text the current token begins, in bytes of UTF-8.
  var offset: Int { tokens[position].offset }

  func peek(_ offset: Int = 1) -> PredicateToken {
    tokens[min(position + offset, tokens.count - 1)].token
  }

  /// The current token, and the next one becomes current.
  mutating func take() -> PredicateToken {
    let token = token
    if token != .end { position += 1 }
    return token
  }

  mutating func accept(symbol: String) -> Bool {
    guard token == .symbol(symbol) else { return false }
    position += 1
    return true
  }

  mutating func accept(keyword: String) -> Bool {
    guard token.keyword == keyword else { return false }
    position += 1
    return true
  }

  mutating func expect(symbol: String) throws(QueryError) {
    guard accept(symbol: symbol) else {
      throw failure("expected '\(symbol)' instead of \(describe(token))")
    }
  }

  /// The value for the format that was just taken.
  mutating func argument() throws(QueryError) -> Any? {
    guard nextArgument < arguments.count else {
      throw failure("there are fewer arguments than formats", at: position - 1)
    }
    nextArgument += 1
    return arguments[nextArgument - 1]
  }

  /// Reads what lies one level deeper, or more.
  mutating func nested<Part>(
    by levels: Int = 1, _ body: (inout PredicateParser) throws(QueryError) -> Part
  ) throws(QueryError) -> Part {
    try checkDepth(depth + levels)
    depth += levels
    defer { depth -= levels }
    return try body(&self)
  }

  /// Throws unless a condition may be so deep: it is read and evaluated by recursion.
  func checkDepth(_ depth: Int) throws(QueryError) {
    guard depth <= Self.depthLimit else {
      throw failure("it nests more than \(Self.depthLimit) levels deep")
    }
  }

  /// A mistake in the grammar, at the current token unless another place is given.
  func failure(_ reason: String, at place: Int? = nil) -> QueryError {
    .unparsable(text, at: tokens[place ?? position].offset, reason)
  }

  /// Something that is understood but not allowed.
  func refusal(_ message: String, at place: Int? = nil) -> QueryError {
    QueryError(message, in: text, at: tokens[place ?? position].offset)
  }

  func describe(_ token: PredicateToken) -> String {
    switch token {
    case .name(let name, _): "'\(name)'"
    case .aggregate(let name): "'@\(name)'"
    case .variable(let name): "'$\(name)'"
    case .string(let text): "'\(text)'"
    case .integer(let value): "'\(value)'"
    case .decimal(let value): "'\(value)'"
    case .valueArgument, .pathArgument: "an argument"
    case .symbol(let symbol): "'\(symbol)'"
    case .end: "the end"
    }
  }

  // MARK: Logic

  mutating func disjunction() throws(QueryError) -> QueryPredicate {
    var parts = [try conjunction()]
    while accept(keyword: "OR") || accept(symbol: "||") { parts.append(try conjunction()) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func conjunction() throws(QueryError) -> QueryPredicate {
    var parts = [try negation()]
    while accept(keyword: "AND") || accept(symbol: "&&") { parts.append(try negation()) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func negation() throws(QueryError) -> QueryPredicate {
    if accept(keyword: "NOT") || accept(symbol: "!") {
      return .not(try nested { parser throws(QueryError) in try parser.negation() })
    }
    if accept(keyword: "TRUEPREDICATE") { return .always(true) }
    if accept(keyword: "FALSEPREDICATE") { return .always(false) }
    guard token == .symbol("("), !isOperand(behind: position) else { return try comparison() }
    position += 1
    let predicate = try nested { parser throws(QueryError) in try parser.disjunction() }
    try expect(symbol: ")")
    return predicate
  }

  /// Whether the parentheses that open at `place` hold an operand: an operator follows them.
  private func isOperand(behind place: Int) -> Bool {
    guard let end = ends[place] else { return false }
    let next = tokens[end].token
    if case .symbol(let symbol) = next {
      return Self.symbolOperators[symbol] != nil || Self.arithmeticSymbols.contains(symbol)
    }
    return next.keyword.map { Self.keywordOperators[$0] != nil } ?? false
  }

  static let arithmeticSymbols: Set<String> = ["+", "-", "*", "/"]

  private static let symbolOperators: [String: QueryOperator] = [
    "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual,
    "=<": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
  ]

  private static let keywordOperators: [String: QueryOperator] = [
    "BETWEEN": .between, "IN": .in, "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith,
    "CONTAINS": .contains, "LIKE": .like,
  ]

  // MARK: Comparisons

  private enum Quantifier { case any, none }

  private mutating func comparison() throws(QueryError) -> QueryPredicate {
    let (start, count) = (offset, comparisons.count)
    let quantifier = try quantifier()
    let place = position
    let left = try operand()
    if quantifier != nil {
      guard case .path = left else {
        throw refusal(
          "Aggregate operations can only be used on key paths that include an collection property",
          at: place)
      }
    }
    let operation = try operation()
    let options = try options()
    let right = try operand()
    let comparison = QueryComparison(
      left, operation, right, isAny: quantifier != nil, options: options)
    // Those of a subquery are part of this one.
    comparisons.removeSubrange(count...)
    comparisons.append((comparison, start))
    return quantifier == Quantifier.none ? .not(.comparison(comparison)) : .comparison(comparison)
  }

  /// Takes a quantifier, unless the word is a property's name.
  private mutating func quantifier() throws(QueryError) -> Quantifier? {
    guard let keyword = token.keyword, ["ANY", "SOME", "NONE", "ALL"].contains(keyword) else {
      return nil
    }
    switch peek() {
    case .name(_, isEscaped: true), .pathArgument, .variable: break
    case .name(let name, isEscaped: false):
      if Self.keywordOperators[name.uppercased()] != nil { return nil }
    default: return nil
    }
    if keyword == "ALL" { throw refusal("ALL modifier not supported") }
    position += 1
    return keyword == "NONE" ? Quantifier.none : .any
  }

  private mutating func operation() throws(QueryError) -> QueryOperator {
    if case .symbol(let symbol) = token {
      if let operation = Self.symbolOperators[symbol] {
        position += 1
        return operation
      }
      if Self.arithmeticSymbols.contains(symbol) { throw failure("arithmetic is not supported") }
    }
    if let keyword = token.keyword {
      if let operation = Self.keywordOperators[keyword] {
        position += 1
        return operation
      }
      if keyword == "MATCHES" { throw refusal("Operator 'MATCHES' not supported") }
    }
    throw failure("expected an operator instead of \(describe(token))")
  }

  /// `[c]`, `[d]` or `[cd]` behind an operator.
  private mutating func options() throws(QueryError) -> StringOptions {
    guard token == .symbol("["), case .name(let letters, _) = peek(), peek(2) == .symbol("]") else {
      return []
    }
    var options: StringOptions = []
    for letter in letters {
      switch letter {
      case "c", "C": options.insert(.caseInsensitive)
      case "d", "D": options.insert(.diacriticInsensitive)
      default: throw failure("unknown comparison option '\(letter)'", at: position + 1)
      }
    }
    position += 3
    return options
  }
}

extension QueryError {
  /// A text that breaks the grammar.
  static func unparsable(_ text: String, at offset: Int, _ reason: String) -> QueryError {
    QueryError("Unable to parse the format string \"\(text)\": \(reason)", in: text, at: offset)
  }
}
