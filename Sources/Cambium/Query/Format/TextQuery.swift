/// A query that comes from outside of the program as text: a condition, and how its objects are arranged.
///
/// ```swift
/// let query = try TextQuery("age > 30 SORT(name ASC) DISTINCT(team) LIMIT(20)")
/// let people = try query.results(in: realm, ofType: "Person")
/// for person in people.prefix(query.limit ?? people.count) { print(person["name"] ?? "") }
/// ```
///
/// The condition is one that ``RealmCollection/filter(_:_:)`` takes, without arguments. Behind it, or without
/// one, stand in any number `SORT(path [ASC | DESC], …)` and `DISTINCT(path, …)`, which apply in their order
/// after the whole condition, and at the end one `LIMIT(count)`. Words of the language are recognised in any
/// case. Nothing in a text stops the program, and reading it takes time that grows with its length.
///
/// Unchecked: a predicate holds objects only where it has them as arguments, and a text has none.
public struct TextQuery: @unchecked Sendable {
  /// The text.
  public let text: String
  /// How many objects are wanted at most; nil for all of them.
  public let limit: Int?
  private let predicate: QueryPredicate
  private let comparisons: [(comparison: QueryComparison, offset: Int)]
  private let steps: [Step]

  /// An arrangement of the objects.
  private enum Step {
    case sort([Key])
    case distinct([Key])
  }

  /// A path by which objects are arranged, and where in the text it stands.
  private struct Key {
    var path: String
    var isAscending = true
    var offset: Int
  }

  /// Reads a query; whether its names exist shows when it meets a schema.
  ///
  /// - Throws: ``QueryError`` when the text breaks the grammar or nests too deep; it says where.
  public init(_ text: String) throws(QueryError) {
    self.text = text
    var parser = try PredicateParser(text, arguments: [])
    predicate = Self.isClause(parser) ? .always(true) : try parser.disjunction()
    comparisons = parser.comparisons
    var steps: [Step] = []
    var limit: Int?
    while parser.token != .end {
      guard limit == nil else { throw parser.failure("nothing may follow LIMIT") }
      if parser.accept(keyword: "SORT") {
        steps.append(.sort(try Self.keys(&parser, areSorted: true)))
      } else if parser.accept(keyword: "DISTINCT") {
        steps.append(.distinct(try Self.keys(&parser, areSorted: false)))
      } else if parser.accept(keyword: "LIMIT") {
        limit = try Self.count(&parser)
      } else {
        throw parser.failure("unexpected \(parser.describe(parser.token))")
      }
    }
    (self.steps, self.limit) = (steps, limit)
  }

  private init(_ query: TextQuery, adding step: Step) {
    (text, limit, predicate) = (query.text, query.limit, query.predicate)
    (comparisons, steps) = (query.comparisons, query.steps + [step])
  }

  /// The same, whose objects are at last sorted by `path`, which is as one in `SORT`.
  package func sorted(by path: String, isAscending: Bool) -> TextQuery {
    let key = Key(path: path, isAscending: isAscending, offset: text.utf8.count)
    return TextQuery(self, adding: .sort([key]))
  }

  // MARK: Grammar

  private static let words: Set<String> = ["SORT", "DISTINCT", "LIMIT"]

  /// Whether the text has no condition: a property may have the name of a clause.
  private static func isClause(_ parser: PredicateParser) -> Bool {
    if parser.token == .end { return true }
    guard let word = parser.token.keyword else { return false }
    return words.contains(word) && parser.peek() == .symbol("(")
  }

  private static func keys(
    _ parser: inout PredicateParser, areSorted: Bool
  ) throws(QueryError) -> [Key] {
    try parser.expect(symbol: "(")
    var keys: [Key] = []
    repeat {
      let offset = parser.offset
      var key = Key(path: try Self.path(&parser), offset: offset)
      if areSorted {
        if parser.accept(keyword: "DESC") || parser.accept(keyword: "DESCENDING") {
          key.isAscending = false
        } else if !parser.accept(keyword: "ASC") {
          _ = parser.accept(keyword: "ASCENDING")
        }
      }
      keys.append(key)
    } while parser.accept(symbol: ",")
    try parser.expect(symbol: ")")
    return keys
  }

