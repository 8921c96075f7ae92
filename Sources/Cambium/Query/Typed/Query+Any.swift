extension Query where T == AnyRealmValue {
  /// The value of a key, where the value is a dictionary; null elsewhere.
  public subscript(key: String) -> Query<AnyRealmValue> {
    appending(step: .key(key), isCollection: false)
  }

  /// The element at a place, where the value is a list; null elsewhere.
  public subscript(index: Int) -> Query<AnyRealmValue> {
    appending(step: .index(index), isCollection: false)
  }

  /// Any element of a list, or any value of a dictionary.
  public var any: Query<AnyRealmValue> { appending(step: .anyElement, isCollection: false) }
}
