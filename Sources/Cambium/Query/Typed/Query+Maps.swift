extension Query where T: RealmKeyedCollection {
  /// How many entries the map has.
  public var count: Query<Int> { computing(.count) }

  /// Any of the values.
  public var values: Query<T.Value> { appending(step: .allValues, isCollection: true) }

  /// The value of a key; null when there is none.
  public subscript(key: T.Key) -> Query<T.Value> {
    appending(step: .key(key._rlmText), isCollection: false)
  }

  /// Whether a value equals `value`.
  public func contains(_ value: T.Value) -> Query<Bool> { containing(value) }

  /// Whether a value is one of these.
  public func containsAny<U: Sequence>(in collection: U) -> Query<Bool>
  where U.Element == T.Value {
    comparing(.in, collection.map { $0 as Any })
  }

  /// Whether a value equals `rhs`.
  public static func == (lhs: Query<T>, rhs: T.Value) -> Query<Bool> { lhs.comparing(.equal, rhs) }

  /// Whether a value differs from `rhs`.
  public static func != (lhs: Query<T>, rhs: T.Value) -> Query<Bool> {
    lhs.comparing(.notEqual, rhs)
  }
}

extension Query where T: RealmKeyedCollection, T.Key == String {
  /// Any of the keys.
  public var keys: Query<String> { appending(step: .allKeys, isCollection: true) }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryNumeric {
  /// Whether a value is above `rhs`.
  public static func > (lhs: Query<T>, rhs: T.Value) -> Query<Bool> { lhs.comparing(.greater, rhs) }

  /// Whether a value is above or equal to `rhs`.
  public static func >= (lhs: Query<T>, rhs: T.Value) -> Query<Bool> {
    lhs.comparing(.greaterOrEqual, rhs)
  }

  /// Whether a value is below `rhs`.
  public static func < (lhs: Query<T>, rhs: T.Value) -> Query<Bool> { lhs.comparing(.less, rhs) }

  /// Whether a value is below or equal to `rhs`.
  public static func <= (lhs: Query<T>, rhs: T.Value) -> Query<Bool> {
    lhs.comparing(.lessOrEqual, rhs)
  }

  /// The smallest value.
  public var min: Query<T.Value> { computing(.minimum) }

  /// The greatest value.
  public var max: Query<T.Value> { computing(.maximum) }

  /// The mean of the values.
  public var avg: Query<T.Value> { computing(.average) }

  /// The sum of the values.
  public var sum: Query<T.Value> { computing(.sum) }
}

extension Query where T: RealmKeyedCollection, T.Value: Comparable {
  /// Whether all values lie in the range and there is at least one.
  public func contains(_ range: Range<T.Value>) -> Query<Bool> {
    bounded(.less, range.lowerBound, range.upperBound)
  }

  /// Whether all values lie in the range and there is at least one.
  public func contains(_ range: ClosedRange<T.Value>) -> Query<Bool> {
    bounded(.lessOrEqual, range.lowerBound, range.upperBound)
  }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: Comparable {
  /// Whether all values that are not null lie in the range and there is at least one.
  public func contains(_ range: Range<T.Value.Wrapped>) -> Query<Bool> {
    bounded(.less, range.lowerBound, range.upperBound)
  }

  /// Whether all values that are not null lie in the range and there is at least one.
  public func contains(_ range: ClosedRange<T.Value.Wrapped>) -> Query<Bool> {
    bounded(.lessOrEqual, range.lowerBound, range.upperBound)
  }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: ObjectBase {
  /// A property of any of the objects.
  public subscript<V>(dynamicMember member: KeyPath<T.Value.Wrapped, V>) -> Query<V> {
    appending(_name(for: member))
  }
}
