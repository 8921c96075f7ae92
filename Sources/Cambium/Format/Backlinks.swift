import CambiumCore

/// Reads the links that lead to the objects of a class.
///
/// Pointers: values lie on the leaf at which a cursor is, or in the cursor, and are read before it
/// moves. Keys lie in arrays, or in memory that ends with the call and is as long as the longest.
package enum Backlinks {
  /// Calls `body` with each run of links whose keys begin with `prefix`, in the order of the tree, until it
  /// returns false.
  static func forEach(
    in tree: KeyTree, _ prefix: [UInt8],
    _ body: (BacklinkGroup, SourceRuns.Run) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var goesOn = true
    try unsafe forEachEntry(in: tree, from: prefix, prefix) {
      group, key, value throws(StoreError) in
      goesOn = try unsafe forEachRun(key, value) { run throws(StoreError) in try body(group, run) }
      return goesOn
    }
  }

  /// Calls `body` with the keys and values from `start` on that begin with `prefix`.
  private static func forEachEntry(
    in tree: KeyTree, from start: [UInt8], _ prefix: [UInt8],
    _ body: (BacklinkGroup, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError)
      -> Bool
  ) throws(StoreError) {
    var cursor = tree.cursor()
    var isValid = try cursor.seek(to: start)
    while isValid {
      let key = cursor.key
      guard key.starts(with: prefix) else { return }
      let value = try unsafe cursor.value
      let result = unsafe key.withUnsafeBytes { key in
        catching { () throws(StoreError) -> Bool in
          guard let group = unsafe BacklinkGroup(key) else { throw damage("a key is too short") }
          return try unsafe body(group, key, value)
        }
      }
      guard try result.get() else { return }
      isValid = try cursor.next()
    }
  }

  /// Calls `entry` with the key of each entry of links to some objects, which come in ascending order, and
  /// `body` with its runs.
  static func forEach(
    in tree: KeyTree, toAscending targets: [Int64], entry: (UnsafeRawBufferPointer) -> Void,
    _ body: (BacklinkGroup, SourceRuns.Run) -> Void
  ) throws(StoreError) {
    guard let first = targets.first else { return }
    let room = UnsafeMutableRawBufferPointer.allocate(
      byteCount: BacklinkGroup.longestByteCount, alignment: 8)
    defer { unsafe room.deallocate() }
    var cursor = tree.cursor()
    var isValid = try cursor.seek(to: BacklinkGroup.prefix(target: first))
    var index = 0
    while isValid {
      guard cursor.keyByteCount <= room.count else { throw damage("a key is too long") }
      let key = unsafe UnsafeRawBufferPointer(rebasing: room[..<cursor.copyKey(to: room)])
      guard let group = unsafe BacklinkGroup(key) else { throw damage("a key is too short") }
      while index < targets.count, targets[index] < group.target { index += 1 }
      guard index < targets.count else { return }
      if targets[index] > group.target {
        isValid = try cursor.seek(to: BacklinkGroup.prefix(target: targets[index]))
        continue
      }
      unsafe entry(key)
      _ = try unsafe forEachRun(key, try cursor.value) { run in
        body(group, run)
        return true
      }
      isValid = try cursor.next()
    }
  }

  /// Calls `body` with the runs of one entry; false when it returned that.
  private static func forEachRun(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    _ body: (SourceRuns.Run) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    let goesOn: Bool?
    switch key.count {
    case BacklinkGroup.headByteCount:
      let head = try unsafe Head(value)
      if unsafe head.sources.isEmpty { return true }
      goesOn = try unsafe SourceRuns.forEach(head.sources, first: nil, body)
    case BacklinkGroup.blockByteCount:
      goesOn = try unsafe SourceRuns.forEach(value, first: BacklinkGroup.source(key), body)
    case BacklinkGroup.longestByteCount where unsafe value.isEmpty:
      goesOn = unsafe try body(SourceRuns.Run(source: BacklinkGroup.source(key), count: 1))
    default: goesOn = nil
    }
    guard let goesOn else { throw damage("an entry breaks the format") }
    return goesOn
  }

  static func damage(_ detail: String) -> StoreError {
    .damaged(Damage(.count, "in a tree of backlinks \(detail)"))
  }

  /// The head of a group: the number of links and, unless they lie in blocks, their sources.
  @safe struct Head {
    let linkCount: Int
    let sources: UnsafeRawBufferPointer

    init(_ value: UnsafeRawBufferPointer) throws(StoreError) {
      var rest = unsafe value[...]
      guard let number = unsafe SourceRuns.number(&rest), number > 0,
        number <= SourceRuns.linkCountLimit, let count = Int(exactly: number)
      else { throw damage("a head has no count that can be") }
      linkCount = count
      unsafe sources = unsafe UnsafeRawBufferPointer(rebasing: rest)
    }
  }

  /// The links whose keys begin with `prefix`, in the order of the tree.
  package static func links(
    in tree: KeyTree, _ prefix: [UInt8]
  ) throws(StoreError) -> [Backlink] {
    var links: [Backlink] = []
    try forEach(in: tree, prefix) { group, run in
      for _ in 0..<run.count { links.append(group.link(from: run.source)) }
      return true
    }
    return links
  }

  /// The objects that link to one through one property, once for each link, of the first `limit` links.
  package static func sources(
    in tree: KeyTree, _ group: BacklinkGroup, _ limit: Int = .max
  ) throws(StoreError) -> [Int64] {
    var sources: [Int64] = []
    try forEach(in: tree, group.key) { _, run in
      for _ in 0..<min(run.count, limit - sources.count) { sources.append(run.source) }
      return sources.count < limit
    }
    return sources
  }

  /// How many links lead to one object through one property.
  package static func count(
    in tree: KeyTree, _ group: BacklinkGroup
  ) throws(StoreError) -> Int {
    let key = group.key
    let count = try unsafe key.withUnsafeBufferPointer { key throws(StoreError) in
      try unsafe tree.withValue(for: UnsafeRawBufferPointer(key)) { value throws(StoreError) in
        try unsafe Head(value).linkCount
      }
    }
    if let count { return count }
    // Groups without a head have a key for each link.
    return try tree.count(in: KeyRange(prefix: key))
  }

  /// How many of the links there are.
  package static func count(
    in tree: KeyTree, of link: Backlink
  ) throws(StoreError) -> Int {
    var count = 0
    let key = link.group.key(ofBlock: link.source)
    func visit(
      _ group: BacklinkGroup, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(StoreError) -> Bool {
      try unsafe forEachRun(key, value) { run in
        if run.source == link.source { count += run.count }
        return run.source <= link.source
      }
    }
    // It is in the entry at its own key and behind, or in the last one before.
    try unsafe forEachEntry(in: tree, from: key, link.group.key, visit)
    var cursor = tree.cursor()
    guard try cursor.seek(below: key) else { return count }
    let previous = cursor.key
    guard previous.starts(with: link.group.key) else { return count }
    let value = try unsafe cursor.value
    let result = unsafe previous.withUnsafeBytes { key in
      catching { () throws(StoreError) in try unsafe visit(link.group, key, value) }
    }
    withExtendedLifetime(cursor) {}
    _ = try result.get()
    return count
  }

  /// How many links there are in all.
  ///
  /// Throws when a head says another number than its group has, or sources are not in order.
  package static func checkedCount(in tree: KeyTree) throws(StoreError) -> Int {
    var (total, promised, found) = (0, 0, 0)
    var last: (group: BacklinkGroup, source: Int64)?
    func close() throws(StoreError) {
      if promised != found, promised > 0 {
        throw damage("a head says \(promised) links where there are \(found)")
      }
    }
    var group: BacklinkGroup?
    try unsafe forEachEntry(in: tree, from: [], []) { next, key, value throws(StoreError) in
      if next != group {
        try close()
        (group, promised, found) = (next, 0, 0)
        if key.count == BacklinkGroup.headByteCount { promised = try unsafe Head(value).linkCount }
      }
      return try unsafe forEachRun(key, value) { run throws(StoreError) in
        if let last, last.group == next,
          last.source > run.source
            || last.source == run.source && promised > 0
        {
          throw damage("sources are not in order")
        }
        last = (next, run.source)
        found += run.count
        total += run.count
        return true
      }
    }
    try close()
    return total
  }
}
