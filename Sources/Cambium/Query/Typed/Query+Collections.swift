extension Query where T: RealmCollection {
  /// How many elements the collection has.
  public var count: Query<Int> { computing(.count) }

  /// Whether an element equals the value.
  public func contains(_ value: T.Element) -> Query<Bool> {
    containing(value)
  }

  /// Whether an element is one of these.
  public func containsAny<U: Sequence>(in collection: U) -> Query<Bool>
  where U.Element == T.Element {
    comparing(.in, collection.map { $0 as Any })
  }

  /// Whether an element equals the value.
  public static func == (lhs: Query<T>, rhs: T.Element) -> Query<Bool> {
    lhs.comparing(.equal, rhs)
  }

  /// Whether an element differs from the value.
  public static func != (lhs: Query<T>, rhs: T.Element) -> Query<Bool> {
    lhs.comparing(.notEqual, rhs)
  }
}

extension Query
where T: RealmCollection, T.Element.PersistedType: _QueryNumeric {
  /// Whether an element is above the value.
  public static func > (lhs: Query<T>, rhs: T.Element) -> Query<Bool> {
    lhs.comparing(.greater, rhs)
  }

  /// Whether an element is above or equal to the value.
  public static func >= (lhs: Query<T>, rhs: T.Element) -> Query<Bool> {
    lhs.comparing(.greaterOrEqual, rhs)
  }

  /// Whether an element is below the value.
  public static func < (lhs: Query<T>, rhs: T.Element) -> Query<Bool> {
    lhs.comparing(.less, rhs)
  }

  /// Whether an element is below or equal to the value.
  public static func <= (lhs: Query<T>, rhs: T.Element) -> Query<Bool> {
    lhs.comparing(.lessOrEqual, rhs)
  }

  /// The smallest element.
  public var min: Query<T.Element> { computing(.minimum) }

  /// The greatest element.
  public var max: Query<T.Element> { computing(.maximum) }

  /// The mean of the elements.
  public var avg: Query<T.Element> { computing(.average) }

  /// The sum of the elements.
  public var sum: Query<T.Element> { computing(.sum) }
}

extension Query where T: RealmCollection, T.Element: Comparable {
  /// Whether all elements lie in the range and there is at least one.
  public func contains(_ range: Range<T.Element>) -> Query<Bool> {
    bounded(.less, range.lowerBound, range.upperBound)
  }

  /// Whether all elements lie in the range and there is at least one.
  public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
    bounded(.lessOrEqual, range.lowerBound, range.upperBound)
  }
}

extension Query
where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: Comparable {
  /// Whether all elements that are not null lie in the range and there is at least one.
  public func contains(_ range: Range<T.Element.Wrapped>) -> Query<Bool> {
    bounded(.less, range.lowerBound, range.upperBound)
  }

  /// Whether all elements that are not null lie in the range and there is at least one.
  public func contains(_ range: ClosedRange<T.Element.Wrapped>) -> Query<Bool> {
    bounded(.lessOrEqual, range.lowerBound, range.upperBound)
  }
}

extension Query {
  /// Whether the smallest and the greatest element lie within bounds.
  func bounded(_ upper: QueryOperator, _ low: Any, _ high: Any) -> Query<Bool> {
    let lowest: Query<Any> = computing(.minimum)
    let highest: Query<Any> = computing(.maximum)
    return lowest.comparing(.greaterOrEqual, low) && highest.comparing(upper, high)
  }
}
