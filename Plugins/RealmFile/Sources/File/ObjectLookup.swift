/// Finds objects of one class by their keys, and remembers what it read on the way.
///
/// Links lead anywhere, so that lookups are many and in no order. Kept are where all leaves lie, 16 bytes for
/// each of them, and of the keys of leaves and the columns that were asked for no more than
/// ``keptByteCount``.
final class ObjectLookup {
  /// The keys of a leaf.
  private enum Keys {
    case unread
    /// So many, one behind the other.
    case run(first: Int64, count: Int64)
    case list([Int64])

    init(_ keys: [Int64]) {
      if let first = keys.first, let last = keys.last, last - first == Int64(keys.count - 1) {
        self = .run(first: first, count: Int64(keys.count))
      } else {
        self = .list(keys)
      }
    }
  }

  /// A column of a leaf.
  private struct ColumnPlace: Hashable {
    var leaf: Int
    var property: Int
  }

  /// An object: the number of its leaf, and its own place in it.
  private struct Place {
    var leaf: Int
    var index: Int
  }

  private static let keptByteCount = 16 << 20

  private let root: Int
  /// Nil until something is looked for.
  private var directory: LeafDirectory?
  /// The keys of each leaf.
  private var keys: [Keys] = []
  private var columns: [ColumnPlace: [RealmFileValue]] = [:]
  /// How many bytes lists of keys, and columns, take.
  private var byteCount = 0
  /// The leaf that was used last.
  private var last = 0

  init(root: Int) { self.root = root }

  /// Whether there is an object with that key.
  func contains(_ key: Int64, _ reader: ValueReader) throws(ReadFault) -> Bool {
    try find(key, reader) != nil
  }

  /// A value of the object with that key; nil when there is none.
  func value(
    of column: Column, _ property: Int, _ key: Int64, _ reader: ValueReader
  ) throws(ReadFault) -> RealmFileValue? {
    guard let place = try find(key, reader), let directory else { return nil }
    let columnPlace = ColumnPlace(leaf: place.leaf, property: property)
    if let known = columns[columnPlace] { return try value(place, of: known, directory) }
    let walk = reader.makeWalk()
    let leaf = try directory.leaf(place.leaf, walk)
    let values = try reader.values(of: column, in: leaf, walk)
    if Self.keeps(column) {
      makeRoom(values.count * MemoryLayout<RealmFileValue>.stride)
      columns[columnPlace] = values
    }
    return try value(place, of: values, directory)
  }

  /// The value of an object among those of its leaf, which may have been read at another time than its key.
  private func value(
    _ place: Place, of values: [RealmFileValue], _ directory: LeafDirectory
  ) throws(ReadFault) -> RealmFileValue {
    guard place.index < values.count else {
      throw .damage(
        "a leaf of an object tree has changed", position: directory.position(of: place.leaf))
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
    if directory == nil {
      let directory = try LeafDirectory(root: root, reader.makeWalk())
      keys = Array(repeating: .unread, count: directory.count)
      self.directory = directory
    }
    guard let directory else { return nil }
    if !directory.leads(key, to: last) { last = directory.index(of: key) }
    let leaf = last
    switch keys[leaf] {
    case .run(let first, let count):
      let index = key - first
      return index >= 0 && index < count ? Place(leaf: leaf, index: Int(index)) : nil
    case .list(let list): return Self.index(of: key, in: list).map { Place(leaf: leaf, index: $0) }
    case .unread:
      let list = try directory.keys(of: leaf, reader.makeWalk())
      let found = Keys(list)
      if case .list = found { makeRoom(list.count * MemoryLayout<Int64>.stride) }
      keys[leaf] = found
      return Self.index(of: key, in: list).map { Place(leaf: leaf, index: $0) }
    }
  }

  private static func index(of key: Int64, in keys: [Int64]) -> Int? {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key ? low : nil
  }

  /// Forgets what is kept where that would become too much with so many bytes more.
  private func makeRoom(_ byteCount: Int) {
    self.byteCount += byteCount
    guard self.byteCount > Self.keptByteCount else { return }
    self.byteCount = byteCount
    columns.removeAll(keepingCapacity: true)
    for index in keys.indices {
      if case .list = keys[index] { keys[index] = .unread }
    }
  }
}

extension RealmFile {
  /// Whether a class has an object with that key.
  ///
  /// `classIndex` is an index into ``classes``.
  public func contains(_ key: Int64, in classIndex: Int) throws(RealmFileError) -> Bool {
    guard let lookup = lookup(classIndex) else { return false }
    do throws(ReadFault) {
      return try lookup.contains(key, reader)
    } catch {
      throw error.error(path: path, className: classes[classIndex].name)
    }
  }

  /// One property of one object; nil when there is no such object.
  ///
  /// `propertyIndex` is an index into the properties of the class.
  public func value(
    of propertyIndex: Int, of key: Int64, in classIndex: Int
  ) throws(RealmFileError) -> RealmFileValue? {
    guard let lookup = lookup(classIndex) else { return nil }
    let column = column(propertyIndex, of: classIndex)
    do throws(ReadFault) {
      return try lookup.value(of: column, propertyIndex, key, reader)
    } catch {
      throw error.error(
        path: path, className: classes[classIndex].name, propertyName: column.name)
    }
  }
}
