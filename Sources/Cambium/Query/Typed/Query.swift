/// A value or a condition in a query, written in Swift.
///
/// ```swift
/// realm.objects(Dog.self).where { $0.age > 3 && $0.owner.name.starts(with: "A") }
/// ```
///
/// Members are the properties of the class. A property behind a collection stands for any of its
/// elements: `$0.dogs.name == "Rex"` is true when one of the dogs has that name.
@dynamicMemberLookup public struct Query<T> {
  private let content: QueryContent

  init(_ content: QueryContent) { self.content = content }

  /// The start of all paths: the object itself.
  static var root: Query<T> { Query(.value(.path(QueryPath()))) }

  /// The same under another type.
  func retyped<V>() -> Query<V> { Query<V>(content) }

  private var path: QueryPath? {
    if case .value(.path(let path)) = content { path } else { nil }
  }

  private var operand: QueryOperand {
    guard case .value(let operand) = content else {
      fatalError("A condition cannot be compared.")
    }
    return operand
  }

  func appending<V>(_ name: String, isCollection: Bool = false) -> Query<V> {
    guard var path, path.aggregate == nil else {
      fatalError("A property can only be read from an object or a collection of objects.")
    }
    // A key path may lead through several properties; only the last can be the collection.
    path.steps += name.split(separator: ".").map { .property(String($0)) }
    if isCollection { path.collectionEnds.append(path.steps.count) }
    return Query<V>(.value(.path(path)))
  }

  /// A step behind the last name, which says what of a map or a value of any type is meant.
  func appending<V>(step: QueryPath.Step, isCollection: Bool) -> Query<V> {
    guard var path, path.aggregate == nil else {
      fatalError("Only a dictionary or a value of any type can be subscripted.")
    }
    // What was any value becomes the one that is meant.
    path.collectionEnds.removeAll { $0 == path.steps.count }
    path.steps.append(step)
    if isCollection { path.collectionEnds.append(path.steps.count) }
    return Query<V>(.value(.path(path)))
  }

  /// What is computed from a collection stands behind it; the number of elements behind all.
  func computing<V>(_ aggregate: QueryPath.Aggregate) -> Query<V> {
    guard var path else {
      fatalError("'\(aggregate.rawValue)' can only be computed from a collection.")
    }
    let end = aggregate == .count ? nil : path.collectionEnds.first
    path.steps.insert(.aggregate(aggregate), at: end ?? path.steps.count)
    return Query<V>(.value(.path(path)))
  }

  func comparing(
    _ operation: QueryOperator, _ value: Any?, _ options: StringOptions = []
  ) -> Query<Bool> {
    if let value, let members = memberwise(operation, value) { return members }
    return compared(operand, operation, .constant(QueryConstant(value)), options)
  }

  func comparing<U>(
    _ operation: QueryOperator, column: Query<U>, _ options: StringOptions = []
  ) -> Query<Bool> {
    if path?.isAny == true, column.path?.isAny == true {
      fatalError("Comparing two collection columns is not permitted.")
    }
    return compared(operand, operation, column.operand, options)
  }

  /// Whether an element of the collection equals the value.
  func containing(_ value: Any?) -> Query<Bool> {
    compared(.constant(QueryConstant(value)), .in, operand, [])
  }

  private func compared(
    _ left: QueryOperand, _ operation: QueryOperator, _ right: QueryOperand,
    _ options: StringOptions
  ) -> Query<Bool> {
    Query<Bool>(
      .condition(.comparison(QueryComparison(left, operation, right, options: options))))
  }

  // MARK: Equality

  /// Whether the value equals another; nil stands for null.
  public static func == (lhs: Query<T>, rhs: T) -> Query<Bool> { lhs.comparing(.equal, rhs) }

  /// Whether both values are equal.
  public static func == (lhs: Query<T>, rhs: Query<T>) -> Query<Bool> {
    lhs.comparing(.equal, column: rhs)
  }

  /// Whether the value differs from another; null differs from every value.
  public static func != (lhs: Query<T>, rhs: T) -> Query<Bool> { lhs.comparing(.notEqual, rhs) }

  /// Whether the values differ.
  public static func != (lhs: Query<T>, rhs: Query<T>) -> Query<Bool> {
    lhs.comparing(.notEqual, column: rhs)
  }

  /// Whether the value is one of these.
  public func `in`<U: Sequence>(_ collection: U) -> Query<Bool> where U.Element == T {
    comparing(.in, collection.map { $0 as Any })
  }

  // MARK: Text form

  /// The condition in text form, with the values for its arguments.
  public func _constructPredicate() -> (String, [Any]) {
    PredicatePrinter.text(of: predicate)
  }

  /// A query to start from.
  public static func _constructForTesting() -> Query<T> { root }
}

extension Query {
  /// The condition; a truth value alone asks whether it is true.
  fileprivate func condition(is truth: Bool = true) -> QueryPredicate {
    switch content {
    case .condition(let predicate): return truth ? predicate : .not(predicate)
    case .value(let operand):
      guard case .path = operand else { fatalError("A condition must compare something.") }
      var comparison = QueryComparison(operand, .equal, .constant(.bool(truth)))
      comparison.isTruthValue = true
      return .comparison(comparison)
    }
  }

  /// The condition as the tree that both front ends share.
  var predicate: QueryPredicate { condition().withSubqueries() }
}

extension Query where T == Bool {
  /// The condition does not hold.
  public static prefix func ! (query: Query<Bool>) -> Query<Bool> {
    Query(.condition(query.condition(is: false)))
  }

  /// Both conditions hold.
  public static func && (lhs: Query<Bool>, rhs: Query<Bool>) -> Query<Bool> {
    Query(.condition(lhs.condition().and(rhs.condition())))
  }

  /// At least one of the conditions holds.
  public static func || (lhs: Query<Bool>, rhs: Query<Bool>) -> Query<Bool> {
    Query(.condition(lhs.condition().or(rhs.condition())))
  }

  /// How many elements of a collection satisfy the condition, which must be about one:
  /// `($0.dogs.age > 3 && $0.dogs.name == "Rex").count > 0` asks for one dog with both.
  public var count: Query<Int> {
    Query<Int>(.value(.subqueryCount(collection: QueryPath(), variable: "", condition())))
  }
}

/// What a query is so far.
enum QueryContent {
  case value(QueryOperand)
  case condition(QueryPredicate)
}
