import Foundation
import Testing

@testable import Cambium

/// Short forms for the trees that tests expect.
extension QueryOperand {
  static func at(_ names: String...) -> QueryOperand {
    .path(QueryPath(names.map { .property($0) }))
  }

  static func value(_ value: Any?) -> QueryOperand { .constant(QueryConstant(value)) }
}

extension QueryPredicate {
  static func compare(
    _ left: QueryOperand, _ operation: QueryOperator, _ right: QueryOperand, any: Bool = false,
    options: StringOptions = []
  ) -> QueryPredicate {
    .comparison(QueryComparison(left, operation, right, isAny: any, options: options))
  }
}

struct PredicateParserTests {
  private func parse(_ text: String, _ arguments: Any?...) throws -> QueryPredicate {
    try PredicateParser.parse(text, arguments: arguments)
  }

  @Test(
    arguments: [
      ("=", .equal), ("==", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<", .less),
      ("<=", .lessOrEqual), ("=<", .lessOrEqual), (">", .greater), (">=", .greaterOrEqual),
      ("=>", .greaterOrEqual), ("BEGINSWITH", .beginsWith), ("endswith", .endsWith),
      ("Contains", .contains), ("LIKE", .like), ("in", .in), ("between", .between),
    ] as [(String, QueryOperator)])
  func `every operator is read in any case`(text: String, operation: QueryOperator) throws {
    #expect(try parse("age \(text) 5") == .compare(.at("age"), operation, .value(5)))
    guard operation.isStringOperator || operation == .in || operation == .between else {
      #expect(try parse("age\(text)5") == .compare(.at("age"), operation, .value(5)))
      return
    }
  }

  @Test func `constants of all kinds are read`() throws {
    let texts: [(String, Any?)] = [
      ("5", 5), ("-5", -5), ("0x1F", 31), ("2.5", 2.5), ("-.5", -0.5), ("1e3", 1000.0),
      ("2E-1", 0.2), ("'a b'", "a b"), ("\"it's\"", "it's"), (#"'it\'s'"#, "it's"),
      (#"'\u00e9\n'"#, "é\n"), ("TRUE", true), ("yes", true), ("False", false), ("NO", false),
      ("NULL", nil), ("nil", nil), ("{1, 'a', nil}", [1, "a", nil] as [Any?]), ("{}", [Int]()),
      ("-9223372036854775808", Int.min), ("9223372036854775807", Int.max), ("'ü'", "ü"),
    ]
    for (text, value) in texts {
      #expect(try parse("x == \(text)") == .compare(.at("x"), .equal, .value(value)), "\(text)")
    }
  }

  @Test func `arguments take the place of their formats in order`() throws {
    let id = ObjectId.generate()
    #expect(
      try parse("a == %@ AND %K > %d OR b.c IN %@ AND d < %lf", "x", "k.l", 3, [id], 1.5)
        == .or([
          .and([
            .compare(.at("a"), .equal, .value("x")), .compare(.at("k", "l"), .greater, .value(3)),
          ]),
          .and([
            .compare(.at("b", "c"), .in, .value([id])), .compare(.at("d"), .less, .value(1.5)),
          ]),
        ]))
    #expect(try parse("a == %@", Int?.none as Any?) == .compare(.at("a"), .equal, .value(nil)))
    #expect(try parse("a == %@", NSNull()) == .compare(.at("a"), .equal, .value(nil)))
    #expect(try parse("a == '%@'") == .compare(.at("a"), .equal, .value("%@")))
    #expect(try parse("%K.name == 1", "dog") == .compare(.at("dog", "name"), .equal, .value(1)))
  }

  @Test func `not binds tighter than and, and tighter than or`() throws {
    let (a, b, c) = (
      QueryPredicate.compare(.at("a"), .equal, .value(1)),
      QueryPredicate.compare(.at("b"), .equal, .value(2)),
      QueryPredicate.compare(.at("c"), .equal, .value(3))
    )
    #expect(try parse("a=1 OR b=2 AND c=3") == .or([a, .and([b, c])]))
    #expect(try parse("a=1 && b=2 || c=3") == .or([.and([a, b]), c]))
    #expect(try parse("NOT a=1 AND b=2") == .and([.not(a), b]))
    #expect(try parse("!(a=1 and b=2) or c=3") == .or([.not(.and([a, b])), c]))
    #expect(try parse("NOT NOT a=1") == .not(.not(a)))
    #expect(try parse("a=1 AND b=2 AND c=3") == .and([a, b, c]))
    #expect(try parse("(a=1 AND (b=2)) AND c=3") == .and([.and([a, b]), c]))
    #expect(try parse("(a) = (1)") == a)
    #expect(try parse("TRUEPREDICATE OR falsepredicate") == .or([.always(true), .always(false)]))
  }

  @Test func `quantifiers and paths are read`() throws {
    let any = QueryPredicate.compare(.at("dogs", "name"), .equal, .value("x"), any: true)
    #expect(try parse("ANY dogs.name == 'x'") == any)
    #expect(try parse("some dogs.name == 'x'") == any)
    #expect(try parse("NONE dogs.name == 'x'") == .not(any))
    #expect(try parse("any == 5") == .compare(.at("any"), .equal, .value(5)))
    #expect(try parse("#any == 5") == .compare(.at("any"), .equal, .value(5)))
    #expect(
      try parse("#size == 1 AND none > 2")
        == .and([
          .compare(.at("size"), .equal, .value(1)), .compare(.at("none"), .greater, .value(2)),
        ]))
    #expect(try parse("self == 5") == .compare(.at(), .equal, .value(5)))
    #expect(try parse("SELF.age == 5") == .compare(.at("age"), .equal, .value(5)))
    #expect(
      try parse("any['k'][0] == 5")
        == .compare(.path(QueryPath([.property("any"), .key("k"), .index(0)])), .equal, .value(5)))
    #expect(
      try parse("map[%@] == 5 AND any[%@][%K] == 1", "k", 2, "#any")
        == .and([
          .compare(.path(QueryPath([.property("map"), .key("k")])), .equal, .value(5)),
          .compare(
            .path(QueryPath([.property("any"), .index(2), .anyElement])), .equal, .value(1)),
        ]))
    #expect(
      try parse("dogs.@count > 1 AND dogs.@min.age < 3 AND list.@avg == 1")
        == .and([
          .compare(
            .path(QueryPath([.property("dogs"), .aggregate(.count)])), .greater, .value(1)),
          .compare(
            .path(QueryPath([.property("dogs"), .aggregate(.minimum), .property("age")])), .less,
            .value(3)),
          .compare(
            .path(QueryPath([.property("list"), .aggregate(.average)])), .equal, .value(1)),
        ]))
    #expect(try parse("5 IN list") == .compare(.value(5), .in, .at("list")))
    #expect(
      try parse("ANY map.@allKeys BEGINSWITH 'a'")
        == .compare(
          .path(QueryPath([.property("map"), .allKeys])), .beginsWith, .value("a"), any: true))
  }

  @Test func `options follow their operator`() throws {
    let all: StringOptions = [.caseInsensitive, .diacriticInsensitive]
    #expect(
      try parse("a CONTAINS[cd] 'x' AND b ==[c] 'y' AND c IN[c] {'z'} AND d LIKE [d] 'w'")
        == .and([
          .compare(.at("a"), .contains, .value("x"), options: all),
          .compare(.at("b"), .equal, .value("y"), options: .caseInsensitive),
          .compare(.at("c"), .in, .value(["z"]), options: .caseInsensitive),
          .compare(.at("d"), .like, .value("w"), options: .diacriticInsensitive),
        ]))
  }

  @Test func `subqueries are read`() throws {
    let path = QueryPath([.property("dogs")])
    let age = QueryOperand.path(QueryPath(variable: "d", [.property("age")]))
    #expect(
      try parse("SUBQUERY(dogs, $d, $d.age > 3 AND $d.age < 9).@count >= 1")
        == .compare(
          .subqueryCount(
            collection: path, variable: "d",
            .and([.compare(age, .greater, .value(3)), .compare(age, .less, .value(9))])),
          .greaterOrEqual, .value(1)))
  }

  @Test(arguments: [
    ("ALL dogs.age > 3", "ALL modifier not supported"),
    ("name MATCHES 'a.*'", "Operator 'MATCHES' not supported"),
    (
      "age.@distinctUnionOfObjects == 1",
      "Unsupported collection operator '@distinctUnionOfObjects'"
    ),
    ("a. == 1", "Invalid keypath 'a.': no key name after last '.'"),
    (
      "SUBQUERY(dogs, $d, $d.age > 3).@max == 1",
      "SUBQUERY is only supported when immediately followed by .@count that is compared with a "
        + "constant number."
    ),
    ("", "expected an operand instead of the end"), ("age", "expected an operator"),
    ("age ==", "expected an operand instead of the end"), ("age == 1 b", "unexpected 'b'"),
    ("(age == 1", "expected ')' instead of the end"), ("age == %@", "fewer arguments than formats"),
    ("age == 'x", "a closing quotation mark is missing"), ("age == 1x", "'1' runs into a name"),
    ("age ? 1", "unexpected '?'"), ("age + 1 == 2", "arithmetic is not supported"),
    ("age == 1 + 1", "arithmetic is not supported"), ("f(age) == 2", "the function 'f'"),
    ("age == %q", "a format is missing"), ("age ==[x] 'a'", "unknown comparison option 'x'"),
    ("x IN {a, b}", "a list may hold constants only"),
    ("a[FIRST] == 1", "'FIRST' is not supported"),
    ("%K == 1", "fewer arguments than formats"),
    ("ANY TRUE == a", "Aggregate operations can only be used on key paths that include an"),
  ])
  func `a mistake is reported`(text: String, message: String) {
    let error = #expect(throws: QueryError.self) { try PredicateParser.parse(text) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func `damaged text is an error and never a stop`() {
    // Malformed text must be an error, never a stop: every prefix and every deletion is tried.
    let text =
      #"NOT (a.b == 'x\u0041' AND ANY c.@count >= -1.5e3) OR {1, nil} IN %@ && $v[0] LIKE[cd] "?""#
    let characters = Array(text)
    for index in characters.indices {
      var shorter = characters
      shorter.remove(at: index)
      for candidate in [String(shorter), String(characters[..<index])] {
        if let predicate = try? PredicateParser.parse(candidate, arguments: [[1, 2]]) {
          #expect(predicate == predicate)
        }
      }
    }
  }

  @Test(arguments: [
    ("(SUBQUERY(a, $x, ", "", ""), ("(SUBQUERY(a, $x, ", "b == 1", ").@count) > 0"), ("(", "", ""),
    ("(", "a == 1", ")"), ("((a == 1 OR (", "", ""), ("(((a) == 1) AND (", "b == 1", "))"),
    ("NOT ", "a == 1", ""), ("NOT (", "a == 1", ")"), ("a == 1 AND (", "a == 1", ")"),
    ("a IN {", "1", "}"), ("a == (", "1", ")"),
  ])
  func `the parser takes each token once, however deep a text nests`(
    opening: String, core: String, closing: String
  ) throws {
    for depth in [1, 5, 12, 100, 5000] {
      let text =
        String(repeating: opening, count: depth) + core + String(repeating: closing, count: depth)
      var parser = try PredicateParser(text, arguments: [])
      _ = try? parser.predicate()
      #expect(parser.stepCount <= parser.tokenCount, "\(depth) times \(opening)")
    }
  }

  @Test func `a text nests two hundred levels deep and no deeper`() throws {
    for (opening, closing) in [
      ("(", ")"), ("NOT ", ""), ("SUBQUERY(a, $x, ", ").@count > 0"), ("!(b == 2 OR ", ")"),
    ] {
      func text(_ count: Int) -> String {
        String(repeating: opening, count: count) + "a == 1"
          + String(repeating: closing, count: count)
      }
      let limit = opening == "!(b == 2 OR " ? 100 : 200
      _ = try parse(text(limit))
      let error = #expect(throws: QueryError.self) { try parse(text(limit + 1)) }
      #expect(error?.message.contains("nests more than 200 levels deep") == true)
      #expect(throws: QueryError.self) { try parse(text(100_000)) }
    }
  }

  @Test func `a doubled percent sign is one, outside of quotation marks`() throws {
    #expect(try parse("name ENDSWITH %%") == .compare(.at("name"), .endsWith, .value("%")))
    #expect(
      try parse("a == %% AND b == %@", 5)
        == .and([.compare(.at("a"), .equal, .value("%")), .compare(.at("b"), .equal, .value(5))]))
    #expect(try parse("a == '50%%'") == .compare(.at("a"), .equal, .value("50%%")))
  }

  @Test(arguments: [
    ("age ==", 6), ("age == 1 b", 9), ("naïve ?", 7), ("a == 'x", 5), ("ALL dogs.age > 3", 0),
    ("a == 1 AND (b == 2", 18), ("a == %@ OR b == %@", 16), ("a == 1 AND c. == 2", 14),
    ("a == 1 AND f(x) == 2", 11), ("a IN {b}", 6), ("a MATCHES 'x'", 2), ("a == 1x", 5),
    ("a.@median == 1", 2), ("", 0), ("a == %q", 5),
  ])
  func `a mistake says where it is`(text: String, offset: Int) throws {
    let error = try #require(throws: QueryError.self) {
      try parse(text, 1)
    }
    #expect(error.offset == offset, "\(error)")
    #expect(error.description.hasPrefix(error.message))
  }

  @Test func `a caret stands below the mistake`() throws {
    let error = try #require(throws: QueryError.self) { try parse("naïve ==\n1 AND b ? 2") }
    let lines = error.description.split(separator: "\n", omittingEmptySubsequences: false).suffix(2)
    #expect(Array(lines) == ["  naïve == 1 AND b ? 2", "                   ^"])
    let long = String(repeating: "a == 1 AND ", count: 1000) + "b ? 2"
    let far = try #require(throws: QueryError.self) { try parse(long) }
    let tail = far.description.split(separator: "\n").suffix(2).map { Array($0) }
    #expect(tail[0].count < 100)
    #expect(tail[0][tail[1].count - 1] == "?")
  }
}
