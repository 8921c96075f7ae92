import CambiumCore

extension MutableSet: RealmCollection {
  /// The Realm of a managed set.
  public var realm: Realm? { state.map { Realm($0.realm) } }

  /// Whether the owner was deleted or the Realm invalidated.
  public var isInvalidated: Bool { state?.isInvalidated ?? false }

  /// Whether the set is fixed to one version.
  public var isFrozen: Bool { state?.realm.isFrozen ?? false }

  /// The set as it is now, readable from any thread.
  public func freeze() -> MutableSet<Element> { view(of: managed().frozenCopy()) }

  /// The live set in the calling context; nil when its owner was deleted.
  public func thaw() -> MutableSet<Element>? { managed().thawedCopy().map(view) }

  private func view(of state: ManagedCollection) -> MutableSet<Element> {
    state === self.state ? self : MutableSet(state)
  }

  func managed() -> ManagedCollection {
    guard let state else { stopAtUnmanaged("RLMSet") }
    return state
  }

  /// The elements as results.
  public func _rlmResults() -> Results<Element> {
    Results(ResultsCore(managed(), of: Element.self))
  }

  /// Managed sets are equal when they are the same property of the same object in the same Realm;
  /// unmanaged ones when they have the same elements.
  public static func == (lhs: MutableSet<Element>, rhs: MutableSet<Element>) -> Bool {
    if lhs === rhs { return true }
    switch (lhs.storage, rhs.storage) {
    case (.plain(let left), .plain(let right)): return left.isSame(as: right)
    case (.managed(let left), .managed(let right)): return left == right
    default: return false
    }
  }

  /// The elements, one per line, at most a hundred.
  public var description: String { CollectionDescription.text(of: self, named: "MutableSet") }
}

extension MutableSet: Decodable where Element: Decodable {
  /// Makes an unmanaged set from an array.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd { insert(try container.decode(Element.self)) }
  }
}

extension MutableSet: Encodable where Element: Encodable {
  /// Writes an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

extension MutableSet: _RealmSchemaDiscoverable {
  /// What the element type describes, as a set.
  public static func _rlmDescribeProperty(_ property: inout Property) {
    Element._rlmDescribeElement(&property)
    property.isSet = true
  }
}

extension MutableSet: _HasPersistedType {
  /// A set stands for itself.
  public typealias PersistedType = MutableSet<Element>
}

extension MutableSet: _PersistableCollection {
  /// Makes the set a view of the property.
  public func _rlmAttach(to object: ObjectBase, _ index: Int) {
    storage = .managed(ManagedCollection(object, index))
  }

  /// Replaces the elements; where an object's values are merged into one that is there, adds them.
  public func _rlmReplaceContents(with other: MutableSet<Element>) {
    let elements = other.allElements()
    guard let state else {
      storage = .plain(PlainSet())
      return insert(objectsIn: elements)
    }
    if unsafe !state.writing().skipsEqualValues { removeAll() }
    insert(objectsIn: elements)
  }

  /// Stores the elements in a new row.
  public func _rlmWrite(to row: _RowWriter) { row.append(elements: allElements(), isSet: true) }

  /// Accepts sets and other sequences of what the element type accepts.
  public static func _rlmConvertedValue(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
    if let own = value as? Self, conversion.accepts(own.realm) { return own }
    let set = Self()
    guard let value else { return set }
    guard let values = value as? any Sequence, !(value is String) else { return nil }
    for element in values {
      guard let converted = Element._rlmConvertedElement(flattened(element), conversion) else {
        return nil
      }
      set.insert(converted)
    }
    return set
  }
}

extension MutableSet: DynamicCollection {}

extension MutableSet: Portable {
  var identity: PropertyIdentity { managed().identity }

  static func value(of identity: PropertyIdentity, in realm: RealmInstance) -> Self? {
    ManagedCollection.value(of: identity, in: realm).map { Self($0) }
  }
}

extension MutableSet: DescribedCollection {
  func text(depth: Int) -> String {
    CollectionDescription.text(of: self, named: "MutableSet", depth: depth)
  }
}

extension RealmCollection {
  /// The elements of a list or set without a Realm, of links to an object without one none; nil for all others.
  var plainElements: [Element]? {
    if let list = self as? List<Element> { return list.state == nil ? list.allElements() : nil }
    if let set = self as? MutableSet<Element> { return set.state == nil ? set.allElements() : nil }
    if let collection = self as? AnyRealmCollection<Element> { return collection.box.plainElements }
    if let links = self as? any UnmanagedLinks { return links.isUnmanaged ? [] : nil }
    return nil
  }
}
