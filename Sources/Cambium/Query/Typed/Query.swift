/// A value or a condition in a query, written in Swift.
///
/// ```swift
/// realm.objects(Dog.self).where { $0.age > 3 && $0.owner.name.starts(with: "A") }
/// ```
///
/// Members are the properties of the class. A property behind a collection stands for any of its
/// elements: `$0.dogs.name == "Rex"` is true when one of the dogs has that name.
@dynamicMemberLookup public struct Query<T> {
  let node: TypedNode

  init(_ node: TypedNode) { self.node = node }

  /// The start of all paths: the object itself.
  static var root: Query<T> { Query(.path(TypedPath())) }

  func appending<V>(_ name: String, isCollection: Bool = false) -> Query<V> {
    guard let path = node.path, path.aggregate == nil else {
      fatalError("A property can only be read from an object or a collection of objects.")
    }
    return Query<V>(.path(path.appending(name, isCollection: isCollection)))
  }

  func computing<V>(_ aggregate: QueryPath.Aggregate) -> Query<V> {
    guard let path = node.path else {
      fatalError("'\(aggregate.rawValue)' can only be computed from a collection.")
    }
    return Query<V>(.path(path.computing(aggregate)))
  }

  func comparing(
    _ operation: QueryOperator, _ value: Any?, _ options: StringOptions = []
  ) -> Query<Bool> {
    Query<Bool>(.compare(node, operation, value, options))
  }

  func comparing<U>(
    _ operation: QueryOperator, column: Query<U>, _ options: StringOptions = []
  ) -> Query<Bool> {
    Query<Bool>(.compare(node, operation, column: column.node, options))
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
    let text = TypedText(node)
    return (text.text, text.arguments)
  }

  /// A query to start from.
  public static func _constructForTesting() -> Query<T> { root }
}

extension Query where T == Bool {
  /// The condition does not hold.
  public static prefix func ! (query: Query<Bool>) -> Query<Bool> { Query(.not(query.node)) }

  /// Both conditions hold.
  public static func && (lhs: Query<Bool>, rhs: Query<Bool>) -> Query<Bool> {
    Query(.and(lhs.node, rhs.node))
  }

  /// At least one of the conditions holds.
  public static func || (lhs: Query<Bool>, rhs: Query<Bool>) -> Query<Bool> {
    Query(.or(lhs.node, rhs.node))
  }

  /// How many elements of a collection satisfy the condition, which must be about one:
  /// `($0.dogs.age > 3 && $0.dogs.name == "Rex").count > 0` asks for one dog with both.
  public var count: Query<Int> { Query<Int>(.subqueryCount(node)) }

  /// The condition as the tree that both front ends share.
  var predicate: QueryPredicate { node.predicate }
}
