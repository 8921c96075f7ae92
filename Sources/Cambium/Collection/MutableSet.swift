import CambiumCore

/// A collection of different objects or values that belongs to an object's property.
///
/// Numbers are told apart by value, texts and data by their bytes, objects by what they are. While its
/// owner is unmanaged a set is a plain one with the same interface; the set of a managed object is a view
/// of the property: reading goes to the Realm's version, changing needs a write transaction. Deleting an
/// object takes it out of every set. Which order the elements have is not promised, but that the positions
/// of one version stay.
public final class MutableSet<Element: RealmCollectionValue> {
  // Exclusivity is not checked: what is asked of an object or a transaction is loaded, and that access
  // ends before it is used.

  enum Storage {
    case plain(PlainSet<Element>)
    case managed(ManagedCollection)
  }

  var storage: Storage

  /// Makes an empty, unmanaged set.
  public init() { storage = .plain(PlainSet()) }

  init(_ state: ManagedCollection) { storage = .managed(state) }

  /// What a managed set is; nil for an unmanaged one.
  var state: ManagedCollection? { if case .managed(let state) = storage { state } else { nil } }

  // MARK: Reading

  /// How many elements there are.
  public var count: Int {
    switch storage {
    case .plain(let set): set.elements.count
    case .managed(let state): state.count
    }
  }

  /// The element at `position`.
  public subscript(position: Int) -> Element {
    switch storage {
    case .plain(let set):
      checkIndex(position, below: set.elements.count)
      return set.elements[position]
    case .managed(let state): return state.element(position)
    }
  }

  /// The first element; nil when there is none.
  public var first: Element? { count == 0 ? nil : self[0] }

  /// The last element; nil when there is none.
  public var last: Element? {
    let count = count
    return count == 0 ? nil : self[count - 1]
  }

  /// Walks the elements; in a write transaction those that are there now.
  public func makeIterator() -> RLMIterator<Element> {
    state?.walk(of: Element.self).map { RLMIterator($0) } ?? RLMIterator(allElements())
  }

  /// Whether the set holds `object`.
  ///
  /// What belongs to no Realm, or to another one, is in no managed set.
  public func contains(_ object: Element) -> Bool {
    switch storage {
    case .plain(let set): set.contains(object)
    case .managed(let state): position(of: object, in: state) != nil
    }
  }

  /// Whether `other` holds all elements of this set.
  ///
  /// Of a managed set, `other` must be managed.
  public func isSubset(of other: MutableSet<Element>) -> Bool {
    checkManaged(other)
    return allElements().allSatisfy { other.contains($0) }
  }

  /// Whether an element is in `otherSet`, too.
  ///
  /// Of a managed set, `otherSet` must be managed.
  public func intersects(_ otherSet: MutableSet<Element>) -> Bool {
    checkManaged(otherSet)
    return allElements().contains { otherSet.contains($0) }
  }

  /// Stops: the elements of a set have no places of their own.
  public func index(of object: Element) -> Int? {
    fatalError("index(of:) is not available on MutableSet")
  }

  /// Stops: the elements of a set have no places of their own.
  public func index(matching predicateFormat: String, _ args: Any...) -> Int? {
    fatalError("index(matching:) is not available on MutableSet")
  }

  /// Stops: the elements of a set have no places of their own.
  public func index(
    matching isIncluded: (Query<Element>) -> Query<Bool>
  ) -> Int? where Element: _RealmSchemaDiscoverable {
    fatalError("index(matching:) is not available on MutableSet")
  }

  func allElements() -> [Element] {
    switch storage {
    case .plain(let set): set.elements
    case .managed(let state): state.elements()
    }
  }

  // MARK: Changing

  /// Puts an element in, unless it is there.
  ///
  /// An unmanaged object is added to the set's Realm.
  public func insert(_ object: Element) {
    if let state { state.insertMember(object) } else { insert(objectsIn: CollectionOfOne(object)) }
  }

  /// Puts those elements in that are not there.
  public func insert<S: Sequence>(objectsIn objects: S) where S.Element == Element {
    switch storage {
    case .plain(var set):
      let objects = Array(objects)
      storage = .plain(PlainSet())
      for object in objects { set.insert(object) }
      storage = .plain(set)
    case .managed(let state): state.insertMembers(Array(objects))
    }
  }

