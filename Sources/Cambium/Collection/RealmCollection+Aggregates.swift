extension RealmCollection {
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

  /// The mean of a property over the elements that have a value; nil when there is none.
  public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: AddableType {
    aggregated(.average, property)
  }

  /// The smallest value of a property; nil when there is none.
  public func min<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: MinMaxType, Element: ObjectBase {
    aggregated(.minimum, _name(for: keyPath))
  }

  /// The greatest value of a property; nil when there is none.
  public func max<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: MinMaxType, Element: ObjectBase {
    aggregated(.maximum, _name(for: keyPath))
  }

  /// The sum of a property; null counts as 0.
  public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T
  where T.PersistedType: AddableType, Element: ObjectBase {
    required(aggregated(.sum, _name(for: keyPath)))
  }

  /// The mean of a property over the elements that have a value, as the property's type: an integer loses the
  /// fraction; nil when there is none.
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: AddableType, Element: ObjectBase {
    aggregated(.average, _name(for: keyPath))
  }

  /// The mean of a property over the elements that have a value, as any type of number; nil when there is none.
  ///
  /// For code that asks for another type than the property has.
  @_disfavoredOverload
  public func average<T: _HasPersistedType, S: _HasPersistedType>(
    of keyPath: KeyPath<Element, T>
  ) -> S? where T.PersistedType: AddableType, Element: ObjectBase {
    aggregated(.average, _name(for: keyPath))
  }

  /// The smallest value; nil when there is none.
  public func min() -> Element? where Element.PersistedType: MinMaxType {
    aggregated(.minimum, "self")
  }

  /// The greatest value; nil when there is none.
  public func max() -> Element? where Element.PersistedType: MinMaxType {
    aggregated(.maximum, "self")
  }

  /// The sum of the values; null counts as 0.
  public func sum() -> Element where Element.PersistedType: AddableType {
    required(aggregated(.sum, "self"))
  }

  /// The mean of the values that are there; nil when there is none.
  public func average<T: _HasPersistedType>() -> T? where Element.PersistedType: AddableType {
    aggregated(.average, "self")
  }

  private func required<T>(_ value: T?) -> T {
    guard let value else { fatalError("A sum cannot be a '\(T.self)'.") }
    return value
  }

  private func aggregated<T>(_ operation: QueryPath.Aggregate, _ property: String) -> T? {
    if let elements = plainElements { return PlainAggregate.run(operation, property, elements) }
    let result = queryCore().aggregated(operation, property)
    return PlainAggregate.converted(result)
  }
}
