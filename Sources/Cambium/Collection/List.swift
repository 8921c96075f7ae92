import CambiumCore
import Foundation

/// An ordered collection of objects or values that belongs to an object's property.
///
/// Duplicates are allowed. While its owner is unmanaged a list is a plain array with the same
/// interface; the list of a managed object is a view of the property: reading goes to the Realm's
/// version, changing needs a write transaction. Deleting an object takes it out of every list.
public final class List<Element: RealmCollectionValue> {
  // Exclusivity is not checked: what is asked of an object or a transaction is loaded, and that access
  // ends before it is used.

  enum Storage {
    case plain([Element])
    case managed(ManagedCollection)
  }

  var storage: Storage

  /// Makes an empty, unmanaged list.
  public init() { storage = .plain([]) }

  init(_ state: ManagedCollection) { storage = .managed(state) }

  /// What a managed list is; nil for an unmanaged one.
  var state: ManagedCollection? { if case .managed(let state) = storage { state } else { nil } }

  // MARK: Reading

  /// How many elements there are.
  public var count: Int {
    switch storage {
    case .plain(let elements): elements.count
    case .managed(let state): state.count
    }
  }

  /// The element at `position`.
  ///
  /// Assigning replaces it; needs a write transaction when managed.
  public subscript(position: Int) -> Element {
    get {
      switch storage {
      case .plain(let elements):
        checkIndex(position, below: elements.count)
        return elements[position]
      case .managed(let state): return state.element(position)
      }
    }
    set { replace(index: position, object: newValue) }
  }

  /// The elements in `bounds`, live.
  ///
  /// Assigning replaces them.
  public subscript(bounds: Range<Int>) -> Slice<List<Element>> {
    get { Slice(base: self, bounds: bounds) }
    set { replaceSubrange(bounds, with: Array(newValue)) }
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

  /// The place of the first element equal to `object`; nil when there is none.
  public func index(of object: Element) -> Int? {
    switch storage {
    case .plain(let elements): return elements.firstIndex(of: object)
    case .managed(let state):
      state.realm.verify()
      if let object = object as? ObjectBase {
        guard unsafe object.instance === state.realm else { return nil }
        let access = object.classAccess
        object.requireRow(access)
        guard access === state.place.target else { return nil }
        return unsafe state.firstIndex(of: .int(object.key))
      }
      if Element._rlmIsProjection { return allElements().firstIndex(of: object) }
      return object.withSoughtCell(in: state.realm) { state.firstIndex(of: $0) }
    }
  }

  func allElements() -> [Element] {
    switch storage {
    case .plain(let elements): elements
    case .managed(let state): state.elements()
    }
  }

  // MARK: Changing

  /// Adds an element at the end.
  ///
  /// An unmanaged object is added to the list's Realm.
  public func append(_ object: Element) { insertOne(object, at: count) }

  /// Adds elements at the end.
  public func append<S: Sequence>(objectsIn objects: S) where S.Element == Element {
    insert(Array(objects), at: count)
  }

  /// Puts an element in; `index` may be the count.
  public func insert(_ object: Element, at index: Int) {
    checkIndex(index, below: count + 1)
    insertOne(object, at: index)
  }

  /// Puts elements in; `index` may be the count.
  public func insert<C: Collection>(contentsOf newElements: C, at index: Int)
  where C.Element == Element {
    checkIndex(index, below: count + 1)
    insert(Array(newElements), at: index)
  }

  private func insertOne(_ element: Element, at index: Int) {
    switch storage {
    case .plain(var plain):
      storage = .plain([])
      plain.insert(element, at: index)
      storage = .plain(plain)
    case .managed(let state): state.insert(element, at: index)
    }
  }

  private func insert(_ elements: [Element], at index: Int) {
    switch storage {
    case .plain(var plain):
      storage = .plain([])
      plain.insert(contentsOf: elements, at: index)
      storage = .plain(plain)
    case .managed(let state): state.replace(index..<index, with: elements)
    }
  }

  /// Takes the element at `index` out.
  public func remove(at index: Int) {
    checkIndex(index, below: count)
    remove(index..<index + 1)
  }

  /// Takes the elements at `offsets` out.
  public func remove(atOffsets offsets: IndexSet) {
    for offset in offsets.reversed() { remove(at: offset) }
  }

  /// Takes the first `number` elements out; stops when there are fewer.
  public func removeFirst(_ number: Int = 1) {
    checkRemoval(number)
    remove(0..<number)
  }

  /// Takes the last `number` elements out; stops when there are fewer.
  public func removeLast(_ number: Int = 1) {
    checkRemoval(number)
    let count = count
    remove(count - number..<count)
  }

  private func checkRemoval(_ number: Int) {
    let count = count
    guard number >= 0, number <= count else {
      fatalError(
        "It is not possible to remove more objects (\(number)) from a list than it already "
          + "contains (\(count)).")
    }
  }

  /// Takes all elements out; objects stay in their Realm.
  public func removeAll() {
    switch storage {
    case .plain: storage = .plain([])
    case .managed(let state): state.replace(0..<state.count, with: [Element]())
    }
  }

  /// Takes the elements of a range out.
  public func removeSubrange<R: RangeExpression>(_ boundsExpression: R) where R.Bound == Int {
    let range = boundsExpression.relative(to: 0..<count)
    if !range.isEmpty {
      checkIndex(range.lowerBound, below: count)
      checkIndex(range.upperBound - 1, below: count)
    }
    remove(range)
  }

  private func remove(_ range: Range<Int>) {
    switch storage {
    case .plain(var plain):
      storage = .plain([])
      plain.removeSubrange(range)
      storage = .plain(plain)
    case .managed(let state): state.replace(range, with: [Element]())
    }
  }

  /// Replaces the element at `index`.
  public func replace(index: Int, object: Element) {
    checkIndex(index, below: count)
    switch storage {
    case .plain(var plain):
      storage = .plain([])
      plain[index] = object
      storage = .plain(plain)
    case .managed(let state): state.replace(index..<index + 1, with: [object])
    }
  }

  /// Replaces the elements of a range by others.
  public func replaceSubrange<C: Collection, R: RangeExpression>(
    _ subrange: R, with newElements: C
  ) where C.Element == Element, R.Bound == Int {
    let range = subrange.relative(to: 0..<count)
    let elements = Array(newElements)
    removeSubrange(range)
    checkIndex(range.lowerBound, below: count + 1)
    insert(elements, at: range.lowerBound)
  }

  /// Moves an element; `to` is where it ends.
  public func move(from: Int, to: Int) {
    let count = count
    checkIndex(from, below: count)
    checkIndex(to, below: count)
    switch storage {
    case .plain(var plain):
      storage = .plain([])
      plain.insert(plain.remove(at: from), at: to)
      storage = .plain(plain)
    case .managed(let state): state.move(from: from, to: to)
    }
  }

  /// Moves the elements at `offsets` in front of the one at `destination`, keeping their order.
  public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
    checkIndex(destination, below: count + 1)
    var before = 0
    var behind = 0
    for offset in offsets {
      if offset < destination {
        move(from: offset - before, to: destination - 1)
        before += 1
      } else {
        move(from: offset, to: destination + behind)
        behind += 1
      }
    }
  }

  /// Exchanges two elements.
  public func swapAt(_ index1: Int, _ index2: Int) {
    let count = count
    checkIndex(index1, below: count, "index1")
    checkIndex(index2, below: count, "index2")
    switch storage {
    case .plain(var plain):
      storage = .plain([])
      plain.swapAt(index1, index2)
      storage = .plain(plain)
    case .managed(let state): state.swap(index1, index2)
    }
  }
}
