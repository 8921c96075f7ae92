import CambiumCore
import Foundation

/// Values by keys, which are texts, that belong to an object's property.
///
/// ```swift
/// class Shelf: Object {
///   @Persisted var prices: Map<String, Double>
///   @Persisted var books: Map<String, Book?>
/// }
/// shelf.prices["tea"] = 2.5
/// ```
///
/// Keys are told apart by their bytes; they must not contain a point or begin with `$`. While its owner is
/// unmanaged a map is a dictionary with the same interface; the map of a managed object is a view of the
/// property: reading goes to the Realm's version, changing needs a write transaction. When an object is
/// deleted, maps that held it have null for its key. Entries come in the order of their keys.
public final class Map<Key: _MapKey, Value: RealmCollectionValue> {
  // Exclusivity is not checked: what is asked of a transaction is loaded, and that access ends before
  // it is used. Pointers: a map's address is written out for people and never read from.

  enum Storage {
    case plain([ExactText: Value])
    case managed(ManagedCollection)
  }

  var storage: Storage

  /// Makes an empty, unmanaged map.
  public init() { storage = .plain([:]) }

  init(_ state: ManagedCollection) { storage = .managed(state) }

  /// What a managed map is; nil for an unmanaged one.
  var state: ManagedCollection? { if case .managed(let state) = storage { state } else { nil } }

  // MARK: Reading

  /// How many entries there are.
  public var count: Int {
    switch storage {
    case .plain(let entries): entries.count
    case .managed(let state): state.count
    }
  }

  /// The keys, each of them once.
  public var keys: [Key] {
    switch storage {
    case .plain(let entries): entries.keys.sorted().map { Key(_rlmText: $0.text) }
    case .managed(let state): state.keys().map { Key(_rlmText: $0) }
    }
  }

  /// The values, in the order of ``keys``.
  public var values: [Value] {
    switch storage {
    case .plain(let entries): entries.sorted { $0.key < $1.key }.map(\.value)
    case .managed(let state): state.elements()
    }
  }

  /// The value of a key; nil when there is none.
  ///
  /// Assigning nil takes the entry out. To put null into a map of optional values, assign `.some(nil)` or
  /// use ``updateValue(_:forKey:)``.
  public subscript(key: Key) -> Value? {
    get {
      switch storage {
      case .plain(let entries): entries[ExactText(key._rlmText)]
      case .managed(let state): state.value(forKey: key._rlmText)
      }
    }
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { removeObject(for: key) }
    }
  }

  /// The value of a key; nil when there is none, and for null.
  public func object(forKey key: AnyObject) -> AnyObject? {
    (key as? String).flatMap { value(forKey: $0) }
  }

  /// The value of a key, or of all keys: `@count`, `@allKeys`, `@allValues` and operators such as
  /// `@sum.age` compute something of the values.
  public func value(forKey key: String) -> AnyObject? {
    key.hasPrefix("@") ? value(forKeyPath: key) : dynamicValue(forKey: key) as AnyObject?
  }

  /// What stands at the end of a path that begins with a key or an operator; nil when there is nothing.
  public func value(forKeyPath keyPath: String) -> AnyObject? {
    dynamicValues(forKeyPath: keyPath) as AnyObject?
  }

  /// Assigns the value of a key; nil takes the entry out.
  ///
  /// Stops at a value of a wrong type.
  public func setValue(_ value: Any?, forKey key: String) {
    guard let value else { return removeObject(for: Key(_rlmText: key)) }
    let conversion = _ValueConversion(realm: state?.realm, isCopying: false)
    guard let converted = Value._rlmConvertedElement(flattened(value), conversion) else {
      fatalError("Could not convert value '\(value)' to type '\(Value.self)'.")
    }
    updateValue(converted, forKey: Key(_rlmText: key))
  }

  /// Whether an entry satisfies a condition.
  public func contains(where predicate: @escaping (_ key: Key, _ value: Value) -> Bool) -> Bool {
    entries().contains { predicate($0.key, $0.value) }
  }

  /// Walks the entries; in a write transaction those that are there now.
  public func makeIterator() -> RLMMapIterator<SingleMapEntry<Key, Value>> {
    RLMMapIterator(entries().map { SingleMapEntry(key: $0.key, value: $0.value) })
  }

  /// The entries as pairs.
  public func asKeyValueSequence() -> KeyValueSequence<Key, Value> { KeyValueSequence(entries()) }

  func entries() -> [(key: Key, value: Value)] {
    // Both are read of one version.
    zip(keys, values).map { (key: $0, value: $1) }
  }

  // MARK: Changing

  /// Puts a value in, in the place of one that has the key.
  ///
  /// An unmanaged object is added to the map's Realm.
  public func updateValue(_ value: Value, forKey key: Key) {
    Self.check(key._rlmText)
    switch storage {
    case .plain(var entries):
      storage = .plain([:])
      entries[ExactText(key._rlmText)] = value
      storage = .plain(entries)
    case .managed(let state): state.update(key._rlmText, value)
    }
  }

  /// Takes the entry with that key out, if there is one; an object stays in its Realm.
  public func removeObject(for key: Key) {
    switch storage {
    case .plain(var entries):
      storage = .plain([:])
      entries[ExactText(key._rlmText)] = nil
      storage = .plain(entries)
    case .managed(let state): state.removeEntry(key._rlmText)
    }
  }

  /// Takes all entries out; objects stay in their Realm.
  public func removeAll() {
    switch storage {
    case .plain: storage = .plain([:])
    case .managed(let state): state.removeAll()
    }
  }

  /// Puts pairs in; of a key that is there, or comes again, `combine` makes one value of both.
  public func merge<S: Sequence>(
    _ sequence: S, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows where S.Element == (key: Key, value: Value) {
    switch storage {
    case .plain(let entries):
      var merged: [ExactText: Value] = [:]
      for (key, value) in sequence {
        let name = ExactText(key._rlmText)
        let known = merged[name] ?? entries[name]
        merged[name] = try known.map { try combine($0, value) } ?? value
      }
      update(merged.keys.map(\.text), Array(merged.values))
    case .managed(let state):
      var (keys, values): ([String], [Value]) = ([], [])
      for (key, value) in sequence {
        keys.append(key._rlmText)
        values.append(value)
      }
      for key in keys { Self.check(key) }
      try state.update(keys, values, readsOld: true, combine: combine)
    }
  }

  /// Puts the entries of another map in; of a key that is there `combine` makes one value of both.
  public func merge(
    _ other: Map<Key, Value>, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows {
    try merge(other.asKeyValueSequence(), uniquingKeysWith: combine)
  }

  /// Puts values in under as many keys; of equal keys the last one counts.
  func update(_ keys: [String], _ values: [Value]) {
    for key in keys { Self.check(key) }
    switch storage {
    case .plain(var plain):
      storage = .plain([:])
      for (key, value) in zip(keys, values) { plain[ExactText(key)] = value }
      storage = .plain(plain)
    case .managed(let state): state.update(keys, values, readsOld: false) { $1 }
    }
  }

  /// Stops at keys that paths could not name.
  private static func check(_ key: String) {
    if let reason = refusal(of: key) { fatalError(reason) }
  }

  /// Why there can be no such key; nil where there can.
  package static func refusal(of key: String) -> String? {
    guard key.utf8.contains(UInt8(ascii: ".")) || key.utf8.first == UInt8(ascii: "$") else {
      return nil
    }
    return "Invalid key '\(key)' of a Map: keys must not contain '.' or begin with '$'."
  }
}
