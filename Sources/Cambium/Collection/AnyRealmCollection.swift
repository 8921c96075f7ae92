/// Results, a list, a set or linking objects, whichever.
///
/// ```swift
/// let shown: AnyRealmCollection<Dog> = onlyPuppies ? AnyRealmCollection(puppies) : AnyRealmCollection(dogs)
/// ```
///
/// Does what the collection does that it was made of, and stops where that stops.
@frozen public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
  @usableFromInline let box: AnyCollectionBox<Element>

  /// A collection of any kind.
  public init<C: RealmCollection>(_ base: C) where C.Element == Element {
    box = (base as? AnyRealmCollection<Element>)?.box ?? CollectionBox(base)
  }

  init(box: AnyCollectionBox<Element>) { self.box = box }

  /// The Realm; nil of what belongs to none.
  public var realm: Realm? { box.realm }

  /// Whether what it came from was deleted, or the Realm invalidated.
  public var isInvalidated: Bool { box.isInvalidated }

  /// Whether the elements are fixed to one version.
  public var isFrozen: Bool { box.isFrozen }

  /// How many elements there are.
  public var count: Int { box.count }

  /// The element at `position`; stops out of bounds.
  public subscript(position: Int) -> Element { box.element(at: position) }

  /// The elements in `bounds`, live.
  public subscript(bounds: Range<Int>) -> Slice<AnyRealmCollection<Element>> {
    Slice(base: self, bounds: bounds)
  }

  /// Whether there is no element.
  public var isEmpty: Bool { box.isEmpty }

  /// The first element; nil when there is none.
  public var first: Element? { box.first }

  /// The last element; nil when there is none.
  public var last: Element? { box.last }

  /// Walks the elements; in a write transaction those that are there now.
  public func makeIterator() -> RLMIterator<Element> { box.makeIterator() }

  /// The place of `object`; nil when it is not among the elements.
  public func index(of object: Element) -> Int? { box.index(of: object) }

  /// The collection as it is now, readable from any thread.
  public func freeze() -> AnyRealmCollection<Element> { AnyRealmCollection(box: box.freeze()) }

  /// The live collection in the calling context; nil when what it came from was deleted.
  public func thaw() -> AnyRealmCollection<Element>? {
    box.thaw().map { AnyRealmCollection(box: $0) }
  }

  /// The elements as results.
  public func _rlmResults() -> Results<Element> { box.results() }

  /// Whether both are made of equal collections of one kind.
  public static func == (left: AnyRealmCollection, right: AnyRealmCollection) -> Bool {
    left.box.isEqual(to: right.box)
  }

  /// The elements, one per line, at most a hundred.
  public var description: String { box.description }
}

extension AnyRealmCollection: Encodable where Element: Encodable {
  /// Writes an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

extension AnyRealmCollection: DescribedCollection, DynamicCollection {
  func text(depth: Int) -> String { box.text(depth: depth) }
}

extension AnyRealmCollection: Portable {
  /// What the collection is about that this one is made of.
  ///
  /// Unchecked: what is captured are the identity, which is sendable, and types.
  struct Identity: @unchecked Sendable {
    let value: (RealmInstance) -> AnyRealmCollection?
  }

  var identity: Identity { box.identity }

  static func value(of identity: Identity, in realm: RealmInstance) -> AnyRealmCollection? {
    identity.value(realm)
  }

  static var keepsVersion: Bool { true }
}

// MARK: - Boxes

/// A collection whose kind only a subclass knows.
@usableFromInline class AnyCollectionBox<Element: RealmCollectionValue> {
  var realm: Realm? { fatalError("a box has a collection") }
  var isInvalidated: Bool { fatalError("a box has a collection") }
  var isFrozen: Bool { fatalError("a box has a collection") }
  var count: Int { fatalError("a box has a collection") }
  var isEmpty: Bool { fatalError("a box has a collection") }
  var first: Element? { fatalError("a box has a collection") }
  var last: Element? { fatalError("a box has a collection") }
  var description: String { fatalError("a box has a collection") }
  var identity: AnyRealmCollection<Element>.Identity { fatalError("a box has a collection") }
  var plainElements: [Element]? { fatalError("a box has a collection") }
  func element(at position: Int) -> Element { fatalError("a box has a collection") }
  func makeIterator() -> RLMIterator<Element> { fatalError("a box has a collection") }
  func index(of object: Element) -> Int? { fatalError("a box has a collection") }
  func freeze() -> AnyCollectionBox { fatalError("a box has a collection") }
  func thaw() -> AnyCollectionBox? { fatalError("a box has a collection") }
  func results() -> Results<Element> { fatalError("a box has a collection") }
  func isEqual(to other: AnyCollectionBox) -> Bool { fatalError("a box has a collection") }
  func text(depth: Int) -> String { fatalError("a box has a collection") }
}

private final class CollectionBox<Base: RealmCollection>: AnyCollectionBox<Base.Element> {
  private let base: Base

  init(_ base: Base) { self.base = base }

  override var realm: Realm? { base.realm }
  override var isInvalidated: Bool { base.isInvalidated }
  override var isFrozen: Bool { base.isFrozen }
  override var count: Int { base.count }
  override var isEmpty: Bool { base.isEmpty }
  override var first: Base.Element? { base.first }
  override var last: Base.Element? { base.last }
  override var description: String { base.description }
  override var plainElements: [Base.Element]? { base.plainElements }

  override var identity: AnyRealmCollection<Base.Element>.Identity {
    func identity<P: Portable>(of base: P) -> AnyRealmCollection<Base.Element>.Identity {
      let identity = base.identity
      return AnyRealmCollection.Identity { realm in
        (P.value(of: identity, in: realm) as? Base).map { AnyRealmCollection($0) }
      }
    }
    guard let portable = base as? any Portable else {
      fatalError("A collection of type '\(Base.self)' cannot be handed over.")
    }
    return identity(of: portable)
  }

  override func element(at position: Int) -> Base.Element { base[position] }
  override func makeIterator() -> RLMIterator<Base.Element> { base.makeIterator() }
  override func index(of object: Base.Element) -> Int? { base.index(of: object) }
  override func freeze() -> AnyCollectionBox<Base.Element> { CollectionBox(base.freeze()) }
  override func thaw() -> AnyCollectionBox<Base.Element>? { base.thaw().map { CollectionBox($0) } }
  override func results() -> Results<Base.Element> { base._rlmResults() }

  override func isEqual(to other: AnyCollectionBox<Base.Element>) -> Bool {
    (other as? CollectionBox<Base>)?.base == base
  }

  override func text(depth: Int) -> String {
    (base as? any DescribedCollection)?.text(depth: depth) ?? base.description
  }
}
