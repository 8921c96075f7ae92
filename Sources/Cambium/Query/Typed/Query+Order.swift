// Numbers and dates compare by value, texts and data byte by byte.
extension Query where T: _HasPersistedType, T.PersistedType: _QueryOrdered {
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
}
