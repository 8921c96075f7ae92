import CambiumCore

/// What a property of linking objects has: plumbing for `@Persisted(originProperty:)`.
public protocol LinkingObjectsProtocol {
  /// The class whose objects link here.
  associatedtype Element: ObjectBase
  /// Names the property whose links are followed backwards.
  init(fromType: Element.Type, property: String)
  /// The property whose links are followed backwards.
  var _rlmOriginPropertyName: String { get }
}

/// The objects that link to one through a property: live, read-only, in no particular order.
///
/// There is one entry for each link: an object whose list holds this one twice appears twice.
@frozen public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue> {
  // Exclusivity is not checked: the Realm belongs to the calling context, and each access to its
  // classes ends before they are used. The object keeps the Realm.

  /// The property whose links are followed backwards.
  public let _rlmOriginPropertyName: String
  @usableFromInline let core: ResultsCore?

  /// Declares a property that follows `property` of `fromType` backwards.
  public init(fromType: Element.Type, property: String) {
    _rlmOriginPropertyName = property
    core = nil
  }

  init(_ core: ResultsCore, property: String) {
    _rlmOriginPropertyName = property
    self.core = core
  }
}

extension LinkingObjects: LinkingObjectsProtocol {}

/// Links that may be those to an object without a Realm: there are none.
protocol UnmanagedLinks {
  var isUnmanaged: Bool { get }
}

extension LinkingObjects: UnmanagedLinks {
  var isUnmanaged: Bool { core == nil }
}

extension LinkingObjects: RealmCollection {
  /// The Realm; nil for an unmanaged owner.
  public var realm: Realm? { core.map { Realm($0.realm) } }

  /// Whether the owner was deleted or the Realm invalidated.
  public var isInvalidated: Bool {
    guard let core else { return false }
    guard case .linking(let linking) = core.source else { return core.isInvalidated }
    return core.isInvalidated || linking.isInvalidated
  }

  /// Whether it is fixed to one version.
  public var isFrozen: Bool { core?.realm.isFrozen ?? false }

  /// How many links there are.
  public var count: Int { core?.count ?? 0 }

  /// The object at `position`; stops out of bounds.
  public subscript(position: Int) -> Element {
    guard let core, let layout = core.layout else {
      checkIndex(position, below: 0)
      fatalError("An unmanaged object has no linking objects.")
    }
    return layout.typed(core.object(at: position))
  }

  /// The objects in `bounds`, live.
  public subscript(bounds: Range<Int>) -> Slice<LinkingObjects<Element>> {
    Slice(base: self, bounds: bounds)
  }

  /// The first object; nil when there is none.
  public var first: Element? { count == 0 ? nil : self[0] }

  /// The last object; nil when there is none.
  public var last: Element? {
    let count = count
    return count == 0 ? nil : self[count - 1]
  }

  /// Walks the objects.
  public func makeIterator() -> RLMIterator<Element> {
    core?.makeIterator() ?? RLMIterator([])
  }

  /// The place of `object`; nil when it does not link here.
  public func index(of object: Element) -> Int? { core?.index(of: object) }

  /// The same, fixed to the version that is seen.
  public func freeze() -> LinkingObjects<Element> {
    let core = queryCore()
    if core.realm.isFrozen { return self }
    core.verify()
    if isInvalidated { fatalError("Object has been deleted or invalidated.") }
    guard let frozen = ported(to: core.realm.freeze()) else { stopAtNewOwner() }
    return frozen
  }

  /// The live ones in the calling context; nil when their owner was deleted.
  public func thaw() -> LinkingObjects<Element>? {
    let realm = queryCore().realm
    return realm.isFrozen ? ported(to: realm.thaw()) : self
  }

  /// The objects as results.
  public func _rlmResults() -> Results<Element> {
    guard let core else { stopAtUnmanaged("RLMArray") }
    return Results(core)
  }

  /// Whether both are the links through the same property to the same object.
  public static func == (lhs: LinkingObjects<Element>, rhs: LinkingObjects<Element>) -> Bool {
    guard let left = lhs.core, let right = rhs.core else {
      return lhs.core == nil && rhs.core == nil
        && lhs._rlmOriginPropertyName == rhs._rlmOriginPropertyName
    }
    if left === right { return true }
    guard case .linking(let leftLink) = left.source, case .linking(let rightLink) = right.source
    else { return false }
    return left.realm === right.realm && leftLink == rightLink
  }

