import CambiumCore

/// Changes the links that lead to the objects of one class.
///
/// New links are gathered and put into the tree sorted, many at once: a bulk import makes them in the
/// order of their sources, which is no order at all for the tree.
///
/// Pointers: keys and values lie in arrays, or on the leaf at which a cursor is, and are read before it
/// moves.
final class BacklinkEditor {
  private let tree: KeyTreeEditor
  private var pending: [Backlink] = []
  private static let pendingLimit = 1 << 18

  /// The links to the objects of a class, of a database that has ``StoredFeatures/groupedBacklinks``.
  init(_ transaction: Transaction, toClass className: String) throws(StoreError) {
    tree = try transaction.editKeyTree(StoredName.backlinks(className))
  }

  /// Notes a link.
  func add(_ link: Backlink) throws(StoreError) {
    pending.append(link)
    if pending.count >= Self.pendingLimit { try settle() }
  }

  /// Puts all noted links into the tree.
  func settle() throws(StoreError) {
    if pending.isEmpty { return }
    try forEachGroup(pending) { group, sources throws(StoreError) in
      try change(group, sources) { $0.add($1) }
    }
    pending.removeAll(keepingCapacity: pending.count <= 1 << 12)
  }

  /// Forgets one of the links from a source's property to a target.
  func remove(_ link: Backlink) throws(StoreError) {
    try settle()
    try change(link.group, [link.source]) { $0.remove($1) }
  }

  /// Forgets links, as many of each as are named.
  func remove(_ links: [Backlink]) throws(StoreError) {
    try settle()
    try forEachGroup(links) { group, sources throws(StoreError) in
      try change(group, sources) { $0.remove($1) }
    }
  }

  /// Forgets all links to some objects, which come in ascending order; what there was.
  func takeAll(to targets: [Int64]) throws(StoreError) -> [Backlink] {
    try settle()
    var links: [Backlink] = []
    let entries = KeySorter()
    try unsafe Backlinks.forEach(in: tree.tree, toAscending: targets) { key in
      unsafe entries.add(key, 0)
    } _: { group, run in
      for _ in 0..<run.count { links.append(group.link(from: run.source)) }
    }
    entries.sort()
    try tree.remove(entries)
    return links
  }

  /// All links to `target`.
  func links(to target: Int64) throws(StoreError) -> [Backlink] {
    try settle()
    return try Backlinks.links(in: tree.tree, BacklinkGroup.prefix(target: target))
  }

  /// Forgets the links from a property.
  func removeAll(from column: UInt16, of table: UInt32) throws(StoreError) {
    try settle()
    var groups: Set<BacklinkGroup> = []
    try Backlinks.forEach(in: tree.tree, []) { group, _ in
      if group.table == table, group.column == column { groups.insert(group) }
      return true
    }
    for group in groups { try removeEntries(group.key) }
  }

  /// Forgets everything.
  func removeAll() throws(StoreError) {
    pending = []
    try tree.removeAll()
  }

  // MARK: Groups

  private func forEachGroup(
    _ links: [Backlink],
    _ body: (BacklinkGroup, ArraySlice<Int64>) throws(StoreError) -> Void
  ) throws(StoreError) {
    let links = links.sorted(by: Backlink.areInOrder)
    let sources = links.map(\.source)
    var start = 0
    while start < links.count {
      let group = links[start].group
      var end = start + 1
      while end < links.count, links[end].group == group { end += 1 }
      try body(group, sources[start..<end])
      start = end
    }
  }

  private typealias Change = (inout SourceRuns, ArraySlice<Int64>) -> Void

  /// Adds sources to a group or takes them out.
  private func change(
    _ group: BacklinkGroup, _ sources: ArraySlice<Int64>, _ change: Change
  ) throws(StoreError) {
    let key = group.key
    guard let value = try tree.tree.value(for: key) else {
      var runs = SourceRuns()
      change(&runs, sources)
      return try write(runs, group)
    }
    let read = unsafe value.withUnsafeBytes { value in
      catching { () throws(StoreError) -> (count: Int, runs: SourceRuns?) in
        let head = try unsafe Backlinks.Head(value)
        if unsafe head.sources.isEmpty { return (head.linkCount, nil) }
        guard let runs = unsafe SourceRuns(head.sources, first: nil) else {
          throw Backlinks.damage("a head breaks the format")
        }
        return (head.linkCount, runs)
      }
    }
    let head = try read.get()
    if var runs = head.runs {
      change(&runs, sources)
      return try write(runs, group)
    }
    let count = try head.count + changeBlocks(group, sources, change)
    if count <= SourceRuns.byteLimit / 4 { return try gather(group) }
    var bytes: [UInt8] = []
    SourceRuns.append(UInt64(count), to: &bytes)
    try tree.set(key, bytes)
  }

