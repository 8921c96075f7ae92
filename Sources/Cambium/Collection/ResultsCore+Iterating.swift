import CambiumCore

extension ResultsCore {
  /// Gives the elements one after another.
  func makeIterator<Element: RealmCollectionValue>() -> RLMIterator<Element> {
    verify()
    guard let access else {
      let cells = currentValues()
      let realm = realm
      return RLMIterator((0..<cells.count).map { Element.element(in: cells[$0], realm) })
    }
    precondition(
      access.isElement(Element.self), "An accessor has the class of its table.")
    if let table = wholeTable, realm.session == nil {
      return RLMIterator(ObjectWalk(access, table))
    }
    return RLMIterator(ObjectWalk(access, currentKeys()))
  }
}

/// Walks objects and makes an accessor of each.
///
/// A whole table is walked leaf by leaf, everything else by keys. When the Realm moves on meanwhile,
/// the walk goes on over what it began with, and gives the objects as they are now.
@usableFromInline final class ObjectWalk {
  // Exclusivity is not checked: a walk has one user, and each access ends before the next.
  private let access: ClassAccess
  private let realm: RealmInstance
  private let keys: [Int64]?
  @exclusivity(unchecked) private var index = 0
  @exclusivity(unchecked) private var cursor: ColumnLeafCursor?
  @exclusivity(unchecked) private var leaf: ColumnLeaf?
  @exclusivity(unchecked) private var row = 0
  @exclusivity(unchecked) private var generation: UInt64

  /// Walks a whole table.
  init(_ access: ClassAccess, _ tree: ColumnTree?) {
    self.access = access
    realm = access.realm
    keys = nil
    generation = access.header.pointee.generation
    guard let tree else { return }
    var cursor = tree.leafCursor()
    if realm.reading({ () throws(StoreError) in try cursor.first() }) {
      leaf = cursor.leaf
      self.cursor = cursor
    }
  }

  /// Walks the objects with these keys.
  init(_ access: ClassAccess, _ keys: [Int64]) {
    self.access = access
    realm = access.realm
    self.keys = keys
    generation = access.header.pointee.generation
  }

  /// The next object; nil at the end.
  @usableFromInline func next() -> ObjectBase? {
    realm.verify()
    if let keys { return next(of: keys) }
    while let leaf {
      if row < leaf.rowCount {
        let row = row
        self.row = row &+ 1
        if generation == access.header.pointee.generation {
          return access.object(at: RowPosition(leaf: leaf, row: row, index: -1))
        }
        return object(leaf.key(at: row))
      }
      row = 0
      let isValid = realm.reading { () throws(StoreError) in try cursor?.next() ?? false }
      self.leaf = isValid ? cursor?.leaf : nil
    }
    return nil
  }

  private func next(of keys: [Int64]) -> ObjectBase? {
    guard index < keys.count else { return nil }
    let key = keys[index]
    index &+= 1
    if generation != access.header.pointee.generation {
      (leaf, row) = (nil, 0)
      generation = access.header.pointee.generation
    }
    // Keys often come in order: the leaf of the last one is tried first, just behind it.
    if let leaf, let found = find(key, in: leaf) {
      row = found &+ 1
      return access.object(at: RowPosition(leaf: leaf, row: found, index: -1))
    }
    if !access.isTouched, let position = access.seek(key) {
      (leaf, row) = (position.leaf, position.row &+ 1)
      return access.object(at: position)
    }
    leaf = nil
    return object(key)
  }

  private func find(_ key: Int64, in leaf: ColumnLeaf) -> Int? {
    if row < leaf.rowCount, leaf.key(at: row) == key { return row }
    return leaf.find(key)
  }

  private func object(_ key: Int64) -> ObjectBase {
    access.object(forKey: key) ?? access.goneObject(key)
  }
}

extension ClassAccess {
  /// Whether accessors of this class are of type `Element`.
  func isElement<Element>(_ type: Element.Type) -> Bool {
    guard let type = type as? AnyClass else { return false }
    var ancestor: AnyClass? = description.type
    while let current = ancestor {
      if current == type { return true }
      ancestor = _getSuperclass(current)
    }
    return false
  }

  /// `object`, which this class made, as the type that its collections have.
  @inline(__always) func typed<Element>(_ object: ObjectBase) -> Element {
    precondition(
      Element.self == description.type || isElement(Element.self),
      "An accessor has the class of its table.")
    return unsafeBitCast(object, to: Element.self)
  }

  /// An accessor of an object that was deleted.
  func goneObject(_ key: Int64) -> ObjectBase {
    let object = description.type.init()
    bind(object, key: key, created: ObjectBase.deletedCreation)
    return object
  }
}