  /// The objects, one per line, at most a hundred.
  public var description: String { CollectionDescription.text(of: self, named: "LinkingObjects") }
}

extension LinkingObjects: DescribedCollection, DynamicCollection {
  func text(depth: Int) -> String {
    CollectionDescription.text(of: self, named: "LinkingObjects", depth: depth)
  }
}

extension LinkingObjects: Encodable where Element: Encodable {
  /// Writes an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

extension LinkingObjects: _RealmSchemaDiscoverable {
  /// Links backwards from the class.
  public static func _rlmDescribeProperty(_ property: inout Property) {
    property.type = .linkingObjects
    property.isArray = true
    property.objectClassName = Element._realmObjectName() ?? Element.className()
  }
}

extension LinkingObjects: _HasPersistedType {
  /// Linking objects stand for themselves.
  public typealias PersistedType = LinkingObjects<Element>
}

extension LinkingObjects: _Persistable {
  /// Without an origin, which the declaration has to name.
  public static func _rlmDefaultPersistedValue() -> LinkingObjects<Element> {
    LinkingObjects(fromType: Element.self, property: "")
  }

  /// The links to `object`.
  public static func _rlmPersistedValue(
    of object: ObjectBase, _ head: _PersistedHead
  ) -> LinkingObjects<Element> {
    let access = object.classAccess
    unsafe access.realm.verify()
    object.requireRow(access)
    let property = access.description.properties[Int(head.index)].property
    let name = property.originPropertyName ?? ""
    guard let place = access.targets[Int(head.index)],
      let origin = unsafe access.realm.classes[place].stored.propertyIndex(name)
    else {
      return LinkingObjects(fromType: Element.self, property: name)
    }
    let source = LinkingSource(
      target: object.managedRow(in: access), originClass: place, originProperty: origin)
    let originAccess = unsafe access.realm.classes[place]
    return unsafe LinkingObjects(
      ResultsCore(
        realm: access.realm, source: .linking(source), access: originAccess,
        layout: originAccess.layout(for: Element.self), plan: QueryPlan(originAccess.stored)),
      property: name)
  }

  /// Stops: linking objects follow from links.
  public static func _rlmSetPersistedValue(
    _ value: LinkingObjects<Element>, of object: ObjectBase, _ head: _PersistedHead
  ) {
    fatalError("LinkingObjects properties are read-only")
  }

  /// Nothing is stored.
  public static func _rlmWritePersistedValue(_ value: LinkingObjects<Element>, to row: _RowWriter) {
  }

  /// The collection itself.
  public static func _rlmDynamicValue(_ value: LinkingObjects<Element>) -> Any? { value }

  /// Nothing can be assigned.
  public static func _rlmConvertedValue(
    _ value: Any?, _ conversion: _ValueConversion
  ) -> LinkingObjects<Element>? { nil }
}

/// Which links of which object linking objects follow.
///
/// Pointers: the target's class refers to its Realm without a count; who has the source keeps the
/// Realm.
struct LinkingSource: Equatable {
  /// The object that is linked to.
  let target: ManagedRow
  /// The class whose objects link, among the Realm's, and their property.
  let originClass: Int
  let originProperty: Int

  /// The class whose objects link.
  var origin: ClassAccess { unsafe target.access.realm.classes[originClass] }

  /// Whether the target is gone.
  var isInvalidated: Bool { target.isGone }

  /// How many links there are; one search, however many they are.
  func count() throws(StoreError) -> Int {
    guard
      let tree = unsafe target.access.realm.readKeyTree(
        StoredName.backlinks(target.access.stored.name))
    else {
      return 0
    }
    return try Backlinks.count(in: tree, group)
  }

  private var group: BacklinkGroup {
    BacklinkGroup(
      target: target.key, table: origin.stored.tableID,
      column: origin.stored.columns[originProperty])
  }

  /// The keys of the objects that link, the first `limit` if there are more.
  func keys(_ limit: Int) throws(StoreError) -> [Int64] {
    guard
      let tree = unsafe target.access.realm.readKeyTree(
        StoredName.backlinks(target.access.stored.name))
    else {
      return []
    }
    return try Backlinks.sources(in: tree, group, limit)
  }
}
