/// The directory of a version: what hangs under which name.
///
/// A tree of keys. A table's description lies right behind its roots, under the same name with a
/// zero byte behind it. Names that begin with a zero byte belong to the engine.
///
/// Pointers: a number's own bytes and those of a key, during one call; a value that is looked at stays
/// until then, as `KeyTree/withValue(for:_:)` says.
public struct Catalog {
  let tree: KeyTree

  /// Where dead roots are listed: this prefix, then a number of 8 bytes, big-endian.
  static let deadRootPrefix: [UInt8] = [0, 1]
  /// Where the next table's number is kept.
  static let nextTableKey: [UInt8] = [0, 2]
  /// Where the generation of the layout is kept; not there while it is 0.
  static let layoutGenerationKey: [UInt8] = [0, 3]

  static func key(_ name: String) -> [UInt8] { Array(name.utf8) }
  static func descriptionKey(_ name: String) -> [UInt8] { Array(name.utf8) + [0] }

  static func deadRootKey(_ number: UInt64) -> [UInt8] {
    unsafe deadRootPrefix + withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
  }

  /// The entry under `key`; nil when there is none.
  func entry(_ key: [UInt8]) throws(StoreError) -> CatalogEntry? {
    guard let entry = try writtenEntry(key) else { return nil }
    return entry.hasUnstoredPages ? try entry.upToDate(tree.source) : entry
  }

  /// The same as it was written, without what has become of trees in memory since.
  ///
  /// Whoever writes may have changed these, and nobody else can read them before that ends.
  func writtenEntry(_ key: [UInt8]) throws(StoreError) -> CatalogEntry? {
    guard let bytes = try tree.value(for: key) else { return nil }
    if let entry = CatalogEntry(bytes) { return entry }
    // A root that lies in memory stands in a leaf that does so, too: one in a stored page is not believed.
    guard tree.source.mayHaveUnstoredRoots, try tree.isUnstored(key),
      let entry = CatalogEntry(bytes, mayHaveUnstoredRoots: true)
    else { throw Self.damaged(key) }
    return entry
  }

  /// Throws when a stored leaf names a tree in memory, before it lies there itself.
  static func checkStored(_ node: KeyNode) throws(StoreError) {
    for index in 0..<node.count where !node.storedValue(index).isOverflow {
      let entry = unsafe CatalogEntry(
        Array(node.storedValue(index).bytes), mayHaveUnstoredRoots: true)
      if entry?.hasUnstoredPages ?? false {
        throw damaged(node.key(index, header: KeyNode.leafCellHeader))
      }
    }
  }

  /// Calls `body` with each table and key tree that has pages in memory.
  func forEachUnstoredTree(
    _ body: (String, CatalogEntry) throws(StoreError) -> Void
  ) throws(StoreError) {
    var found: [(String, CatalogEntry)] = []
    try tree.forEachUnstoredEntry { key, value throws(StoreError) in
      guard let entry = CatalogEntry(value, mayHaveUnstoredRoots: true), entry.hasUnstoredPages
      else { return }
      guard let name = String(validating: key, as: UTF8.self) else { throw Self.damaged(key) }
      found.append((name, entry))
    }
    for (name, entry) in found { try body(name, entry) }
  }

  /// The table under `name`; nil when there is none.
  func table(_ name: String) throws(StoreError) -> Table? {
    guard case .table(let roots)? = try entry(Self.key(name)) else { return nil }
    guard case .tableDescription(let description)? = try entry(Self.descriptionKey(name)),
      description.groups.count == roots.roots.count
    else { throw Self.damaged(Self.descriptionKey(name)) }
    let last = description.groups.joined().map(\.id).max() ?? 0
    guard roots.nextColumn > last else { throw Self.damaged(Self.key(name)) }
    let record = TableRecord(
      id: roots.id, nextKey: roots.nextKey, nextColumn: roots.nextColumn,
      groups: description.groups, attributes: description.attributes)
    return Table(
      record: record, groups: roots.roots.map { ColumnTree(root: $0, source: tree.source) })
  }

  /// The key tree under `name`; nil when there is none.
  func keyTree(_ name: String) throws(StoreError) -> KeyTree? {
    guard case .keyTree(let root)? = try entry(Self.key(name)) else { return nil }
    return KeyTree(root: root, source: tree.source)
  }

  /// The bytes kept under `name`; nil when there are none.
  func value(_ name: String) throws(StoreError) -> [UInt8]? {
    guard case .value(let bytes)? = try entry(Self.key(name)) else { return nil }
    return bytes
  }

  /// How many transactions have made, dropped or described a table otherwise.
  ///
  /// Asked for with every new version, so it allocates nothing.
  func layoutGeneration() throws(StoreError) -> UInt64 {
    let key = Self.layoutGenerationKey
    return try unsafe key.withUnsafeBufferPointer { bytes throws(StoreError) in
      let bytes = UnsafeRawBufferPointer(bytes)
      let found = try unsafe tree.withValue(for: bytes) { value throws(StoreError) in
        guard let number = unsafe CatalogEntry.number(value) else { throw Self.damaged(key) }
        return number
      }
      return found ?? 0
    }
  }

  /// The number that the next table gets.
  func nextTableNumber() throws(StoreError) -> UInt32 {
    guard case .value(let bytes)? = try entry(Self.nextTableKey) else { return 1 }
    var reader = ByteReader(bytes)
    return reader.get(UInt32.self) ?? 1
  }

  /// All names that begin with `prefix`, in byte order.
  ///
  /// Throws ``StoreError/damaged(_:)`` at a key that is no name: a crafted file may have one.
  func names(withPrefix prefix: String) throws(StoreError) -> [String] {
    var names: [String] = []
    try forEachEntry(withPrefix: Self.key(prefix)) { key, entry throws(StoreError) in
      if key.first == 0 { return }
      if case .tableDescription = entry { return }
      guard !key.isEmpty, !key.contains(0), let name = String(validating: key, as: UTF8.self) else {
        throw Self.damaged(key)
      }
      names.append(name)
    }
    return names
  }

  /// Calls `body` with every entry whose key begins with `prefix`, in byte order.
  func forEachEntry(
    withPrefix prefix: [UInt8],
    _ body: ([UInt8], CatalogEntry) throws(StoreError) -> Void
  ) throws(StoreError) {
    var cursor = tree.cursor()
    var isValid = try cursor.seek(to: prefix)
    while isValid {
      let key = cursor.key
      guard key.starts(with: prefix) else { return }
      guard let entry = try entry(key) else { throw Self.damaged(key) }
      try body(key, entry)
      isValid = try cursor.next()
    }
  }

  private static func damaged(_ key: [UInt8]) -> StoreError {
    .damaged(
      Damage(.catalog, "the entry '\(String(decoding: key, as: UTF8.self))' cannot be read"))
  }
}
