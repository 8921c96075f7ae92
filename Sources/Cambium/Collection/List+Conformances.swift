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
    let state = managed()
    if state.realm.isFrozen { return self }
    state.realm.verify()
    state.requireOwner()
    guard let frozen = ported(to: state.realm.freeze()) else { stopAtNewOwner() }
    return frozen
  }

  /// The live list in the calling context; nil when its owner was deleted.
  public func thaw() -> List<Element>? {
    let realm = managed().realm
    return realm.isFrozen ? ported(to: realm.thaw()) : self
  }

  func managed() -> ListState {
    guard let state else {
      fatalError(
        "This method may only be called on RLMArray instances retrieved from an RLMRealm")
    }
    return state
  }

  /// The elements as results.
  public func _rlmResults() -> Results<Element> {
    Results(ResultsCore(list: managed(), of: Element.self))
  }

  /// Managed lists are equal when they are the same property of the same object in the same Realm;
  /// unmanaged ones when their elements are.
  public static func == (lhs: List<Element>, rhs: List<Element>) -> Bool {
    if lhs === rhs { return true }
    switch (lhs.storage, rhs.storage) {
    case (.plain(let left), .plain(let right)): return left == right
    case (.managed(let left), .managed(let right)):
      guard left.owner.key == right.owner.key, left.owner.created == right.owner.created,
        left.list.index == right.list.index,
        left.owner.access.stored.name == right.owner.access.stored.name
      else { return false }
      if left.realm === right.realm { return true }
      return left.realm.isFrozen && right.realm.isFrozen
        && left.realm.coordinator === right.realm.coordinator
        && left.realm.version == right.realm.version
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
    storage = .managed(ListState(object, index))
  }

  /// Replaces the elements.
  public func _rlmReplaceContents(with other: List<Element>) {
    let elements = other.allElements()
    guard let state else {
      storage = .plain(elements)
      return
    }
    if state.writing().skipsEqualValues, allElements() == elements { return }
    removeAll()
    append(objectsIn: elements)
  }

  /// Stores the elements in a new row.
  public func _rlmWrite(to row: _RowWriter) { row.appendList(allElements()) }

  /// Accepts lists and other sequences of what the element type accepts.
  public static func _rlmConvertedValue(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
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

extension _RowWriter {
  /// Sets the cell at the current position to a list of `elements`.
  func appendList<Element: RealmCollectionValue>(_ elements: [Element]) {
    if elements.isEmpty {
      append([])
      return
    }
    var cells: [ColumnValue] = []
    var links: [Int64] = []
    var description = Property(name: "", type: .int)
    Element._rlmDescribeElement(&description)
    let isLink = description.type == .object
    if isLink { realm.session?.check(elements, areOf: target) }
    cells.reserveCapacity(elements.count)
    for element in elements {
      element._rlmWithElementCell(in: Realm(realm)) { cell in
        cells.append(lasting(cell))
        if isLink, let link = cell.link { links.append(link) }
      }
    }
    if isLink { noteTargets(links) }
    if let form = StoredList.form(cells, Element._rlmElementColumnType) {
      append(form)
      return
    }
    guard let session = realm.session else { return }
    session.attempt { () throws(StoreError) in
      let tree = ListTreeEditor(
        root: .empty(.position), type: Element._rlmElementColumnType,
        context: session.transaction.context)
      for (index, cell) in cells.enumerated() { try tree.insert(cell, at: index) }
      append(.tree(try tree.flush()))
    }
  }
}
