/// Writes predicates of either front end as text with arguments, from which ``PredicateParser`` reads
/// the same predicate.
package struct PredicatePrinter {
  private var text = ""
  private var arguments: [Any] = []

  /// The text and the values for its formats.
  package static func text(of predicate: QueryPredicate) -> (String, [Any]) {
    var printer = PredicatePrinter()
    printer.write(predicate)
    return (printer.text, printer.arguments)
  }

  private mutating func write(_ predicate: QueryPredicate) {
    switch predicate {
    case .always(let result): text += result ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .and(let parts): write(parts, " && ", whenEmpty: true)
    case .or(let parts): write(parts, " || ", whenEmpty: false)
    case .not(let part):
      text += "NOT "
      write(part)
    case .comparison(let comparison): write(comparison)
    }
  }

  private mutating func write(_ parts: [QueryPredicate], _ word: String, whenEmpty: Bool) {
    guard let first = parts.first else { return write(.always(whenEmpty)) }
    text += "("
    write(first)
    for part in parts.dropFirst() {
      text += word
      write(part)
    }
    text += ")"
  }

  private mutating func write(_ comparison: QueryComparison) {
    if !comparison.isTruthValue { text += "(" }
    if comparison.isAny { text += "ANY " }
    write(comparison.left)
    text += " \(comparison.operation.rawValue)\(Self.modifier(comparison.options)) "
    switch comparison.right {
    case .constant(.bool(let truth)) where comparison.isTruthValue: text += "\(truth)"
    case .constant(.array(let bounds)) where comparison.operation == .between:
      text += "{"
      for (index, bound) in bounds.enumerated() {
        if index > 0 { text += ", " }
        write(bound)
      }
      text += "}"
    default: write(comparison.right)
    }
    if !comparison.isTruthValue { text += ")" }
  }

  private static func modifier(_ options: StringOptions) -> String {
    var letters = ""
    if options.contains(.caseInsensitive) { letters += "c" }
    if options.contains(.diacriticInsensitive) { letters += "d" }
    return letters.isEmpty ? "" : "[\(letters)]"
  }

  // MARK: Operands

  private mutating func write(_ operand: QueryOperand) {
    switch operand {
    case .constant(let constant): write(constant)
    case .path(let path): write(path)
    case .subqueryCount(let collection, let variable, let condition):
      text += "SUBQUERY("
      write(collection)
      text += ", $\(variable), "
      write(condition)
      text += ").@count"
    }
  }

  private mutating func write(_ constant: QueryConstant) { write("%@", constant.swiftValue) }

  private mutating func write(_ format: String, _ argument: Any) {
    text += format
    arguments.append(argument)
  }

  private mutating func write(_ path: QueryPath) {
    var point = "."
    if let variable = path.variable {
      text += "$\(variable)"
    } else if case .property(let name)? = path.steps.first {
      point = Self.reserved.contains(name.uppercased()) ? "#" : ""
    } else {
      text += "self"
    }
    for step in path.steps {
      switch step {
      case .property(let name): text += point + Self.escaped(name)
      case .aggregate(let aggregate): text += point + aggregate.rawValue
      case .allKeys: text += point + "@allKeys"
      case .allValues: text += point + "@allValues"
      case .key(let key): write("[%@]", key)
      case .index(let index): write("[%@]", index)
      case .anyElement: write("[%K]", "#any")
      }
      point = "."
    }
  }

  /// A name that begins with a digit would be read as a number.
  private static func escaped(_ name: String) -> String {
    name.first?.isASCII == true && name.first?.isNumber == true ? "#" + name : name
  }

  /// Words that are names only when escaped, where a path may begin.
  private static let reserved: Set<String> = [
    "NOT", "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "YES", "FALSE", "NO", "NULL", "NIL", "SELF",
    "BETWEEN", "IN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE",
  ]
}
