/// Marks a property of a model class as stored.
///
/// ```swift
/// class Dog: Object {
///   @Persisted(primaryKey: true) var id: ObjectId
///   @Persisted(indexed: true) var name = ""
///   @Persisted var owner: Person?
///   @Persisted(originProperty: "dogs") var kennels: LinkingObjects<Kennel>
/// }
/// ```
///
/// While its object is unmanaged the property holds a plain value. Once the object belongs to a
/// Realm, reading goes to the Realm's version and writing needs a write transaction.
@propertyWrapper public struct Persisted<Value: _Persistable> {
  // Pointers: what is read and written through an untyped pointer is this, in an object that the caller
  // has, at the place and of the type that the class's metadata says.

  // Two fields, the head first: objects find it at the property's offset.
  @usableFromInline var head: _PersistedHead
  @usableFromInline var value: Value?

  /// A property with its type's default value.
  @inlinable public init() {
    head = _PersistedHead()
    value = nil
  }

  /// A property with a default value.
  @inlinable public init(wrappedValue: Value) {
    head = _PersistedHead()
    value = wrappedValue
  }

  /// A property that an index serves.
  @inlinable public init(indexed: Bool) where Value.PersistedType: _Indexable {
    head = _PersistedHead(flags: indexed ? _PersistedHead.indexed : 0)
    value = nil
  }

  /// A property with a default value that an index serves.
  @inlinable public init(wrappedValue: Value, indexed: Bool)
  where Value.PersistedType: _Indexable {
    head = _PersistedHead(flags: indexed ? _PersistedHead.indexed : 0)
    value = wrappedValue
  }

  /// The class's primary key.
  @inlinable public init(primaryKey: Bool) where Value.PersistedType: _PrimaryKey {
    head = _PersistedHead(flags: primaryKey ? _PersistedHead.primaryKey : 0)
    value = nil
  }

  /// The class's primary key, with a default value.
  @inlinable public init(wrappedValue: Value, primaryKey: Bool)
  where Value.PersistedType: _PrimaryKey {
    head = _PersistedHead(flags: primaryKey ? _PersistedHead.primaryKey : 0)
    value = wrappedValue
  }

  /// The objects that link here through their property `originProperty`.
  @inlinable public init(originProperty: String) where Value: LinkingObjectsProtocol {
    head = _PersistedHead()
    value = Value(fromType: Value.Element.self, property: originProperty)
  }

  /// Not available: the value lives with its object.
  @available(
    *, unavailable, message: "@Persisted can only be used as a property on a Realm object"
  )
  public var wrappedValue: Value {
    get { fatalError("@Persisted can only be used as a property on a Realm object") }
    // swift-format-ignore: an unavailable setter has no use for its value
    set { fatalError("@Persisted can only be used as a property on a Realm object") }
  }

  /// The property's value, read from and written to the object or its Realm.
  ///
  /// Both accessors must end up in the property's own: only there is the key path a constant that
  /// folds to a field.
  public static subscript<EnclosingSelf: ObjectBase>(
    _enclosingInstance object: EnclosingSelf,
    wrapped wrappedKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Self>
  ) -> Value {
    @inlinable @inline(__always) get {
      let head = object[keyPath: storageKeyPath].head
      if head.state == _PersistedHead.managed {
        if !Value._rlmIsKept { return Value._rlmPersistedValue(of: object, head) }
        let value = Value._rlmPersistedValue(of: object, head)
        if object.keepsPersistedValues {
          object[keyPath: storageKeyPath].keep(value)
        }
        return value
      }
      if let value = object[keyPath: storageKeyPath].value,
        head.state != _PersistedHead.traced
      {
        return value
      }
      return object[keyPath: storageKeyPath].firstValue(of: object)
    }
    @inlinable @inline(__always) set {
      let head = object[keyPath: storageKeyPath].head
      if head.state == _PersistedHead.unmanaged {
        object[keyPath: storageKeyPath].setUnmanaged(newValue)
      } else if head.state == _PersistedHead.unfit {
        object[keyPath: storageKeyPath].replaceUnfit(newValue, of: object)
      } else {
        Value._rlmSetPersistedValue(newValue, of: object, head)
      }
    }
  }

  @usableFromInline mutating func keep(_ value: Value) {
    head.state = _PersistedHead.managedAndKept
    self.value = value
  }

  @inlinable @inline(__always) mutating func setUnmanaged(_ newValue: Value) {
    if Value._rlmIsKept {
      replaceContents(newValue)
    } else {
      value = newValue
    }
  }

  @usableFromInline mutating func replaceUnfit(_ newValue: Value, of object: ObjectBase) {
    _ = object.takeUnfitValue(Int(head.index))
    head.state = _PersistedHead.unmanaged
    value = newValue
  }

  /// The default of an unmanaged property, fixed at its first reading, or a trace's next step.
  @usableFromInline mutating func firstValue(of object: ObjectBase) -> Value {
    if head.state == _PersistedHead.traced {
      object.recordTrace(head)
      // Only links lead on, which are optional; a type of the program's may have no value but the declared one.
      if let value, !(Value.self is any ExpressibleByNilLiteral.Type) { return value }
      return Value._rlmTracedValue(of: object, head)
    }
    if head.state == _PersistedHead.unfit, let stored = object.unfitValue(head) {
      return Value._rlmValue(ofUnfit: stored)
    }
    let value = Value._rlmDefaultPersistedValue()
    self.value = value
    return value
  }
}

/// A wrapper that can be decoded when its key is absent.
public protocol OptionalCodingWrapper {
  /// What it wraps.
  associatedtype WrappedType: ExpressibleByNilLiteral
  /// Wraps a value.
  init(wrappedValue: WrappedType)
}

extension Persisted: OptionalCodingWrapper where Value: ExpressibleByNilLiteral {}

extension Persisted: Decodable where Value: Decodable {
  /// Decodes the property of an unmanaged object.
  ///
  /// Through a container: only there do a coder's strategies, such as those for dates, apply.
  public init(from decoder: any Decoder) throws {
    self.init(wrappedValue: try decoder.singleValueContainer().decode(Value.self))
  }
}

extension Persisted: Encodable where Value: Encodable {
  /// Encodes the property of an unmanaged object.
  ///
  /// A managed one throws `EncodingError.invalidValue`: write `encode(to:)` by hand.
  public func encode(to encoder: any Encoder) throws {
    guard head.state == _PersistedHead.unmanaged else {
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription: "Only unmanaged Realm objects can be encoded using automatic Codable "
            + "synthesis. You must explicitly define encode(to:) on your model class to support "
            + "managed Realm objects."))
    }
    var container = encoder.singleValueContainer()
    try container.encode(value ?? Value._rlmDefaultPersistedValue())
  }
}

extension KeyedDecodingContainer {
  /// Decodes a wrapper whose key may be absent; then it holds nil.
  public func decode<T: Decodable & OptionalCodingWrapper>(
    _ type: T.Type, forKey key: Key
  ) throws -> T {
    try decodeIfPresent(type, forKey: key) ?? T(wrappedValue: nil)
  }
}
