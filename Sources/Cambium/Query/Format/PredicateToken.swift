/// The smallest parts of a predicate's text.
enum PredicateToken: Equatable {
  /// A name or a keyword, as written; `isEscaped` after `#`, when it is never a keyword.
  case name(String, isEscaped: Bool)
  /// `@count` and the like, without the sign.
  case aggregate(String)
  /// `$name`, without the sign.
  case variable(String)
  case string(String)
  case integer(Int64)
  case decimal(Double)
  /// `%@`, `%d` and the like: the next argument's value.
  case valueArgument
  /// `%K`: the next argument's text as a path.
  case pathArgument
  /// Operators and punctuation.
  case symbol(String)
  case end

  /// The keyword in capitals, if it can be one.
  var keyword: String? {
    guard case .name(let name, isEscaped: false) = self else { return nil }
    return name.uppercased()
  }
}
