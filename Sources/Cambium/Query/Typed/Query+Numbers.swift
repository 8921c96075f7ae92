extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
  /// The smallest value over the collection on the path.
  public var min: Query<T> { computing(.minimum) }

  /// The greatest value over the collection on the path.
  public var max: Query<T> { computing(.maximum) }

  /// The mean over the collection on the path.
  public var avg: Query<T> { computing(.average) }

  /// The sum over the collection on the path.
  public var sum: Query<T> { computing(.sum) }
}

extension Query where T: Comparable {
  /// Whether the value lies in the range.
  public func contains(_ range: Range<T>) -> Query<Bool> {
    comparing(.greaterOrEqual, range.lowerBound) && comparing(.less, range.upperBound)
  }

  /// Whether the value lies in the range.
  public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
    comparing(.between, [range.lowerBound, range.upperBound])
  }
}

extension Query where T: OptionalProtocol, T.Wrapped: Comparable {
  /// Whether there is a value and it lies in the range.
  public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> {
    comparing(.greaterOrEqual, range.lowerBound) && comparing(.less, range.upperBound)
  }

  /// Whether there is a value and it lies in the range.
  public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> {
    comparing(.between, [range.lowerBound, range.upperBound])
  }
}
