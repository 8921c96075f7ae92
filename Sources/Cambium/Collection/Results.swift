import CambiumCore

/// A live query: the objects of a class, or of a collection, that satisfy conditions, in an order.
///
/// Nothing is copied. What the results hold follows the version of their Realm, including the
/// running transaction; each access makes a new accessor. Only ``sorted(by:)`` gives an order.
@frozen public struct Results<Element: RealmCollectionValue>: RealmCollection {
  @usableFromInline let core: ResultsCore

  init(_ core: ResultsCore) { self.core = core }

  /// The Realm.
  public var realm: Realm? { Realm(core.realm) }

  /// Whether the Realm was invalidated.
  public var isInvalidated: Bool { core.isInvalidated }

  /// Whether the results are fixed to one version.
  public var isFrozen: Bool { core.realm.isFrozen }

  /// How many elements there are.
  public var count: Int { core.count }

  /// The element at `position`; stops out of bounds.
  public subscript(position: Int) -> Element {
    guard let layout = core.layout else {
      let values = core.currentValues()
      checkIndex(position, below: values.count)
      return core.element(in: values[position])
    }
    core.verify()
    if Element._rlmIsProjection { return Element._rlmElement(of: core.object(at: position)) }
    return layout.typed(core.object(at: position))
  }

  /// The elements in `bounds`, live.
  public subscript(bounds: Range<Int>) -> Slice<Results<Element>> {
    Slice(base: self, bounds: bounds)
  }

  /// Whether there is none; looks for one only.
  public var isEmpty: Bool { core.isEmpty }

  /// The first element; nil when there is none; looks for one only.
  public var first: Element? { core.isEmpty && !core.isUnknown ? nil : self[0] }

  /// The first `maxLength` elements, live; looks for no others.
  public func prefix(_ maxLength: Int) -> Slice<Results<Element>> {
    precondition(maxLength >= 0, "Can't take a prefix of negative length from a collection")
    return Slice(base: self, bounds: 0..<core.count(upTo: maxLength))
  }

  /// The last element; nil when there is none.
  public var last: Element? {
    let count = core.count
    if count > 0 { return self[count - 1] }
    return core.isUnknown ? self[0] : nil
  }

  /// Walks the elements; in a write transaction those that are there now.
  public func makeIterator() -> RLMIterator<Element> { core.makeIterator() }

  /// The place of `object`; nil when it is not among the elements.
  public func index(of object: Element) -> Int? {
    if let object = object as? ObjectBase { return core.index(of: object) }
    if let projection = object as? any ProjectionObservable {
      return core.index(of: projection.rootObject)
    }
    if Element._rlmIsProjection { return indices.first { self[$0] == object } }
    // Among objects there is no nil.
    if core.access != nil { return nil }
    let values = core.currentValues()
    let order = CellOrder(core.elementProperty.type)
    return object.withSoughtCell(in: core.realm) { values.firstIndex(of: $0, order) }
  }

  /// The same rows in the same order, fixed to the version that is seen and readable anywhere.
  public func freeze() -> Results<Element> {
    if isFrozen { return self }
    core.verify()
    let frozen = core.realm.freeze()
    // What comes from nothing any more is empty, and stays so.
    if core.isSourceGone { return Results(core.emptied(in: frozen)) }
    guard let results = ported(to: frozen) else { stopAtNewOwner() }
    return results
  }

  /// The live results in the calling context; nil when what they came from was deleted.
  public func thaw() -> Results<Element>? {
    isFrozen ? ported(to: core.realm.thaw()) : self
  }

  /// The results themselves.
  public func _rlmResults() -> Results<Element> { self }

  /// Whether both are copies of one value; separately made results are never equal.
  public static func == (lhs: Results<Element>, rhs: Results<Element>) -> Bool {
    lhs.core === rhs.core
  }

  /// The elements, one per line, at most a hundred.
  public var description: String { CollectionDescription.text(of: self, named: "Results") }
}

extension Results: Encodable where Element: Encodable {
  /// Writes an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

extension Results: DescribedCollection, DynamicCollection {
  func text(depth: Int) -> String {
    CollectionDescription.text(of: self, named: "Results", depth: depth)
  }
}
