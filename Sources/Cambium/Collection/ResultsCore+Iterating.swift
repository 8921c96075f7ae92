import CambiumCore

extension ResultsCore {
  /// Gives the elements one after another.
  func elementSource<Element: RealmCollectionValue>() -> any ElementSource<Element> {
    verify()
    guard let access else {
      let cells = currentValues()
      let realm = realm
      return ArraySource((0..<cells.count).map { Element.element(in: cells[$0], realm) })
    }
    if let table = wholeTable, realm.session == nil {
      return TableSource<Element>(access, table)
    }
    return KeySource<Element>(access, currentKeys())
  }
}

/// Walks a whole table leaf by leaf.
///
/// When the Realm moves on meanwhile, the walk goes on over the version it began with, and gives the
/// objects as they are now.
struct TableSource<Element: RealmCollectionValue>: ElementSource {
  private let access: ClassAccess
  private let realm: RealmInstance
  private var cursor: ColumnLeafCursor?
  private var row = 0
  private let generation: UInt64

  init(_ access: ClassAccess, _ tree: ColumnTree?) {
    self.access = access
    realm = access.realm
    generation = access.header.pointee.generation
    guard let tree else { return }
    var cursor = tree.leafCursor()
    let isValid = realm.reading { () throws(StoreError) in try cursor.first() }
    self.cursor = isValid ? cursor : nil
  }

  mutating func next() -> Element? {
    while let leaf = cursor?.leaf {
      if row < leaf.rowCount {
        defer { row += 1 }
        if generation == access.header.pointee.generation {
          return access.typed(
            access.object(at: RowPosition(leaf: leaf, row: row, index: -1)))
        }
        realm.verify()
        let key = leaf.key(at: row)
        return access.typed(access.object(forKey: key) ?? access.goneObject(key))
      }
      row = 0
      let isValid = realm.reading { () throws(StoreError) in try cursor?.next() ?? false }
      if !isValid { cursor = nil }
    }
    return nil
  }
}

/// Walks objects by their keys.
struct KeySource<Element: RealmCollectionValue>: ElementSource {
  private let access: ClassAccess
  private let realm: RealmInstance
  private let keys: [Int64]
  private var index = 0
  private var leaf: ColumnLeaf?
  private var generation: UInt64 = 0

  init(_ access: ClassAccess, _ keys: [Int64]) {
    self.access = access
    realm = access.realm
    self.keys = keys
  }

  mutating func next() -> Element? {
    guard index < keys.count else { return nil }
    realm.verify()
    let key = keys[index]
    index += 1
    // Keys often come in order: the leaf of the last one is tried first.
    if let leaf, generation == access.header.pointee.generation, let row = leaf.find(key) {
      return access.typed(access.object(at: RowPosition(leaf: leaf, row: row, index: -1)))
    }
    if !access.isTouched, let position = access.seek(key) {
      leaf = position.leaf
      generation = access.header.pointee.generation
      return access.typed(access.object(at: position))
    }
    leaf = nil
    return access.typed(access.object(forKey: key) ?? access.goneObject(key))
  }
}

extension ClassAccess {
  /// `object`, which this class made, as the type that its collections have.
  @inline(__always) func typed<Element>(_ object: ObjectBase) -> Element {
    if let object = object as? Element { return object }
    preconditionFailure("An accessor has the class of its table.")
  }

  /// An accessor of an object that was deleted.
  func goneObject(_ key: Int64) -> ObjectBase {
    let object = description.type.init()
    bind(object, key: key, created: ObjectBase.deletedCreation)
    return object
  }
}