  /// Takes an element out; does nothing when it is not there.
  public func remove(_ object: Element) {
    switch storage {
    case .plain(var set):
      storage = .plain(PlainSet())
      set.remove([object])
      storage = .plain(set)
    case .managed(let state):
      _ = state.writing()
      if let position = position(of: object, in: state) { state.removeMembers(at: [position]) }
    }
  }

  /// Takes all elements out; objects stay in their Realm.
  public func removeAll() {
    switch storage {
    case .plain: storage = .plain(PlainSet())
    case .managed(let state): state.removeAll()
    }
  }

  /// Keeps only what is in `other`, too.
  ///
  /// Of a managed set, `other` must be managed.
  public func formIntersection(_ other: MutableSet<Element>) {
    remove(otherwiseThan: true, other)
  }

  /// Takes out all that is in `other`.
  ///
  /// Of a managed set, `other` must be managed.
  public func subtract(_ other: MutableSet<Element>) { remove(otherwiseThan: false, other) }

  /// Puts in all that is in `other`.
  ///
  /// Into a managed set, `other` must be managed.
  public func formUnion(_ other: MutableSet<Element>) {
    checkManaged(other)
    insert(objectsIn: other.allElements())
  }

  // MARK: Parts

  /// Takes out the elements of which it is not `isKept` whether `other` holds them.
  private func remove(otherwiseThan isKept: Bool, _ other: MutableSet<Element>) {
    checkManaged(other)
    let elements = allElements()
    switch storage {
    case .plain(var set):
      storage = .plain(PlainSet())
      set.remove(elements.filter { (other === self || other.contains($0)) != isKept })
      storage = .plain(set)
    case .managed(let state):
      _ = state.writing()
      state.removeMembers(at: elements.indices.filter { other.contains(elements[$0]) != isKept })
    }
  }

  private func checkManaged(_ other: MutableSet<Element>) {
    if state != nil, other.state == nil {
      fatalError("Right hand side value must be a managed Set.")
    }
  }

  private func position(of element: Element, in state: ManagedCollection) -> Int? {
    state.realm.verify()
    let found: (position: Int, isFound: Bool)
    if let object = element as? ObjectBase {
      guard unsafe object.instance === state.realm else { return nil }
      let access = object.classAccess
      object.requireRow(access)
      guard access === state.place.target else { return nil }
      found = unsafe state.search(.int(object.key))
    } else {
      found = element.withSoughtCell(in: state.realm) { state.search($0) }
    }
    return found.isFound ? found.position : nil
  }
}

/// The elements of an unmanaged set.
struct PlainSet<Element: Hashable> {
  private(set) var elements: [Element] = []
  /// The place of each among them.
  private var places: [Member: Int] = [:]

  /// An element as sets of managed objects tell elements apart: texts by their bytes, a NaN from numbers alone,
  /// numbers of any type by value.
  private enum Member: Hashable {
    case text(ExactText)
    case bytes([UInt8])
    case notANumber
    case element(Element)

    init(_ element: Element) {
      switch element {
      case let text as String: self = .text(ExactText(text))
      case let number as Double where number.isNaN: self = .notANumber
      case let number as Float where number.isNaN: self = .notANumber
      case let value as AnyRealmValue:
        switch value {
        // Lists and dictionaries are refused when the set comes to a Realm.
        case .object, .list, .dictionary: self = .element(element)
        default: self = .bytes(StoredAny(scalar: value).orderedKey)
        }
      default: self = .element(element)
      }
    }
  }

  func contains(_ element: Element) -> Bool { places[Member(element)] != nil }

  func isSame(as other: PlainSet) -> Bool {
    elements.count == other.elements.count && elements.allSatisfy { other.contains($0) }
  }

  mutating func insert(_ element: Element) {
    let member = Member(element)
    if places[member] != nil { return }
    places[member] = elements.count
    elements.append(element)
  }

  /// Takes elements out; the last one comes to the place of each.
  mutating func remove(_ gone: [Element]) {
    for element in gone {
      guard let place = places.removeValue(forKey: Member(element)) else { continue }
      let last = elements.removeLast()
      if place == elements.count { continue }
      elements[place] = last
      places[Member(last)] = place
    }
  }
}
