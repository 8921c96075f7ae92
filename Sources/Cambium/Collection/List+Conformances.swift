import CambiumCore

extension List: RealmCollection, MutableCollection {
  /// The Realm of a managed list.
  public var realm: Realm? { state.map { Realm($0.realm) } }

  /// Whether the owner was deleted or the Realm invalidated.
  public var isInvalidated: Bool { state?.isInvalidated ?? false }

  /// Whether the list is fixed to one version.
  public var isFrozen: Bool { state?.realm.isFrozen ?? false }

  /// The list as it is now, readable from any thread.
  public func freeze() -> List<Element> {
    view(of: managed().frozenCopy())
  }

  /// The live list in the calling context; nil when its owner was deleted.
  public func thaw() -> List<Element>? { managed().thawedCopy().map(view) }

  private func view(of state: ManagedCollection) -> List<Element> {
    state === self.state ? self : List(state)
  }

  func managed() -> ManagedCollection {
    guard let state else { stopAtUnmanaged("RLMArray") }
    return state
  }

  /// The elements as results.
  public func _rlmResults() -> Results<Element> {
    Results(ResultsCore(managed(), of: Element.self))
  }

  /// Managed lists are equal when they are the same property of the same object in the same Realm;
  /// unmanaged ones when their elements are.
  public static func == (lhs: List<Element>, rhs: List<Element>) -> Bool {
    if lhs === rhs { return true }
    switch (lhs.storage, rhs.storage) {
    case (.plain(let left), .plain(let right)): return left == right
    case (.managed(let left), .managed(let right)): return left == right
    default: return false
    }
  }

  /// The elements, one per line, at most a hundred.
  public var description: String { CollectionDescription.text(of: self, named: "List") }
}

extension List: Decodable where Element: Decodable {
  /// Makes an unmanaged list from an array.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd { append(try container.decode(Element.self)) }
  }
}

extension List: Encodable where Element: Encodable {
  /// Writes an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

extension List: _RealmSchemaDiscoverable {
  /// What the element type describes, as a list.
  public static func _rlmDescribeProperty(_ property: inout Property) {
    Element._rlmDescribeElement(&property)
    property.isArray = true
  }
}

extension List: _HasPersistedType {
  /// A list stands for itself.
  public typealias PersistedType = List<Element>
}

extension List: _PersistableCollection {
  /// Makes the list a view of the property.
  public func _rlmAttach(to object: ObjectBase, _ index: Int) {
    storage = .managed(ManagedCollection(object, index))
  }

  /// Replaces the elements.
  public func _rlmReplaceContents(with other: List<Element>) {
    let elements = other.allElements()
    guard let state else {
      storage = .plain(elements)
      return
    }
    if unsafe state.writing().skipsEqualValues { return state.merge(elements) }
    removeAll()
    append(objectsIn: elements)
  }

  /// Stores the elements in a new row.
  public func _rlmWrite(to row: _RowWriter) { row.append(elements: allElements()) }

  /// Accepts lists and other sequences of what the element type accepts.
  public static func _rlmConvertedValue(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
    if let own = value as? Self, conversion.accepts(own.realm) { return own }
    let list = Self()
    guard let value else { return list }
    guard let values = value as? any Sequence, !(value is String) else { return nil }
    for element in values {
      guard let converted = Element._rlmConvertedElement(flattened(element), conversion) else {
        return nil
      }
      list.append(converted)
    }
    return list
  }
}

extension List: DynamicCollection {}
