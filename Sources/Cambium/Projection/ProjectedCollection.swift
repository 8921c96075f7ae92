import Dispatch

/// Takes one property of every object of a collection, for ``Projected``.
@dynamicMemberLookup
public struct CollectionElementMapper<
  Element: ObjectBase & RealmCollectionValue
> {
  let collection: AnyRealmCollection<Element>

  /// The values of a property.
  public subscript<V: RealmCollectionValue>(
    dynamicMember member: KeyPath<Element, V>
  ) -> ProjectedCollection<V> {
    ProjectedCollection(box: ProjectedBoxOf(collection, member))
  }
}

extension List where Element: ObjectBase {
  /// Leads on to a property of the elements.
  public var projectTo: CollectionElementMapper<Element> {
    CollectionElementMapper(collection: AnyRealmCollection(self))
  }
}

extension MutableSet where Element: ObjectBase {
  /// Leads on to a property of the elements.
  public var projectTo: CollectionElementMapper<Element> {
    CollectionElementMapper(collection: AnyRealmCollection(self))
  }
}

/// The values of one property of all objects of a collection, live.
public struct ProjectedCollection<Element: RealmCollectionValue>: RandomAccessCollection,
  CustomStringConvertible, ThreadConfined
{
  let box: ProjectedBox<Element>

  /// How many objects there are.
  public var count: Int { box.count }
  /// 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { count }

  /// The value of the object at a place.
  ///
  /// Assigning writes to the object.
  public subscript(position: Int) -> Element {
    get { box.value(at: position) }
    nonmutating set { box.set(newValue, at: position) }
  }

  /// The place of the first object with that value; nil when there is none.
  public func index(of object: Element) -> Int? { firstIndex(of: object) }

  /// The place of the first object that satisfies a condition in text form; nil when none does.
  public func index(matching predicateFormat: String, _ args: Any...) -> Int? {
    box.index(matching: predicateFormat, args)
  }

  /// The Realm of the objects.
  public var realm: Realm? { box.realm }
  /// Whether what the objects belong to was deleted, or the Realm invalidated.
  public var isInvalidated: Bool { box.isInvalidated }
  /// Whether the values are fixed to one version.
  public var isFrozen: Bool { box.isFrozen }
  /// The values as they are now, readable from any thread.
  public func freeze() -> ProjectedCollection { ProjectedCollection(box: box.freeze()) }
  /// The live values in the calling context; nil when what they belong to was deleted.
  public func thaw() -> ProjectedCollection? { box.thaw().map { ProjectedCollection(box: $0) } }

  /// The values, one per line, at most a hundred.
  public var description: String {
    let values = prefix(100).enumerated().map { index, value in
      "\t[\(index)] \(ObjectDescription.text(ofValue: Element._rlmDynamicElement(value), depth: 1)),"
    }
    return (["ProjectedCollection<\(Element.self)> ("] + values + [")"]).joined(separator: "\n")
  }

  /// Calls `block` with the values once, and then whenever objects came, went, or had the property assigned.
  ///
  /// Everything else is as with the observers of the collection of objects.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
  ) -> NotificationToken {
    box.observe(keyPaths, queue) { change in
      switch change {
      case .initial(let box): block(.initial(ProjectedCollection(box: box)))
      case .update(let box, let deletions, let insertions, let modifications):
        block(
          .update(
            ProjectedCollection(box: box), deletions: deletions, insertions: insertions,
            modifications: modifications))
      case .error(let error): block(.error(error))
      }
    }
  }
}

/// A projected collection whose objects' class is not known where it is used.
class ProjectedBox<Element: RealmCollectionValue> {
  var count: Int { 0 }
  var realm: Realm? { nil }
  var isInvalidated: Bool { false }
  var isFrozen: Bool { false }
  func value(at position: Int) -> Element { stopAtAbstract() }
  func set(_ value: Element, at position: Int) { stopAtAbstract() }
  func index(matching format: String, _ arguments: [Any]) -> Int? { stopAtAbstract() }
  func freeze() -> ProjectedBox { stopAtAbstract() }
  func thaw() -> ProjectedBox? { stopAtAbstract() }
  func observe(
    _ keyPaths: [String]?, _ queue: DispatchQueue?,
    _ block: @escaping (RealmCollectionChange<ProjectedBox>) -> Void
  ) -> NotificationToken { stopAtAbstract() }

  private func stopAtAbstract() -> Never {
    preconditionFailure("Every projected collection overrides this.")
  }
}

private final class ProjectedBoxOf<Base: ObjectBase & RealmCollectionValue, Element>:
  ProjectedBox<Element>, ProjectedPath
where Element: RealmCollectionValue {
  private let collection: AnyRealmCollection<Base>
  private let keyPath: KeyPath<Base, Element>

  init(_ collection: AnyRealmCollection<Base>, _ keyPath: KeyPath<Base, Element>) {
    self.collection = collection
    self.keyPath = keyPath
  }

  var path: String { _name(for: keyPath) }

  override var count: Int { collection.count }
  override var realm: Realm? { collection.realm }
  override var isInvalidated: Bool { collection.isInvalidated }
  override var isFrozen: Bool { collection.isFrozen }
  override func value(at position: Int) -> Element { collection[position][keyPath: keyPath] }

  override func set(_ value: Element, at position: Int) {
    guard let path = keyPath as? ReferenceWritableKeyPath<Base, Element> else {
      fatalError("KeyPath is not writable")
    }
    collection[position][keyPath: path] = value
  }

  override func index(matching format: String, _ arguments: [Any]) -> Int? {
    let predicate = QueryPredicate.parsed(format, arguments)
    if let elements = collection.plainElements {
      return PlainQuery(predicate, on: Base.self).firstIndex(in: elements)
    }
    return collection.queryCore().firstIndex(matching: predicate)
  }

  override func freeze() -> ProjectedBox<Element> {
    ProjectedBoxOf(collection.freeze(), keyPath)
  }

  override func thaw() -> ProjectedBox<Element>? {
    collection.thaw().map { ProjectedBoxOf($0, keyPath) }
  }

  override func observe(
    _ keyPaths: [String]?, _ queue: DispatchQueue?,
    _ block: @escaping (RealmCollectionChange<ProjectedBox<Element>>) -> Void
  ) -> NotificationToken {
    collection.observe(keyPaths: keyPaths ?? [path], on: queue) { [keyPath] change in
      switch change {
      case .initial(let all): block(.initial(ProjectedBoxOf(all, keyPath)))
      case .update(let all, let deletions, let insertions, let modifications):
        block(
          .update(
            ProjectedBoxOf(all, keyPath), deletions: deletions, insertions: insertions,
            modifications: modifications))
      case .error(let error): block(.error(error))
      }
    }
  }
}

/// Which property of the elements a projected collection takes.
protocol ProjectedPath {
  /// The name of the property.
  var path: String { get }
}

extension ProjectedCollection: ProjectedPath {
  var path: String { (box as? any ProjectedPath)?.path ?? "" }
}
