@testable import Cambium

/// The text form of predicates: arbitrary text is read with one step for each of its tokens, or
/// refused with a place in it, and what was read is printed as text that means the same.
enum PredicateTexts {
  static func run(_ bytes: UnsafeRawBufferPointer) {
    let text = String(decoding: bytes, as: UTF8.self)
    let values: [Any?] = ["a.b", 5, nil, 2.5, [1, 2] as [Any], "#any", true]
    let arguments = (0..<bytes.count).map { values[$0 % values.count] }
    do throws(QueryError) {
      var parser = try PredicateParser(text, arguments: arguments)
      let result = Result { () throws(QueryError) in try parser.predicate() }
      precondition(parser.stepCount <= parser.tokenCount, "a token was taken twice")
      try print(result.get(), text)
    } catch {
      precondition(error.offset.map { $0 <= text.utf8.count } ?? true, "the place of a mistake")
      precondition(error.description.hasPrefix(error.message), "the description of a mistake")
    }
  }

  private static func print(_ predicate: QueryPredicate, _ text: String) throws(QueryError) {
    // Printing puts parentheses around comparisons: what nests as deep as allowed is refused then.
    let nesting = text.utf8.count { "!({nN".utf8.contains($0) }
    guard nesting < PredicateParser.depthLimit / 2 else { return }
    let (printed, values) = PredicatePrinter.text(of: predicate)
    let again = try? PredicateParser.parse(printed, arguments: values)
    precondition(again == predicate, "a predicate does not survive its own text")
  }
}
