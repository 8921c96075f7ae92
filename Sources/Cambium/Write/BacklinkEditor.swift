import CambiumCore

/// Changes the links that lead to the objects of one class.
///
/// New links are gathered and put into the tree sorted, many at once: a bulk import makes them in the
/// order of their sources, which is no order at all for the tree.
final class BacklinkEditor {
  private let tree: KeyTreeEditor
  private var pending: [BacklinkKey] = []
  private static let pendingLimit = 1 << 18

  init(tree: KeyTreeEditor) { self.tree = tree }

  /// Notes a link.
  func add(_ link: BacklinkKey) throws(StoreError) {
    pending.append(link)
    if pending.count >= Self.pendingLimit { try settle() }
  }

  /// Puts all noted links into the tree.
  func settle() throws(StoreError) {
    if pending.isEmpty { return }
    pending.sort(by: BacklinkKey.areInOrder)
    for link in pending { try insert(link) }
    pending.removeAll(keepingCapacity: pending.count <= 1 << 12)
  }

  // A list may hold an object several times: later entries count on from the last one.
  private func insert(_ link: BacklinkKey) throws(StoreError) {
    var link = link
    while try !setNew(link) { link.ordinal = try count(link) }
  }

  private func setNew(_ link: BacklinkKey) throws(StoreError) -> Bool {
    let result = link.withStoredBytes { key in
      catching { () throws(StoreError) in
        try tree.set(key, UnsafeRawBufferPointer(start: nil, count: 0))
      }
    }
    return try result.get()
  }

  /// How many entries there are for the same source, property and target.
  private func count(_ link: BacklinkKey) throws(StoreError) -> UInt32 {
    var base = link
    base.ordinal = 0
    let prefix = base.bytes
    let tree = tree.tree
    let first = try tree.rank(of: prefix)
    let end = try BacklinkKey.end(of: prefix).map { end throws(StoreError) in try tree.rank(of: end)
    }
    return UInt32((end ?? tree.count) - first)
  }

  /// Forgets one of the links from a source's property to a target.
  func remove(_ link: BacklinkKey) throws(StoreError) {
    try settle()
    var last = link
    last.ordinal = 0
    if try tree.remove(last.bytes) {
      // The ordinals have to stay without gaps: the last entry takes the place of the first.
      let count = try countBehind(last)
      if count > 0 {
        var moved = last
        moved.ordinal = count
        if try tree.remove(moved.bytes) { _ = try tree.set(last.bytes, []) }
      }
    }
  }

  // The highest ordinal behind the removed first entry; 0 when there is none.
  private func countBehind(_ link: BacklinkKey) throws(StoreError) -> UInt32 {
    let prefix = link.bytes
    var cursor = tree.tree.cursor()
    guard try cursor.seek(to: prefix), cursor.key.starts(with: prefix) else { return 0 }
    return try count(link)
  }

  /// Forgets entries just as they are; no further one of the same source, property and target may be
  /// left, because ordinals have no gaps.
  func removeEntries(_ links: [BacklinkKey]) throws(StoreError) {
    try settle()
    if links.count == tree.tree.count {
      try tree.removeAll()
      return
    }
    for link in links.sorted(by: BacklinkKey.areInOrder) { try tree.remove(link.bytes) }
  }

  /// All links to `target`.
  func links(to target: Int64) throws(StoreError) -> [BacklinkKey] {
    try settle()
    return try Backlinks.links(in: tree.tree, BacklinkKey.prefix(target: target))
  }

  /// Forgets everything.
  func removeAll() throws(StoreError) {
    pending = []
    try tree.removeAll()
  }
}

/// Reads the links that lead to the objects of a class.
package enum Backlinks {
  /// The links whose keys begin with `prefix`, in the order of the tree.
  package static func links(
    in tree: KeyTree, _ prefix: [UInt8]
  ) throws(StoreError) -> [BacklinkKey] {
    var links: [BacklinkKey] = []
    var cursor = tree.cursor()
    var isValid = try cursor.seek(to: prefix)
    while isValid {
      let key = cursor.key
      guard key.starts(with: prefix), let link = BacklinkKey(key) else { break }
      links.append(link)
      isValid = try cursor.next()
    }
    return links
  }

  /// The objects that link to `target` through one property, once for each link.
  package static func sources(
    in tree: KeyTree, target: Int64, table: UInt32, column: UInt16
  ) throws(StoreError) -> [Int64] {
    try links(in: tree, BacklinkKey.prefix(target: target, table: table, column: column))
      .map(\.source)
  }

  /// How many links lead to `target` through one property.
  package static func count(
    in tree: KeyTree, target: Int64, table: UInt32, column: UInt16
  ) throws(StoreError) -> Int {
    let prefix = BacklinkKey.prefix(target: target, table: table, column: column)
    let first = try tree.rank(of: prefix)
    guard let end = BacklinkKey.end(of: prefix) else { return tree.count - first }
    return try tree.rank(of: end) - first
  }
}

/// Carries a typed error out of a closure that cannot throw it.
@inline(__always) func catching<Value>(
  _ body: () throws(StoreError) -> Value
) -> Result<Value, StoreError> {
  do throws(StoreError) { return .success(try body()) } catch { return .failure(error) }
}
