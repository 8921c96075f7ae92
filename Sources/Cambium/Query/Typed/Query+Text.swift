extension Query where T: _HasPersistedType, T.PersistedType: _QueryBinary {
  /// Whether the value contains a piece; the empty piece is never found.
  public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> {
    comparing(.contains, value, options)
  }

  /// Whether the value contains that of another property; the empty piece is never found.
  public func contains<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
    comparing(.contains, column: column, options)
  }

  /// Whether the value begins with a piece; the empty piece is never found.
  public func starts(with value: T, options: StringOptions = []) -> Query<Bool> {
    comparing(.beginsWith, value, options)
  }

  /// Whether the value begins with that of another property; the empty piece is never found.
  public func starts<U>(with column: Query<U>, options: StringOptions = []) -> Query<Bool> {
    comparing(.beginsWith, column: column, options)
  }

  /// Whether the value ends with a piece; the empty piece is never found.
  public func ends(with value: T, options: StringOptions = []) -> Query<Bool> {
    comparing(.endsWith, value, options)
  }

  /// Whether the value ends with that of another property; the empty piece is never found.
  public func ends<U>(with column: Query<U>, options: StringOptions = []) -> Query<Bool> {
    comparing(.endsWith, column: column, options)
  }

  /// Whether the value equals another.
  public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> {
    comparing(.equal, value, options)
  }

  /// Whether the value equals that of another property.
  public func equals<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
    comparing(.equal, column: column, options)
  }

  /// Whether the value differs from another.
  public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
    comparing(.notEqual, value, options)
  }

  /// Whether the value differs from that of another property.
  public func notEquals<U>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
    comparing(.notEqual, column: column, options)
  }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryString {
  /// Whether all of the text fits a pattern, in which `?` stands for one character and `*` for any
  /// number of them.
  public func like(_ value: T, caseInsensitive: Bool = false) -> Query<Bool> {
    comparing(.like, value, caseInsensitive ? .caseInsensitive : [])
  }

  /// Whether all of the text fits the pattern that another property holds.
  public func like<U>(_ column: Query<U>, caseInsensitive: Bool = false) -> Query<Bool> {
    comparing(.like, column: column, caseInsensitive ? .caseInsensitive : [])
  }
}
