import CambiumCore
import Foundation

extension AnyRealmValue: _RealmSchemaDiscoverable {
  /// A property of any type.
  public static func _rlmDescribeProperty(_ property: inout Property) { property.type = .any }
}

extension AnyRealmValue: _HasPersistedType {
  /// Stored as itself.
  public typealias PersistedType = AnyRealmValue
}

extension AnyRealmValue: _Persistable {
  /// Nothing.
  public static func _rlmDefaultPersistedValue() -> AnyRealmValue { .none }

  /// Reads the stored value; a list or dictionary is live.
  public static func _rlmPersistedValue(
    of object: ObjectBase, _ head: _PersistedHead
  ) -> AnyRealmValue {
    var stored: StoredAny?
    object.readCell(head) { stored = StoredAny($0) }
    let access = object.classAccess
    return unsafe AnyRealmValue(stored, access.realm) { value in
      ManagedCollection(object, Int(head.index), inside: value)
    }
  }

  /// Stores the value; needs a write transaction.
  ///
  /// An unmanaged object is added to the Realm.
  public static func _rlmSetPersistedValue(
    _ value: AnyRealmValue, of object: ObjectBase, _ head: _PersistedHead
  ) {
    let (_, session) = object.prepareToWrite()
    if unsafe !session.isDraining { unsafe session.policy = .error }
    session.stored(value).withCell { object.writeCell(head, $0) }
    session.drain()
  }

  /// Stores the value in a new row.
  public static func _rlmWritePersistedValue(_ value: AnyRealmValue, to row: _RowWriter) {
    guard let session = unsafe row.realm.session else { return }
    session.stored(value).withCell { row.append($0) }
  }

  /// The value inside; nil for nothing.
  public static func _rlmDynamicValue(_ value: AnyRealmValue) -> Any? {
    switch value {
    case .none: nil
    case .int(let value): value
    case .bool(let value): value
    case .float(let value): value
    case .double(let value): value
    case .string(let value): value
    case .data(let value): value
    case .date(let value): value
    case .object(let value): value
    case .objectId(let value): value
    case .decimal128(let value): value
    case .uuid(let value): value
    case .dictionary(let value): value
    case .list(let value): value
    }
  }

  /// Accepts values of every type that can be stored, and arrays and dictionaries of them.
  public static func _rlmConvertedValue(
    _ value: Any?, _ conversion: _ValueConversion
  ) -> AnyRealmValue? {
    switch flattened(value) {
    case nil: return AnyRealmValue.none
    case let value as AnyRealmValue:
      switch value {
      case .object, .list, .dictionary:
        return _rlmConvertedValue(_rlmDynamicValue(value), conversion)
      default: return value
      }
    case let value as Bool: return .bool(value)
    case let value as Float: return .float(value)
    case let value as Double: return .double(value)
    case let value as any BinaryInteger: return Int(exactly: value).map { .int($0) }
    case let value as String: return .string(value)
    case let value as Substring: return .string(String(value))
    case let value as Data: return .data(value)
    case let value as Date: return .date(value)
    case let value as ObjectId: return .objectId(value)
    case let value as Decimal128: return .decimal128(value)
    case let value as Decimal: return .decimal128(Decimal128(value: value))
    case let value as UUID: return .uuid(value)
    case let value? where modelObject(value) is Object:
      return (value as? Object).flatMap { conversion.linkedObject(any: $0) }.map { .object($0) }
    case is Map<String, AnyRealmValue>, is [String: Any]:
      return conversion.nested { Map._rlmConvertedValue(value, conversion).map { .dictionary($0) } }
    case is List<AnyRealmValue>, is [Any]:
      return conversion.nested { List._rlmConvertedValue(value, conversion).map { .list($0) } }
    case let value as any _CustomPersistable:
      return _rlmConvertedValue(Self.stored(of: value), conversion)
    case let value as any RawRepresentable:
      return _rlmConvertedValue(Self.raw(of: value), conversion)
    default: return nil
    }
  }

  private static func stored(of value: some _CustomPersistable) -> Any { value.persistableValue }
  private static func raw(of value: some RawRepresentable) -> Any { value.rawValue }
}

extension AnyRealmValue: RealmCollectionValue {
  /// Nothing.
  public static func _rlmDefaultValue() -> AnyRealmValue { .none }

  /// A collection of values of any type.
  public static func _rlmDescribeElement(_ property: inout Property) { property.type = .any }

  /// Bytes.
  public static var _rlmElementColumnType: ColumnType { .bytes }

  /// The value of a cell; a list or dictionary cannot be had without the collection in which it is.
  public static func _rlmElement(in cell: ColumnValue, _ realm: Realm) -> AnyRealmValue {
    AnyRealmValue(StoredAny(cell), realm.instance) { _ in nil }
  }

  /// Calls `body` with the value's cell; adds an unmanaged object to `realm`.
  public func _rlmWithElementCell<Result>(
    in realm: Realm, _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    guard let session = unsafe realm.instance.session else {
      return try StoredAny(seeking: self, in: realm.instance).withCell(body)
    }
    return try session.stored(self).withCell(body)
  }

  /// Accepts what a property accepts.
  public static func _rlmConvertedElement(
    _ value: Any?, _ conversion: _ValueConversion
  ) -> AnyRealmValue? {
    _rlmConvertedValue(value, conversion)
  }

  /// The value inside; nil for nothing.
  public static func _rlmDynamicElement(_ element: AnyRealmValue) -> Any? {
    _rlmDynamicValue(element)
  }
}

