extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
  /// Whether the value is above another.
  public static func > (lhs: Query<T>, rhs: T) -> Query<Bool> { lhs.comparing(.greater, rhs) }

  /// Whether the first value is above the second.
  public static func > (lhs: Query<T>, rhs: Query<T>) -> Query<Bool> {
    lhs.comparing(.greater, column: rhs)
  }

  /// Whether the value is above or equal to another.
  public static func >= (lhs: Query<T>, rhs: T) -> Query<Bool> {
    lhs.comparing(.greaterOrEqual, rhs)
  }

  /// Whether the first value is above or equal to the second.
  public static func >= (lhs: Query<T>, rhs: Query<T>) -> Query<Bool> {
    lhs.comparing(.greaterOrEqual, column: rhs)
  }

  /// Whether the value is below another.
  public static func < (lhs: Query<T>, rhs: T) -> Query<Bool> { lhs.comparing(.less, rhs) }

  /// Whether the first value is below the second.
  public static func < (lhs: Query<T>, rhs: Query<T>) -> Query<Bool> {
    lhs.comparing(.less, column: rhs)
  }

  /// Whether the value is below or equal to another.
  public static func <= (lhs: Query<T>, rhs: T) -> Query<Bool> {
    lhs.comparing(.lessOrEqual, rhs)
  }

  /// Whether the first value is below or equal to the second.
  public static func <= (lhs: Query<T>, rhs: Query<T>) -> Query<Bool> {
    lhs.comparing(.lessOrEqual, column: rhs)
  }

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
