extension Query where T: ObjectBase {
  /// A property of the object.
  public subscript<V>(dynamicMember member: KeyPath<T, V>) -> Query<V> {
    appending(_name(for: member))
  }

  /// A collection of the object; what follows is about any of its elements.
  public subscript<V: RealmCollection>(dynamicMember member: KeyPath<T, V>) -> Query<V> {
    appending(_name(for: member), isCollection: true)
  }

  /// A map of the object; what follows is about any of its values, or about that of a key.
  public subscript<V: RealmKeyedCollection>(dynamicMember member: KeyPath<T, V>) -> Query<V> {
    appending(_name(for: member), isCollection: true)
  }
}

extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
  /// A property of the linked object; null when the link is.
  public subscript<V>(dynamicMember member: KeyPath<T.Wrapped, V>) -> Query<V> {
    appending(_name(for: member))
  }

  /// A collection of the linked object; what follows is about any of its elements.
  public subscript<V: RealmCollection>(dynamicMember member: KeyPath<T.Wrapped, V>) -> Query<V> {
    appending(_name(for: member), isCollection: true)
  }

  /// A map of the object; what follows is about any of its values, or about that of a key.
  public subscript<V: RealmKeyedCollection>(dynamicMember member: KeyPath<T.Wrapped, V>) -> Query<V>
  {
    appending(_name(for: member), isCollection: true)
  }
}

extension Query where T: RealmCollection, T.Element: ObjectBase {
  /// A property of any element.
  public subscript<V>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V> {
    appending(_name(for: member))
  }

  /// A collection of any element.
  public subscript<V: RealmCollection>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V> {
    appending(_name(for: member), isCollection: true)
  }

  /// A map of the object; what follows is about any of its values, or about that of a key.
  public subscript<V: RealmKeyedCollection>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V>
  {
    appending(_name(for: member), isCollection: true)
  }
}

extension Query where T: PersistableEnum {
  /// The stored form of the case.
  public var rawValue: Query<T.RawValue> { retyped() }
}

extension Query where T: OptionalProtocol, T.Wrapped: PersistableEnum {
  /// The stored form of the case.
  public var rawValue: Query<T.Wrapped.RawValue?> { retyped() }
}

// What a collection's elements are stored as is a collection, too: a range asks for all of them.
extension Query where T: RealmCollection, T.Element: PersistableEnum {
  /// The stored forms of the elements.
  public var rawValue: Query<List<T.Element.RawValue>> { retyped() }
}

extension Query
where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: PersistableEnum {
  /// The stored forms of the elements.
  public var rawValue: Query<List<T.Element.Wrapped.RawValue?>> { retyped() }
}

extension Query where T: _HasPersistedType {
  /// The stored form of the value.
  public var persistableValue: Query<T.PersistedType> { retyped() }
}

extension Query
where T: RealmCollection & _HasPersistedType, T.Element.PersistedType: RealmCollectionValue {
  /// The stored forms of the elements.
  public var persistableValue: Query<List<T.Element.PersistedType>> { retyped() }
}