extension AnyRealmValue {
  /// The value that is stored as `stored`; nothing when that broke the format.
  ///
  /// `collection` makes a list or dictionary.
  init(
    _ stored: StoredAny?, _ realm: RealmInstance,
    _ collection: (StoredAny) -> ManagedCollection?
  ) {
    switch stored {
    case .link(let link)?: self = realm.object(link).map { .object($0) } ?? .none
    case .list?: self = stored.flatMap(collection).map { .list(List($0)) } ?? .none
    case .dictionary?: self = stored.flatMap(collection).map { .dictionary(Map($0)) } ?? .none
    default: self = stored?.plainScalar ?? .none
    }
  }
}

extension RealmInstance {
  /// The object that a value of any type is; nil when it is gone.
  ///
  /// A ``DynamicObject`` when its class does not belong to this Realm.
  fileprivate func object(_ link: StoredAnyLink) -> Object? {
    access(ofTable: link.table)?.object(forKey: link.key) as? Object
  }
}

extension StoredAny {
  /// Stops at a value that is nested too deeply.
  static func checkDepth(_ depth: Int) {
    if depth >= depthLimit { stopAsTooDeep() }
  }

  static func stopAsTooDeep() -> Never {
    fatalError("A value of any type is nested deeper than \(depthLimit) levels.")
  }

  /// The stored form of a value that needs no transaction, for who looks for it: what is not in the Realm
  /// is not found.
  init(seeking value: AnyRealmValue, in realm: RealmInstance) {
    switch value {
    case .object(let object):
      guard object.isManaged, unsafe object.instance === realm, !object.isGone else {
        self = .link(StoredAnyLink(table: 0, key: 0))
        return
      }
      self = unsafe .link(StoredAnyLink(table: object.classAccess.stored.tableID, key: object.key))
    case .list(let list):
      self = .list(identifier: list.state?.place.inside ?? 0, [])
    case .dictionary(let map):
      self = .dictionary(identifier: map.state?.place.inside ?? 0, [])
    default: self = StoredAny(scalar: value)
    }
  }

  /// The stored form of a value that is no object, list or dictionary.
  init(scalar value: AnyRealmValue) {
    switch value {
    case .none, .object, .list, .dictionary: self = .none
    case .int(let value): self = .int(Int64(value))
    case .bool(let value): self = .bool(value)
    case .float(let value): self = .float(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .string(Array(value.utf8))
    case .data(let value): self = .data(Array(value))
    case .date(let value): self = .date(StoredDate(value))
    case .objectId(let value): self = .objectId(low: value.wide.low, high: value.wide.high)
    case .decimal128(let value): self = .decimal(value.bits)
    case .uuid(let value):
      let words = StoredUUID.wide(value)
      self = .uuid(low: words.low, high: words.high)
    }
  }
}

extension WriteSession {
  /// The stored form of a value: unmanaged objects are added, and lists and dictionaries are copied under
  /// identifiers of their own.
  func stored(_ value: AnyRealmValue, depth: Int = 0) -> StoredAny {
    StoredAny.checkDepth(depth)
    switch value {
    case .object(let object):
      let key = adopt(object)
      return .link(StoredAnyLink(table: object.classAccess.stored.tableID, key: key))
    case .list(let list):
      return .list(
        identifier: newIdentifier(), list.allElements().map { stored($0, depth: depth + 1) })
    case .dictionary(let map):
      let entries = map.entries().map {
        StoredAny.Entry(key: Array($0.key.utf8), value: stored($0.value, depth: depth + 1))
      }
      return .dictionary(
        identifier: newIdentifier(),
        entries.sorted { $0.key.lexicographicallyPrecedes($1.key) })
    default: return StoredAny(scalar: value)
    }
  }
}

extension StoredAny {
  /// The stored form of a value as dynamic access returns it; `object` says what stands for an object.
  init(plain value: Any?, _ object: (ObjectBase) -> StoredAny) {
    switch flattened(value) {
    case let value as AnyRealmValue:
      self = StoredAny(plain: AnyRealmValue._rlmDynamicValue(value), object)
    case let value as ObjectBase: self = object(value)
    case is List<AnyRealmValue>: self = .list(identifier: 0, [])
    case is Map<String, AnyRealmValue>: self = .dictionary(identifier: 0, [])
    case let value:
      let conversion = _ValueConversion(realm: nil, isCopying: false)
      self = StoredAny(
        scalar: AnyRealmValue._rlmConvertedValue(value, conversion) ?? AnyRealmValue.none)
    }
  }

  /// A value that is no object, list or dictionary, as Swift has it.
  var plainScalar: AnyRealmValue? {
    switch self {
    case .none, .link, .list, .dictionary: nil
    case .bool(let value): .bool(value)
    case .int(let value): .int(Int(value))
    case .float(let value): .float(value)
    case .double(let value): .double(value)
    case .decimal(let value): .decimal128(Decimal128(bits: value))
    case .string(let value): .string(String(decoding: value, as: UTF8.self))
    case .data(let value): .data(Data(value))
    case .date(let value): .date(value.date)
    case .objectId(let low, let high): .objectId(ObjectId(low: low, high: high))
    case .uuid(let low, let high): .uuid(StoredUUID.value(low: low, high: high))
    }
  }
}

extension RealmCollectionValue {
  /// Calls `body` with the cell of an element that is looked for: nothing is added to the Realm.
  func withSoughtCell<Result>(
    in realm: RealmInstance, _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    guard let value = self as? AnyRealmValue else {
      return try _rlmWithElementCell(in: Realm(realm), body)
    }
    return try StoredAny(seeking: value, in: realm).withCell(body)
  }
}
