import CambiumCore
import Foundation

extension Map: RealmKeyedCollection {
  /// The Realm of a managed map.
  public var realm: Realm? { state.map { Realm($0.realm) } }

  /// Whether the owner was deleted or the Realm invalidated.
  public var isInvalidated: Bool { state?.isInvalidated ?? false }

  /// Whether the map is fixed to one version.
  public var isFrozen: Bool { state?.realm.isFrozen ?? false }

  /// The map as it is now, readable from any thread.
  public func freeze() -> Map<Key, Value> { view(of: managed().frozenCopy()) }

  /// The live map in the calling context; nil when its owner was deleted.
  public func thaw() -> Map<Key, Value>? { managed().thawedCopy().map(view) }

  private func view(of state: ManagedCollection) -> Map<Key, Value> {
    state === self.state ? self : Map(state)
  }

  func managed() -> ManagedCollection {
    guard let state else { stopAtUnmanaged("RLMDictionary") }
    return state
  }

  /// The entries, one per line, at most a hundred.
  public var description: String { text(depth: 0) }
}

extension Map: Equatable {
  /// Managed maps are equal when they are the same property of the same object in the same Realm;
  /// unmanaged ones when they have the same entries.
  public static func == (lhs: Map<Key, Value>, rhs: Map<Key, Value>) -> Bool {
    if lhs === rhs { return true }
    switch (lhs.storage, rhs.storage) {
    case (.plain(let left), .plain(let right)): return left == right
    case (.managed(let left), .managed(let right)): return left == right
    default: return false
    }
  }
}

/// A key of any text, for coding.
private struct MapCodingKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension Map: Decodable where Key: Decodable, Value: Decodable {
  /// Makes an unmanaged map from a dictionary.
  ///
  /// - Throws: `DecodingError.dataCorrupted` for a key that contains `.` or begins with `$`.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    let container = try decoder.container(keyedBy: MapCodingKey.self)
    for key in container.allKeys {
      if let reason = Self.refusal(of: key.stringValue) {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: reason)
      }
      updateValue(
        try container.decode(Value.self, forKey: key), forKey: Key(_rlmText: key.stringValue))
    }
  }
}

extension Map: Encodable where Key: Encodable, Value: Encodable {
  /// Writes a dictionary.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: MapCodingKey.self)
    for (key, value) in entries() {
      try container.encode(value, forKey: MapCodingKey(stringValue: key._rlmText))
    }
  }
}

extension Map: _RealmSchemaDiscoverable {
  /// What the value type describes, as a map.
  public static func _rlmDescribeProperty(_ property: inout Property) {
    Value._rlmDescribeElement(&property)
    property.isMap = true
    // What stands for an object cannot be null, but its entry can.
    if Value._rlmIsProjection { property.isOptional = true }
  }
}

extension Map: _HasPersistedType {
  /// A map stands for itself.
  public typealias PersistedType = Map<Key, Value>
}

extension Map: _PersistableCollection {
  /// Makes the map a view of the property.
  public func _rlmAttach(to object: ObjectBase, _ index: Int) {
    storage = .managed(ManagedCollection(object, index))
  }

  /// Replaces the entries; where an object's values are merged into one that is there, adds them.
  public func _rlmReplaceContents(with other: Map<Key, Value>) {
    let (keys, values) = (other.keys.map(\._rlmText), other.values)
    guard let state else {
      storage = .plain([:])
      return update(keys, values)
    }
    let session = state.writing()
    guard unsafe session.skipsEqualValues else {
      removeAll()
      return update(keys, values)
    }
    let changed = keys.indices.filter { !state.holds(values[$0], forKey: keys[$0], session) }
    update(changed.map { keys[$0] }, changed.map { values[$0] })
  }

  /// Stores the entries in a new row.
  public func _rlmWrite(to row: _RowWriter) {
    row.append(values, keys: keys.map(\._rlmText))
  }

  /// Accepts maps, and dictionaries of what the value type accepts.
  public static func _rlmConvertedValue(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
    if let own = value as? Self, conversion.accepts(own.realm) { return own }
    let map = Self()
    guard let value else { return map }
    let pairs: [(String, Any?)]
    switch value {
    case let dictionary as [String: Any]: pairs = dictionary.map { ($0.key, $0.value) }
    case let other as any DynamicMap: pairs = other.dynamicEntries
    default: return nil
    }
    for (key, element) in pairs {
      guard let converted = Value._rlmConvertedElement(flattened(element), conversion) else {
        return nil
      }
      map.updateValue(converted, forKey: Key(_rlmText: key))
    }
    return map
  }
}

/// A map whose types are not known where it is used.
protocol DynamicMap: DynamicCollection {
  /// The entries as dynamic access returns them, nil for null.
  var dynamicEntries: [(String, Any?)] { get }
  /// The value of a key, nil for null and when there is none.
  func dynamicValue(forKey key: String) -> Any?
  /// How many entries there are.
  var count: Int { get }
}

extension Map: DynamicMap {
  var dynamicEntries: [(String, Any?)] {
    entries().map { ($0.key._rlmText, Value._rlmDynamicElement($0.value)) }
  }

  func dynamicValue(forKey key: String) -> Any? {
    self[Key(_rlmText: key)].flatMap { NSNumber.boxing(Value._rlmDynamicElement($0)) }
  }

  func dynamicValues(forKeyPath keyPath: String) -> Any? {
    switch keyPath {
    case "@allKeys": return keys.map(\._rlmText)
    case "@allValues": return values.map { NSNumber.boxing(Value._rlmDynamicElement($0)) }
    default: break
    }
    if keyPath.hasPrefix("@") {
      let list = List<Value>()
      list.append(objectsIn: values)
      return list.dynamicValues(forKeyPath: keyPath)
    }
    guard let point = keyPath.firstIndex(of: ".") else { return dynamicValue(forKey: keyPath) }
    let rest = String(keyPath[keyPath.index(after: point)...])
    switch dynamicValue(forKey: String(keyPath[..<point])) {
    case let object as ObjectBase: return object.value(forKeyPath: rest)
    case let collection as any DynamicCollection: return collection.dynamicValues(forKeyPath: rest)
    default: return nil
    }
  }
}

extension Map: Portable {
  var identity: PropertyIdentity { managed().identity }

  static func value(of identity: PropertyIdentity, in realm: RealmInstance) -> Self? {
    ManagedCollection.value(of: identity, in: realm).map { Self($0) }
  }
}

extension Map: DescribedCollection {
  private static var elementLimit: Int { 100 }

  func text(depth: Int) -> String {
    if isInvalidated { return "Map<string, \(Value.self)> [invalid]" }
    var property = Property(name: "", type: .int)
    Value._rlmDescribeElement(&property)
    let type = property.objectClassName ?? property.typeText
    let place = unsafe UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
    var lines = ["Map<string, \(type)> <0x\(String(place, radix: 16))> ("]
    let entries = entries()
    for (key, value) in entries.prefix(Self.elementLimit) {
      let value = Value._rlmDynamicElement(value)
      let text = ObjectDescription.text(ofValue: value, depth: depth + 1)
      lines.append("\t[\(key)]: \(ObjectDescription.indented(text)),")
    }
    if entries.count > Self.elementLimit {
      lines.append("\t... \(entries.count - Self.elementLimit) objects skipped.")
    }
    lines.append(")")
    return lines.joined(separator: "\n")
  }
}