  /// A path over to-one links to a property, or to an entry of a map (`prices['tea']`), as sorts take it.
  private static func path(_ parser: inout PredicateParser) throws(QueryError) -> String {
    let place = parser.position
    guard case .name = parser.token else {
      throw parser.failure("expected a property instead of \(parser.describe(parser.token))")
    }
    let path = try parser.path()
    var text = ""
    for step in path.steps {
      switch step {
      case .property(let name): text += text.isEmpty ? name : ".\(name)"
      case .key(let key): text += "[\(key)]"
      case .index, .anyElement, .aggregate, .allKeys, .allValues:
        throw parser.refusal("Objects cannot be arranged by '\(path.text)'", at: place)
      }
    }
    guard !text.isEmpty else {
      throw parser.failure("expected a property", at: place)
    }
    return text
  }

  private static func count(_ parser: inout PredicateParser) throws(QueryError) -> Int {
    try parser.expect(symbol: "(")
    guard case .integer(let count) = parser.token else {
      throw parser.failure("expected a number instead of \(parser.describe(parser.token))")
    }
    _ = parser.take()
    try parser.expect(symbol: ")")
    return Int(count)
  }

  // MARK: Meeting a schema

  /// The objects of the class with that name for which the query holds, live, in its order, and without
  /// its ``limit``.
  ///
  /// Must be called in the Realm's context.
  ///
  /// - Throws: ``QueryError`` when the Realm has no such class, or the query does not fit it.
  public func results(
    in realm: Realm, ofType typeName: String
  ) throws(QueryError) -> Results<DynamicObject> {
    realm.instance.verify()
    guard let access = realm.instance.access(named: typeName) else {
      throw QueryError("There is no class '\(typeName)'.")
    }
    let all = ResultsCore(all: access, as: access.layout.dynamicLayout)
    return Results(all.with(plan: try plan(of: access.stored, in: realm.instance.stored)))
  }

  /// What is asked of the objects of `start`.
  func plan(of start: StoredClass, in schema: StoredSchema) throws(QueryError) -> QueryPlan {
    let binder = QueryBinder(schema: schema) { _ in nil }
    var plan = QueryPlan(start).filtered(try condition(binder, start))
    for step in steps {
      switch step {
      case .sort(let keys):
        plan = plan.arranged(
          try merged(keys) { key throws(QueryError) in
            try binder.bindSort([(key.path, key.isAscending)], to: start)
          })
      case .distinct(let keys):
        plan = plan.arranged(
          try merged(keys) { key throws(QueryError) in
            try binder.bindDistinct([key.path], to: start)
          })
      }
    }
    return plan
  }

  private func condition(
    _ binder: QueryBinder, _ start: StoredClass
  ) throws(QueryError) -> BoundPredicate {
    do throws(QueryError) {
      return try binder.bind(predicate, to: start)
    } catch {
      // The comparison that does not fit tells the place.
      for (comparison, offset) in comparisons {
        try placed(at: offset) { () throws(QueryError) in
          _ = try binder.bind(.comparison(comparison), to: start)
        }
      }
      throw error
    }
  }

  /// One step of all `keys`, bound one by one, so that errors have a place.
  private func merged(
    _ keys: [Key], _ bind: (Key) throws(QueryError) -> QueryPlan.Step
  ) throws(QueryError) -> QueryPlan.Step {
    var bound: [SortKey] = []
    var isSort = false
    for key in keys {
      let step = try placed(at: key.offset) { () throws(QueryError) in try bind(key) }
      switch step {
      case .sort(let keys):
        isSort = true
        bound += keys
      case .distinct(let keys): bound += keys
      }
    }
    return isSort ? .sort(bound) : .distinct(bound)
  }

  private func placed<Value>(
    at offset: Int, _ body: () throws(QueryError) -> Value
  ) throws(QueryError) -> Value {
    do throws(QueryError) {
      return try body()
    } catch {
      throw error.offset == nil ? QueryError(error.message, in: text, at: offset) : error
    }
  }
}