  /// Writes the sources of a group that has no blocks.
  private func write(_ runs: SourceRuns, _ group: BacklinkGroup) throws(StoreError) {
    let key = group.key
    if runs.runs.isEmpty {
      try tree.remove(key)
      return
    }
    var bytes: [UInt8] = []
    SourceRuns.append(UInt64(runs.linkCount), to: &bytes)
    let countByteCount = bytes.count
    runs.append(to: &bytes, hasFirst: true)
    if bytes.count > SourceRuns.byteLimit {
      bytes.removeSubrange(countByteCount...)
      for block in runs.blocks(isFull: true) {
        try tree.set(group.key(ofBlock: block.source), block.bytes)
      }
    }
    try tree.set(key, bytes)
  }

  /// Takes the sources of a group with few links out of its blocks.
  private func gather(_ group: BacklinkGroup) throws(StoreError) {
    var runs = SourceRuns()
    try Backlinks.forEach(in: tree.tree, group.key) { _, run in
      runs.append(run.source, run.count)
      return true
    }
    try removeEntries(group.key)
    try write(runs, group)
  }

  /// Changes the blocks where the sources are, or belong; returns by how many there are more links now.
  private func changeBlocks(
    _ group: BacklinkGroup, _ sources: ArraySlice<Int64>, _ change: Change
  ) throws(StoreError) -> Int {
    var rest = sources
    var growth = 0
    while let source = rest.first {
      guard let block = try block(of: group, for: source) else {
        var runs = SourceRuns()
        change(&runs, rest)
        for block in runs.blocks(isFull: true) {
          try tree.set(group.key(ofBlock: block.source), block.bytes)
        }
        return growth + runs.linkCount
      }
      let end = block.end.flatMap { end in rest.firstIndex { $0 >= end } } ?? rest.endIndex
      var runs = block.runs
      change(&runs, rest[..<end])
      growth += runs.linkCount - block.runs.linkCount
      let isFull =
        block.end == nil && runs.runs.count > 1
        && source >= block.runs.runs.last?.source ?? source
      let blocks = runs.blocks(isFull: isFull)
      if blocks.first?.source != block.first { try tree.remove(group.key(ofBlock: block.first)) }
      for block in blocks { try tree.set(group.key(ofBlock: block.source), block.bytes) }
      rest = rest[end...]
    }
    return growth
  }

  /// A block: its first source, all of them, and the first one of the next block.
  private typealias Block = (first: Int64, runs: SourceRuns, end: Int64?)

  /// The last block that does not begin behind `source`, or else the first one; nil when there is none.
  private func block(of group: BacklinkGroup, for source: Int64) throws(StoreError) -> Block? {
    let prefix = group.key
    func first(_ cursor: KeyCursor) -> Int64? {
      let key = cursor.key
      guard key.count == BacklinkGroup.blockByteCount, key.starts(with: prefix) else { return nil }
      return unsafe key.withUnsafeBytes { unsafe BacklinkGroup.source($0) }
    }
    let wanted = group.key(ofBlock: source)
    var cursor = tree.tree.cursor()
    var isValid = try cursor.seek(to: wanted)
    if !isValid || cursor.key != wanted {
      isValid = isValid ? try cursor.previous() : try cursor.seekLast()
      if !isValid || first(cursor) == nil { isValid = try cursor.seek(to: wanted) }
    }
    guard isValid, let start = first(cursor) else { return nil }
    guard let runs = unsafe SourceRuns(try cursor.value, first: start) else {
      throw Backlinks.damage("a block breaks the format")
    }
    return (start, runs, try cursor.next() ? first(cursor) : nil)
  }

  private func removeEntries(_ prefix: [UInt8]) throws(StoreError) {
    var keys: [[UInt8]] = []
    var cursor = tree.tree.cursor()
    var isValid = try cursor.seek(to: prefix)
    while isValid {
      let key = cursor.key
      guard key.starts(with: prefix) else { break }
      keys.append(key)
      isValid = try cursor.next()
    }
    for key in keys { try tree.remove(key) }
  }

  // MARK: Files without groups

  /// Groups all links of a database that may have them one by one.
  static func group(_ transaction: Transaction) throws(StoreError) {
    for name in try transaction.names(withPrefix: StoredName.backlinks("")) {
      let className = String(name.dropFirst(StoredName.backlinks("").count))
      try BacklinkEditor(transaction, toClass: className).groupAll()
    }
  }

  private func groupAll() throws(StoreError) {
    var next: [UInt8]? = []
    while let start = next {
      var cursor = tree.tree.cursor()
      guard try cursor.seek(to: start) else { return }
      let prefix = Array(cursor.key.prefix(BacklinkGroup.headByteCount))
      guard let group = unsafe prefix.withUnsafeBytes({ unsafe BacklinkGroup($0) }) else {
        throw Backlinks.damage("a key is too short")
      }
      try gather(group)
      next = KeyRange.successor(ofPrefix: prefix)
    }
  }
}

/// Carries a typed error out of a closure that cannot throw it.
@inline(__always) func catching<Value>(
  _ body: () throws(StoreError) -> Value
) -> Result<Value, StoreError> {
  do throws(StoreError) { return .success(try body()) } catch { return .failure(error) }
}
