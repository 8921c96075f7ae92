import Foundation

/// What all collections of a Realm have in common.
public protocol RealmCollectionBase: RandomAccessCollection, LazyCollectionProtocol,
  CustomStringConvertible, ThreadConfined
where Element: RealmCollectionValue, Index == Int {
  /// The element's type under its old name.
  typealias ElementType = Element
}

/// A collection of objects or values in a Realm: results, lists, linking objects.
///
/// Live: what it holds follows its Realm's version.
public protocol RealmCollection: RealmCollectionBase, Equatable
where Iterator == RLMIterator<Element> {
  /// How many elements there are.
  var count: Int { get }
  /// The first element; nil when there is none.
  var first: Element? { get }
  /// The last element; nil when there is none.
  var last: Element? { get }
  /// The place of `object`; nil when it is not there.
  func index(of object: Element) -> Int?
  /// The elements as results, from which a query goes on.
  func _rlmResults() -> Results<Element>
}

extension RealmCollection {
  /// What a query starts from.
  func queryCore() -> ResultsCore { _rlmResults().core }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of elements.
  public var endIndex: Int { count }
  /// The next place.
  public func index(after index: Int) -> Int { index + 1 }
  /// The place before.
  public func index(before index: Int) -> Int { index - 1 }

  /// The elements at `indexes`, in ascending order; stops when one is out of bounds.
  public func objects(at indexes: IndexSet) -> [Element] {
    let count = count
    if let last = indexes.last, last >= count {
      fatalError("Indexes for collection are out of bounds.")
    }
    return indexes.map { self[$0] }
  }

  /// The named property of every element; for values, `self`.
  public func value(forKey key: String) -> Any? { value(forKeyPath: key) }

  /// The end of a dotted path from every element; `self` is the element.
  ///
  /// With an operator at its beginning, one value of all of them: `@count`, or `@sum`, `@avg`, `@min`,
  /// `@max`, `@unionOfObjects` and `@distinctUnionOfObjects` with a path, such as `@sum.age`.
  public func value(forKeyPath keyPath: String) -> Any? {
    if let (operation, rest) = CollectionOperator.parse(keyPath) {
      return NSNumber.boxing(value(of: operation, rest))
    }
    let isSelf = keyPath == "self"
    if !isSelf { checkKey(keyPath) }
    let path = keyPath.hasPrefix("self.") ? String(keyPath.dropFirst(5)) : keyPath
    return map { element -> Any? in
      if isSelf { return NSNumber.boxing(Element._rlmDynamicElement(element)) }
      return (element as? ObjectBase)?.value(forKeyPath: path)
    } as [Any?]
  }

  /// Calls `body` with each element as dynamic access returns it, until it returns false; whether it
  /// never did.
  func forEachValue(_ body: (Any?) -> Bool) -> Bool {
    for element in self {
      guard body(Element._rlmDynamicElement(element)) else { return false }
    }
    return true
  }

  /// Assigns the named property of every element; needs a write transaction.
  public func setValue(_ value: Any?, forKey key: String) {
    checkKey(key)
    if let objects = self as? any KeyedObjects,
      objects.assign(flattened(value), toPropertyNamed: key)
    {
      return
    }
    for element in Array(self) { (element as? ObjectBase)?.setValue(value, forKey: key) }
  }

  /// Stops when the elements are values, which have no properties.
  private func checkKey(_ key: String) {
    guard linkedClass(of: Element.self) != nil else {
      fatalError("Invalid property name '\(key)' for class '\(Element.self)'.")
    }
  }
}

/// Walks a collection of a Realm.
///
/// In a write transaction it walks the elements that were there when it began; one that was deleted
/// since comes as an invalidated object.
@safe public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
  // Pointers: the reference is used in every step, and the other field keeps what it leads to, so that
  // no step counts references.
  @usableFromInline let walk: Unmanaged<ObjectWalk>?
  @usableFromInline let walkOwner: ObjectWalk?
  @usableFromInline var values: IndexingIterator<[Element]>

  /// Walks objects; `Element` is their class or a superclass of it.
  init(_ walk: ObjectWalk) {
    unsafe self.walk = unsafe Unmanaged.passUnretained(walk)
    walkOwner = walk
    values = [].makeIterator()
  }

  /// Walks values that are there already.
  init(_ elements: [Element]) {
    unsafe (walk, walkOwner) = (nil, nil)
    values = elements.makeIterator()
  }

  /// The next element; nil at the end.
  @inlinable public mutating func next() -> Element? {
    guard let walk = unsafe walk else { return values.next() }
    guard let object = unsafe walk._withUnsafeGuaranteedRef({ $0.next() }) else { return nil }
    // Whoever made the walk saw that the objects are of this type.
    return unsafe unsafeBitCast(object, to: Element.self)
  }
}

/// A collection whose elements' properties are read by name.
protocol DynamicCollection {
  func dynamicValues(forKeyPath keyPath: String) -> Any?
}

extension RealmCollection {
  func dynamicValues(forKeyPath keyPath: String) -> Any? { value(forKeyPath: keyPath) }
}
