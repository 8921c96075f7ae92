/// A collection of a Realm whose values are found by keys.
///
/// Live: what it holds follows its Realm's version.
public protocol RealmKeyedCollection: Sequence, ThreadConfined, CustomStringConvertible {
  /// What values are found by.
  associatedtype Key: _MapKey
  /// What is found.
  associatedtype Value: RealmCollectionValue

  /// How many entries there are.
  var count: Int { get }
  /// The keys, each of them once.
  var keys: [Key] { get }
  /// The values, in the order of ``keys``.
  var values: [Value] { get }
  /// The value of a key; nil when there is none.
  ///
  /// Assigning nil takes the entry out.
  subscript(key: Key) -> Value? { get set }
  /// Puts a value in, in the place of one that has the key.
  func updateValue(_ value: Value, forKey key: Key)
  /// Takes the entry with that key out, if there is one.
  func removeObject(for key: Key)
  /// Takes all entries out.
  func removeAll()
  /// The values as results, from which a query goes on; of objects those that are not null.
  func _rlmValues() -> Results<Value>
}

/// One entry of a map, as a walk gives it.
///
/// Two are equal when their values are; the hash value is that of the key.
public struct SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue>: Hashable {
  /// What the value is found by.
  public var key: Key
  /// The value.
  public var value: Value

  /// An entry.
  public init(key: Key, value: Value) {
    self.key = key
    self.value = value
  }

  /// Whether the values are equal.
  public static func == (lhs: SingleMapEntry, rhs: SingleMapEntry) -> Bool {
    lhs.value == rhs.value
  }

  /// Feeds the key.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// Walks the entries that a map had when the walk began.
public struct RLMMapIterator<Element>: IteratorProtocol {
  private var entries: IndexingIterator<[Element]>

  init(_ entries: [Element]) { self.entries = entries.makeIterator() }

  /// The next entry; nil at the end.
  public mutating func next() -> Element? { entries.next() }
}

/// A place in a map, counted from 0.
public struct MapIndex: Hashable, Sendable {
  /// How many entries are before it.
  public var offset: UInt

  /// The place behind `offset` entries.
  public init(offset: UInt) { self.offset = offset }
}

/// The entries of a map as pairs.
public struct KeyValueSequence<Key: _MapKey, Value: RealmCollectionValue>: Sequence {
  private let entries: [(key: Key, value: Value)]

  init(_ entries: [(key: Key, value: Value)]) { self.entries = entries }

  /// Walks the pairs.
  public func makeIterator() -> RLMMapIterator<(key: Key, value: Value)> { RLMMapIterator(entries) }
}
