/// Finds objects of one class by their keys, and remembers what it read on the way.
///
/// Links lead anywhere, so what is read again for each of them is kept in a small form: inner nodes, the
/// keys of leaves, and the values of columns that were asked for; no more of each than ``keptByteCount``.
final class ObjectLookup {
  /// The keys of a leaf.
  private enum Keys {
    /// So many, one behind the other.
    case run(first: Int64, count: Int)
    case list([Int64])

    init(_ keys: [Int64]) {
      if let first = keys.first, let last = keys.last, last - first == Int64(keys.count - 1) {
        self = .run(first: first, count: keys.count)
      } else {
        self = .list(keys)
      }
    }

    var byteCount: Int {
      switch self {
      case .run: 64
      case .list(let keys): 64 + 8 * keys.count
      }
    }

    /// Where `key` stands; nil when it is not there.
    func index(of key: Int64) -> Int? {
      switch self {
      case .run(let first, let count):
        return key >= first && key - first < Int64(count) ? Int(key - first) : nil
      case .list(let keys):
        var (low, high) = (0, keys.count)
        while low < high {
          let middle = (low + high) / 2
          if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key ? low : nil
      }
    }
  }

  /// A column of a leaf.
  private struct ColumnPlace: Hashable {
    var leaf: Int
    var property: Int
  }

  /// An object: where its leaf lies, and its own place in it.
  private struct Place {
    var leaf: Int
    var index: Int
  }

  /// What is kept by where it lies; all of it is forgotten when it becomes too much.
  private struct Cache<Key: Hashable, Value> {
    private var values: [Key: Value] = [:]
    private var byteCount = 0

    subscript(key: Key) -> Value? { values[key] }

    mutating func insert(_ value: Value, _ key: Key, byteCount: Int) {
      if self.byteCount + byteCount > ObjectLookup.keptByteCount {
        values.removeAll(keepingCapacity: true)
        self.byteCount = 0
      }
      values[key] = value
      self.byteCount += byteCount
    }
  }

  private static let keptByteCount = 8 << 20

  private let root: Int
  private var inners = Cache<Int, ObjectTreeInner>()
  private var leaves = Cache<Int, Keys>()
  private var columns = Cache<ColumnPlace, [RealmFileValue]>()
  /// The leaf that was used last, and the keys that lead to it.
  private var last: (position: Int, keys: Keys, base: Int64, limit: Int64?)?

  init(root: Int) { self.root = root }

  /// Whether there is an object with that key.
  func contains(_ key: Int64, _ reader: ValueReader) throws(ReadFault) -> Bool {
    try find(key, reader) != nil
  }

  /// A value of the object with that key; nil when there is none.
  func value(
    of column: Column, _ property: Int, _ key: Int64, _ reader: ValueReader
  ) throws(ReadFault) -> RealmFileValue? {
    guard let place = try find(key, reader) else { return nil }
    let columnPlace = ColumnPlace(leaf: place.leaf, property: property)
    if let known = columns[columnPlace] { return known[place.index] }
    let walk = reader.makeWalk()
    let leaf = try ObjectTreeLeaf(walk.node(at: place.leaf), walk)
    let values = try reader.values(of: column, in: leaf, walk)
    if Self.keeps(column) {
      columns.insert(values, columnPlace, byteCount: values.count * 32 + 128)
    }
    return values[place.index]
  }

  /// Whether the values of a column are small enough to be kept.
  private static func keeps(_ column: Column) -> Bool {
    guard column.collection == .none else { return false }
    switch column.storage {
    case .data, .string, .mixed: return false
    default: return true
    }
  }

  private func find(_ key: Int64, _ reader: ValueReader) throws(ReadFault) -> Place? {
    guard key >= 0 else { return nil }
    let found: (position: Int, keys: Keys, base: Int64, limit: Int64?)
    if let last, key >= last.base, last.limit.map({ key < $0 }) ?? true {
      found = last
    } else {
      found = try descend(to: key, reader)
      last = found
    }
    return found.keys.index(of: key).map { Place(leaf: found.position, index: $0) }
  }

  /// The leaf in which `key` lies if it exists.
  private func descend(
    to key: Int64, _ reader: ValueReader
  ) throws(ReadFault) -> (position: Int, keys: Keys, base: Int64, limit: Int64?) {
    var (position, base, limit) = (root, 0 as Int64, nil as Int64?)
    for _ in 0...ObjectLeaves.largestDepth {
      if let keys = leaves[position] { return (position, keys, base, limit) }
      let inner: ObjectTreeInner
      if let known = inners[position] {
        inner = known
      } else {
        let walk = reader.makeWalk()
        let node = try walk.node(at: position)
        guard node.isInner else {
          let keys = Keys(try ObjectTreeLeaf(node, walk).keys(base: base, limit: limit))
          leaves.insert(keys, position, byteCount: keys.byteCount)
          return (position, keys, base, limit)
        }
        inner = try ObjectTreeInner(node, walk)
        try inner.checkOffsets()
        inners.insert(inner, position, byteCount: 16 * inner.childCount + 256)
      }
      let child = inner.childIndex(of: key - base)
      (base, limit) = try inner.range(of: child, base: base, limit: limit)
      position = try inner.child(child)
    }
    throw .damage(
      "an object tree has more than \(ObjectLeaves.largestDepth) levels", position: position)
  }
}

extension RealmFile {
  /// Whether a class has an object with that key.
  ///
  /// `classIndex` is an index into ``classes``.
  public func contains(_ key: Int64, in classIndex: Int) throws(RealmFileError) -> Bool {
    let table = table(classIndex)
    if table.kind == .asymmetric { return false }
    do throws(ReadFault) {
      return try lookups[classIndex].contains(key, reader)
    } catch {
      throw error.error(path: path, className: table.name)
    }
  }

  /// One property of one object; nil when there is no such object.
  ///
  /// `propertyIndex` is an index into the properties of the class.
  public func value(
    of propertyIndex: Int, of key: Int64, in classIndex: Int
  ) throws(RealmFileError) -> RealmFileValue? {
    let table = table(classIndex)
    if table.kind == .asymmetric { return nil }
    let column = column(propertyIndex, of: classIndex)
    do throws(ReadFault) {
      return try lookups[classIndex].value(of: column, propertyIndex, key, reader)
    } catch {
      throw error.error(path: path, className: table.name, propertyName: column.name)
    }
  }
}
