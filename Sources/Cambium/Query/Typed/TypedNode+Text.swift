/// The text form of the typed front end, which the other front end reads.
struct TypedText {
  private(set) var text = ""
  private(set) var arguments: [Any] = []
  private var counter = 0

  init(_ node: TypedNode) { write(node) }

  private mutating func write(_ node: TypedNode) {
    switch node {
    case .path(let path): writeTruth(path, true)
    case .not(.path(let path)): writeTruth(path, false)
    case .constant(.bool(let result)): text += result ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .constant(let constant): writeArgument(constant)
    case .and(let left, let right): writePair(left, " && ", right)
    case .or(let left, let right): writePair(left, " || ", right)
    case .not(let part):
      text += "NOT "
      write(part)
    case .comparison(let operation, let left, let right, let options):
      text += TypedNode.needsQuantifier(operation, left, right) ? "(ANY " : "("
      writeOperand(left)
      text += " \(operation.rawValue)\(Self.modifier(options)) "
      if operation == .between {
        writeBounds(right)
      } else {
        writeOperand(right)
      }
      text += ")"
    case .subqueryCount: writeOperand(node)
    }
  }

  private mutating func writeTruth(_ path: TypedPath, _ value: Bool) {
    if path.isAny { text += "ANY " }
    writePath(path)
    text += value ? " == true" : " == false"
  }

  private mutating func writePair(_ left: TypedNode, _ word: String, _ right: TypedNode) {
    text += "("
    write(left)
    text += word
    write(right)
    text += ")"
  }

  private static func modifier(_ options: StringOptions) -> String {
    var letters = ""
    if options.contains(.caseInsensitive) { letters += "c" }
    if options.contains(.diacriticInsensitive) { letters += "d" }
    return letters.isEmpty ? "" : "[\(letters)]"
  }

  // MARK: Operands

  private mutating func writeArgument(_ constant: QueryConstant) {
    text += "%@"
    arguments.append(constant.swiftValue)
  }

  private mutating func writeBounds(_ node: TypedNode) {
    guard case .constant(.array(let bounds)) = node, bounds.count == 2 else {
      return writeOperand(node)
    }
    text += "{"
    writeArgument(bounds[0])
    text += ", "
    writeArgument(bounds[1])
    text += "}"
  }

  private mutating func writeOperand(_ node: TypedNode) {
    switch node {
    case .constant(let constant): writeArgument(constant)
    case .path(let path): writePath(path)
    case .subqueryCount(let condition):
      let (collection, variable, inner) = condition.subquery(&counter)
      text += "SUBQUERY("
      writePath(collection)
      text += ", $\(variable), "
      write(inner)
      text += ").@count"
    case .and, .or, .not, .comparison: write(node)
    }
  }

  private mutating func writePath(_ path: TypedPath) {
    let path = path.queryPath
    var isFirst = true
    if let variable = path.variable {
      text += "$\(variable)"
      isFirst = false
    }
    for step in path.steps {
      switch step {
      case .property(let name): writeName(name, &isFirst)
      case .aggregate(let aggregate): writeName(aggregate.rawValue, &isFirst)
      case .allKeys: writeName("@allKeys", &isFirst)
      case .allValues: writeName("@allValues", &isFirst)
      case .key(let key):
        text += "[%@]"
        arguments.append(key)
      case .index(let index):
        text += "[%@]"
        arguments.append(index)
      case .anyElement:
        text += "[%K]"
        arguments.append("#any")
      }
    }
    if isFirst { text += "self" }
  }

  private mutating func writeName(_ name: String, _ isFirst: inout Bool) {
    if !isFirst { text += "." }
    text += name
    isFirst = false
  }
}
