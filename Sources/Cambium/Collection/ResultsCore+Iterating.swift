import CambiumCore

extension ResultsCore {
  /// Gives the elements one after another.
  func makeIterator<Element: RealmCollectionValue>() -> RLMIterator<Element> {
    verify()
    guard let access, let layout else {
      let cells = currentValues()
      return RLMIterator((0..<cells.count).map { element(in: cells[$0]) })
    }
    if Element._rlmIsProjection {
      return RLMIterator(
        currentKeys().map { key in
          Element._rlmElement(
            of: access.object(forKey: key, as: layout) ?? access.goneObject(key, as: layout))
        })
    }
    precondition(
      layout.isElement(Element.self), "An accessor has the class of its table.")
    if let table = wholeTable, unsafe realm.session == nil {
      return RLMIterator(ObjectWalk(access, layout, table))
    }
    return RLMIterator(ObjectWalk(access, layout, currentKeys()))
  }
}

extension ResultsCore {
  /// The value that a cell stands for.
  func element<Element: RealmCollectionValue>(in cell: ColumnValue) -> Element {
    if case .collection(let collection) = source { return collection.element(in: cell) }
    return Element._rlmElement(in: cell, Realm(realm))
  }
}

/// Walks objects and makes an accessor of each.
///
/// A whole table is walked leaf by leaf, everything else by keys. When the Realm moves on meanwhile,
/// the walk goes on over what it began with, and gives the objects as they are now.
@safe @usableFromInline final class ObjectWalk {
  // Exclusivity is not checked: a walk has one user, and each access ends before the next.
  private let access: ClassAccess
  /// How the accessors are laid out.
  private let layout: ClassLayout
  private let realm: RealmInstance
  /// What is walked at the moment: the keys of one leaf, or some of all.
  @exclusivity(unchecked) private var keys: UnsafeMutableBufferPointer<Int64>
  @exclusivity(unchecked) private var index = 0
  /// The number of these keys.
  @exclusivity(unchecked) private var end = 0
  /// All keys, where they are there from the start, and how many of them were taken.
  private let all: [Int64]
  @exclusivity(unchecked) private var taken = 0
  /// The write that they were counted for.
  private var session: WriteSession?
  /// Walks the leaves of a whole table; nil when all keys are there from the start.
  @exclusivity(unchecked) private var cursor: ColumnLeafCursor?
  @exclusivity(unchecked) private var isByLeaf = false
  /// The first row of the cursor's leaf, and what keeps its bytes.
  @exclusivity(unchecked) private var firstRow = LeafRow()
  @exclusivity(unchecked) private var owner: AnyObject?
  @exclusivity(unchecked) private var generation: UInt64
  private let lastLeaf = RememberedLeaf()

  /// Walks a whole table.
  init(_ access: ClassAccess, _ layout: ClassLayout, _ tree: ColumnTree?) {
    self.access = access
    self.layout = layout
    realm = unsafe access.realm
    unsafe generation = unsafe access.header.pointee.generation
    unsafe keys = unsafe UnsafeMutableBufferPointer(start: nil, count: 0)
    all = []
    guard let tree else { return }
    var cursor = tree.leafCursor()
    if realm.reading({ () throws(StoreError) in try cursor.first() }) {
      unsafe self.cursor = cursor
      unsafe isByLeaf = true
      takeLeaf()
    }
  }

  /// Walks the objects with these keys.
  init(_ access: ClassAccess, _ layout: ClassLayout, _ keys: [Int64]) {
    self.access = access
    self.layout = layout
    realm = unsafe access.realm
    unsafe generation = unsafe access.header.pointee.generation
    unsafe self.keys = .allocate(capacity: min(keys.count, Self.portion))
    all = keys
    session = unsafe realm.session
    session?.hold(all)
  }

  /// How many keys are taken at once; the program is asked in between whether the walk is to end.
  private static let portion = 4096

  deinit {
    session?.release(all)
    unsafe keys.deallocate()
  }

  /// The next object; nil at the end.
  @usableFromInline func next() -> ObjectBase? {
    realm.verify()
    while unsafe index == end {
      guard unsafe isByLeaf ? nextLeaf() : nextKeys() else { return nil }
    }
    let place = unsafe index
    unsafe index = place &+ 1
    let key = unsafe keys[place]
    let now = unsafe access.header.pointee.generation
    if unsafe !isByLeaf {
      if let row = lastLeaf.find(key, now) {
        return access.object(at: lastLeaf.row(row), key: key, owner: lastLeaf.owner, as: layout)
      }
      return search(key, now)
    }
    if unsafe generation == now {
      return unsafe access.object(at: firstRow.moved(to: place), key: key, owner: owner, as: layout)
    }
    return object(key)
  }

  @inline(never) private func nextLeaf() -> Bool {
    guard !realm.givesUp,
      realm.reading({ () throws(StoreError) in try unsafe cursor?.next() ?? false })
    else { return false }
    takeLeaf()
    return true
  }

  /// Takes the next keys, if there are more.
  @inline(never) private func nextKeys() -> Bool {
    guard unsafe taken < all.count, !realm.givesUp else { return false }
    let next = unsafe all[taken..<min(taken + Self.portion, all.count)]
    _ = unsafe keys.update(fromContentsOf: next)
    unsafe taken = next.endIndex
    unsafe (index, end) = (0, next.count)
    return true
  }

  private func takeLeaf() {
    guard let leaf = unsafe cursor?.leaf else { return }
    if unsafe keys.count < leaf.rowCount {
      unsafe keys.deallocate()
      unsafe keys = .allocate(capacity: leaf.rowCount)
    }
    if let keys = unsafe keys.baseAddress { unsafe leaf.copyKeys(into: keys) }
    unsafe firstRow = LeafRow(leaf, 0)
    unsafe owner = leaf.page.owner
    unsafe (index, end) = (0, leaf.rowCount)
  }

  @inline(never) private func search(_ key: Int64, _ now: UInt64) -> ObjectBase {
    if !access.isTouched, let position = access.seek(key) {
      lastLeaf.set(position.leaf, now)
      return access.object(at: position, as: layout)
    }
    return object(key)
  }

  @inline(never) private func object(_ key: Int64) -> ObjectBase {
    access.object(forKey: key, as: layout) ?? access.goneObject(key, as: layout)
  }
}

extension ClassLayout {
  /// Whether accessors of this class are of type `Element`.
  func isElement<Element>(_ type: Element.Type) -> Bool {
    guard let type = linkedClass(of: type) else { return false }
    var ancestor: AnyClass? = self.type
    while let current = ancestor {
      if current == type { return true }
      ancestor = _getSuperclass(current)
    }
    return false
  }

  /// `object`, which this class made, as the type that its collections have.
  @inline(__always) func typed<Element>(_ object: ObjectBase) -> Element {
    precondition(
      Element.self == type || isElement(Element.self),
      // An optional reference lies in memory as the reference does.
      "An accessor has the class of its table.")
    return unsafe unsafeBitCast(object, to: Element.self)
  }
}
