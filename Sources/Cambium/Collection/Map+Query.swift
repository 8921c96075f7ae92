// The values of a map as results, of which queries and sorts go on.
extension Map {
  /// The values as results; of objects those that are not null.
  public func _rlmValues() -> Results<Value> { Results(ResultsCore(managed(), of: Value.self)) }

  /// The objects among the values that satisfy a condition in text form, with `%@` and `%K` for
  /// arguments.
  ///
  /// Stops when the text or its names are wrong; queries are code.
  public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Value> {
    Results(_rlmValues().core.filtered(QueryPredicate.parsed(predicateFormat, args)))
  }

  /// The objects among the values that satisfy a condition written in Swift.
  public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> {
    _rlmValues().where(isIncluded)
  }

  /// The values in order.
  public func sorted(ascending: Bool = true) -> Results<Value> {
    sorted(byKeyPath: "self", ascending: ascending)
  }

  /// The objects among the values in the order of a property or a dotted path over to-one links.
  public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The values in the order of one or several keys.
  public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Value>
  where S.Element == SortDescriptor {
    _rlmValues().sorted(by: sortDescriptors)
  }

  /// The objects among the values in the order of a property.
  public func sorted<T>(
    by keyPath: KeyPath<Value.Wrapped, T>, ascending: Bool = true
  ) -> Results<Value> where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    sorted(byKeyPath: _name(for: keyPath), ascending: ascending)
  }

  /// The values without repetitions, of objects the first one of each combination of the named
  /// properties' values.
  public func distinct<S: Sequence>(by keyPaths: S) -> Results<Value> where S.Element == String {
    _rlmValues().distinct(by: keyPaths)
  }
}

// Numbers that are computed from the values.
extension Map {
  /// The smallest value of a property; nil when there is none.
  public func min<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: MinMaxType {
    aggregated(.minimum, property)
  }

  /// The greatest value of a property; nil when there is none.
  public func max<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: MinMaxType {
    aggregated(.maximum, property)
  }

  /// The sum of a property; null counts as 0.
  public func sum<T: _HasPersistedType>(ofProperty property: String) -> T
  where T.PersistedType: AddableType {
    required(aggregated(.sum, property))
  }

  /// The mean of a property over the objects that have a value; nil when there is none.
  public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: AddableType {
    aggregated(.average, property)
  }

  /// The smallest value of a property; nil when there is none.
  public func min<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: MinMaxType, Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    aggregated(.minimum, _name(for: keyPath))
  }

  /// The greatest value of a property; nil when there is none.
  public func max<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: MinMaxType, Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    aggregated(.maximum, _name(for: keyPath))
  }

  /// The sum of a property; null counts as 0.
  public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T
  where T.PersistedType: AddableType, Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    required(aggregated(.sum, _name(for: keyPath)))
  }

  /// The mean of a property over the objects that have a value, as the property's type: an integer loses the
  /// fraction; nil when there is none.
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: AddableType, Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    aggregated(.average, _name(for: keyPath))
  }

  /// The mean of a property over the objects that have a value, as any type of number; nil when there is none.
  ///
  /// For code that asks for another type than the property has.
  @_disfavoredOverload
  public func average<T: _HasPersistedType, S: _HasPersistedType>(
    of keyPath: KeyPath<Value.Wrapped, T>
  ) -> S?
  where T.PersistedType: AddableType, Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    aggregated(.average, _name(for: keyPath))
  }

  /// The smallest value; nil when there is none.
  public func min() -> Value? where Value.PersistedType: MinMaxType {
    aggregated(.minimum, "self")
  }

  /// The greatest value; nil when there is none.
  public func max() -> Value? where Value.PersistedType: MinMaxType {
    aggregated(.maximum, "self")
  }

  /// The sum of the values; null counts as 0.
  public func sum() -> Value where Value.PersistedType: AddableType {
    required(aggregated(.sum, "self"))
  }

  /// The mean of the values that are there; nil when there is none.
  public func average<T: _HasPersistedType>() -> T? where Value.PersistedType: AddableType {
    aggregated(.average, "self")
  }

  private func required<T>(_ value: T?) -> T {
    guard let value else { fatalError("A sum of '\(Value.self)' has no value.") }
    return value
  }

  private func aggregated<T>(_ operation: QueryPath.Aggregate, _ property: String) -> T? {
    if state == nil { return PlainAggregate.run(operation, property, values) }
    return PlainAggregate.converted(_rlmValues().core.aggregated(operation, property))
  }
}
