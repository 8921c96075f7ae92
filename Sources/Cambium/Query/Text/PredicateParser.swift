/// Reads the text form of a predicate (`age > %@ AND name BEGINSWITH[c] 'a'`).
///
/// Keywords are recognised in any case; `NOT` binds tighter than `AND`, `AND` tighter than `OR`.
package struct PredicateParser {
  private let text: String
  private let tokens: [PredicateToken]
  let arguments: [Any?]
  var position = 0
  private var nextArgument = 0

  /// Parses a whole predicate.
  ///
  /// - Throws: `QueryError` when the text breaks the grammar or wants more arguments than there
  ///   are.
  package static func parse(
    _ text: String, arguments: [Any?] = []
  ) throws(QueryError) -> QueryPredicate {
    var parser = PredicateParser(
      text: text, tokens: try PredicateLexer.tokens(of: text), arguments: arguments)
    let predicate = try parser.disjunction()
    guard parser.token == .end else {
      throw parser.failure("unexpected \(parser.describe(parser.token))")
    }
    return predicate
  }

  /// Parses a key path, as arguments of `%K` and sort descriptors have it.
  package static func parsePath(_ text: String) throws(QueryError) -> QueryPath {
    if text == "#any" { return QueryPath([.anyElement]) }
    var parser = PredicateParser(
      text: text, tokens: try PredicateLexer.tokens(of: text), arguments: [])
    let path = try parser.path()
    guard parser.token == .end else {
      throw QueryError("Invalid keypath '\(text)': no key name after last '.'")
    }
    return path
  }

  init(text: String, tokens: [PredicateToken], arguments: [Any?]) {
    self.text = text
    self.tokens = tokens
    self.arguments = arguments
  }

  // MARK: Tokens

  var token: PredicateToken { tokens[position] }

  func peek(_ offset: Int = 1) -> PredicateToken {
    tokens[min(position + offset, tokens.count - 1)]
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

  mutating func argument() throws(QueryError) -> Any? {
    guard nextArgument < arguments.count else {
      throw failure("there are fewer arguments than formats")
    }
    nextArgument += 1
    return arguments[nextArgument - 1]
  }

  func failure(_ reason: String) -> QueryError {
    QueryError("Unable to parse the format string \"\(text)\": \(reason)")
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
    if accept(keyword: "NOT") || accept(symbol: "!") { return .not(try negation()) }
    if accept(keyword: "TRUEPREDICATE") { return .always(true) }
    if accept(keyword: "FALSEPREDICATE") { return .always(false) }
    if token == .symbol("(") {
      let start = (position, nextArgument)
      position += 1
      do throws(QueryError) {
        let predicate = try disjunction()
        try expect(symbol: ")")
        if !startsOperator { return predicate }
      } catch {
        // An operand in parentheses reads differently; if it is none, the first message is better.
        (position, nextArgument) = start
        guard let comparison = try? comparison() else { throw error }
        return comparison
      }
      (position, nextArgument) = start
    }
    return try comparison()
  }

  private var startsOperator: Bool {
    if case .symbol(let symbol) = token { return Self.symbolOperators[symbol] != nil }
    return token.keyword.map { Self.keywordOperators[$0] != nil } ?? false
  }

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
    let quantifier = try quantifier()
    let left = try operand()
    let operation = try operation()
    let options = try options()
    let right = try operand()
    let comparison = QueryPredicate.comparison(
      QueryComparison(left, operation, right, isAny: quantifier != nil, options: options))
    return quantifier == Quantifier.none ? .not(comparison) : comparison
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
    if keyword == "ALL" { throw QueryError("ALL modifier not supported") }
    position += 1
    return keyword == "NONE" ? Quantifier.none : .any
  }

  private mutating func operation() throws(QueryError) -> QueryOperator {
    if case .symbol(let symbol) = token {
      if let operation = Self.symbolOperators[symbol] {
        position += 1
        return operation
      }
      if ["+", "-", "*", "/"].contains(symbol) {
        throw failure("arithmetic is not supported")
      }
    }
    if let keyword = token.keyword {
      if let operation = Self.keywordOperators[keyword] {
        position += 1
        return operation
      }
      if keyword == "MATCHES" { throw QueryError("Operator 'MATCHES' not supported") }
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
      default: throw failure("unknown comparison option '\(letter)'")
      }
    }
    position += 3
    return options
  }
}
