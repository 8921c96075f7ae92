import CambiumCore

/// A way to find the objects of a condition without looking at every row: ranges of an index, links that
/// lead to others, or the keys themselves.
struct IndexAccess {
  private enum Source {
    case keys([Int64])
    case ranges(KeyTree, [KeyRange], String)
    case backlinks(KeyTree, [BacklinkGroup])
  }

  private var sources: [Source]
  /// How many objects it finds at most.
  private(set) var estimate: Int

  /// The objects' keys, ascending and each once.
  func keys(_ interruption: Interruption? = nil) throws(StoreError) -> [Int64] {
    var keys: [Int64] = []
    keys.reserveCapacity(estimate)
    for source in sources {
      switch source {
      case .keys(let found): keys += found
      case .ranges(let tree, let ranges, _):
        for range in ranges { try Self.collect(range, of: tree, into: &keys, interruption) }
      case .backlinks(let tree, let groups):
        for group in groups { keys += try Backlinks.sources(in: tree, group) }
      }
    }
    return IntegerSet(keys).sorted
  }

  /// What is looked into, for people: properties with an index, primary keys and links.
  func properties(in schema: StoredSchema) -> [String] {
    var names: [String] = []
    for source in sources {
      switch source {
      case .keys: names.append("primary key")
      case .ranges(_, _, let tree):
        for place in schema.classes {
          for (index, property) in place.objectSchema.allProperties.enumerated()
          where place.indexName(index) == tree { names.append("\(place.name).\(property.name)") }
        }
      case .backlinks(_, let groups):
        guard let group = groups.first else { continue }
        for place in schema.classes where place.tableID == group.table {
          guard let index = place.columns.firstIndex(of: group.column) else { continue }
          names.append("links from \(place.name).\(place.objectSchema.allProperties[index].name)")
        }
      }
    }
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }

  private static func collect(
    _ range: KeyRange, of tree: KeyTree, into keys: inout [Int64],
    _ interruption: Interruption?
  ) throws(StoreError) {
    try tree.forEach(in: range) { cursor throws(StoreError) in
      if keys.count & 4095 == 0 { try interruption?.check() }
      if cursor.keyByteCount >= 8 {
        keys.append(Int64(bitPattern: cursor.keyTail ^ 1 << 63))
      }
      return true
    }
  }

  // MARK: Planning

  /// The cheapest way to find a superset of the condition's objects; nil when there is none.
  static func plan(
    _ predicate: BoundPredicate, _ context: QueryContext
  ) throws(StoreError) -> IndexAccess? {
    switch predicate {
    case .and(let parts):
      var best: IndexAccess?
      for part in parts {
        if let access = try plan(part, context), access.estimate < best?.estimate ?? .max {
          best = access
        }
      }
      return best
    case .or(let parts):
      var union = IndexAccess(sources: [], estimate: 0)
      for part in parts {
        guard let access = try plan(part, context) else { return nil }
        union.sources += access.sources
        union.estimate += access.estimate
      }
      return union
    case .keys(let keys):
      return IndexAccess(sources: [.keys(keys.sorted)], estimate: keys.count)
    case .value(let column, let condition): return try plan(column, condition, context)
    case .link(let link, let inner):
      guard !inner.matchesMissing else { return nil }
      return try backlinks(link.column, to: inner, context)
    case .any(.list(let column, _, _), let inner): return try backlinks(column, to: inner, context)
    case .always(false): return IndexAccess(sources: [], estimate: 0)
    case .always, .not, .any, .anyElement, .number, .pair, .within, .named, .outer: return nil
    }
  }

  /// More linked objects than this are not looked up one by one.
  private static let linkedObjectLimit = 64

  private static func backlinks(
    _ column: BoundColumn, to inner: BoundPredicate, _ context: QueryContext
  ) throws(StoreError) -> IndexAccess? {
    guard let targets = try plan(inner, context), targets.estimate <= linkedObjectLimit else {
      return nil
    }
    return try backlinks(column, to: try targets.keys(), context)
  }

  private static func backlinks(
    _ column: BoundColumn, to targets: [Int64], _ context: QueryContext
  ) throws(StoreError) -> IndexAccess? {
    guard let place = column.backlinks else { return nil }
    guard let tree = try context.keyTree(place.tree) else {
      return IndexAccess(sources: [], estimate: 0)
    }
    let groups = targets.map {
      BacklinkGroup(target: $0, table: place.table, column: column.id)
    }
    var estimate = 0
    for group in groups { estimate += try Backlinks.count(in: tree, group) }
    return IndexAccess(sources: [.backlinks(tree, groups)], estimate: estimate)
  }

  private static func plan(
    _ column: BoundColumn, _ condition: ValueCondition, _ context: QueryContext
  ) throws(StoreError) -> IndexAccess? {
    if case .none = condition.kind, !condition.matchesNull {
      return IndexAccess(sources: [], estimate: 0)
    }
    if column.isKey || column.property == .object {
      guard !condition.matchesNull, let keys = Self.keys(of: condition) else { return nil }
      if column.isKey { return IndexAccess(sources: [.keys(keys)], estimate: keys.count) }
      return try backlinks(column, to: keys, context)
    }
    guard var ranges = IndexRanges.ranges(of: condition) else { return nil }
    if condition.matchesNull { ranges.append(KeyRange(prefix: [0])) }
    // Which columns have an index may differ from version to version.
    guard let tree = try context.keyTree(column.index) else { return nil }
    var estimate = 0
    for range in ranges { estimate += try tree.count(in: range) }
    return IndexAccess(sources: [.ranges(tree, ranges, column.index)], estimate: estimate)
  }

  /// The few integers that a condition accepts.
  private static func keys(of condition: ValueCondition) -> [Int64]? {
    guard case .integer(let integers) = condition.kind else { return nil }
    switch integers {
    case .range(let range) where range.lowerBound == range.upperBound: return [range.lowerBound]
    case .set(let set) where set.count <= linkedObjectLimit: return set.sorted
    default: return nil
    }
  }
}

/// The ranges of an index in which the values lie that a condition accepts.
///
/// Pointers: an array lends its bytes for the length of a call.
enum IndexRanges {
  /// More single values than this are left to a scan.
  private static let valueLimit = 1024

  /// Ranges for the values other than null; nil when an index does not help.
  static func ranges(of condition: ValueCondition) -> [KeyRange]? {
    switch condition.kind {
    case .none: return []
    case .all: return nil
    case .integer(.range(let range)): return between(.int(range.lowerBound), .int(range.upperBound))
    case .integer(.set(let set)):
      return set.count <= valueLimit ? set.sorted.compactMap { exactly(.int($0)) } : nil
    case .bool(let whenTrue, let whenFalse):
      return [(true, whenTrue), (false, whenFalse)].compactMap { value, isWanted in
        isWanted ? exactly(.bool(value)) : nil
      }
    case .wide(let condition): return ranges(of: condition)
    case .bytes(let condition): return condition.folding == nil ? ranges(of: condition.kind) : nil
    case .integer(.outside), .floating, .decimal, .any: return nil
    }
  }

  private static func exactly(_ value: ColumnValue, isSigned: Bool = false) -> KeyRange? {
    IndexKey.form(of: value, isSigned: isSigned).map(KeyRange.init(prefix:))
  }

  private static func between(
    _ low: ColumnValue, _ high: ColumnValue, isSigned: Bool = false
  ) -> [KeyRange]? {
    guard let lower = IndexKey.form(of: low, isSigned: isSigned),
      let upper = IndexKey.form(of: high, isSigned: isSigned)
    else { return nil }
    return [KeyRange(from: lower, to: KeyRange.successor(ofPrefix: upper))]
  }

  private static func ranges(of condition: WideCondition) -> [KeyRange]? {
    let isSigned = condition.mask != 0
    func value(_ key: UInt128) -> ColumnValue {
      .wide(
        low: UInt64(truncatingIfNeeded: key),
        high: UInt64(truncatingIfNeeded: key >> 64) ^ condition.mask)
    }
    switch condition.kind {
    case .range(let range):
      return between(value(range.lowerBound), value(range.upperBound), isSigned: isSigned)
    case .set(let keys):
      return keys.count <= valueLimit
        ? keys.compactMap { exactly(value($0), isSigned: isSigned) } : nil
    case .outside: return nil
    }
  }

  private static func ranges(of kind: BytesCondition.Kind) -> [KeyRange]? {
    switch kind {
    case .equal(let bytes): return range(of: bytes).map { [$0] }
    case .set(let members):
      guard members.count <= valueLimit else { return nil }
      var ranges: [KeyRange] = []
      for member in members {
        guard let range = range(of: member) else { return nil }
        ranges.append(range)
      }
      return ranges
    case .beginsWith(let bytes):
      guard var form = form(of: bytes) else { return nil }
      // The form without its end mark is what all longer values begin with.
      form.removeLast(2)
      return [KeyRange(prefix: form)]
    case .range(let lower, let includesLower, let upper, let includesUpper):
      var range = KeyRange(from: [1], to: [2])
      if let lower {
        guard let form = form(of: lower) else { return nil }
        range.lower = includesLower ? form : KeyRange.successor(ofPrefix: form) ?? form
      }
      if let upper {
        guard let form = form(of: upper) else { return nil }
        range.upper = includesUpper ? KeyRange.successor(ofPrefix: form) : form
      }
      return [range]
    case .notEqual, .endsWith, .contains, .like: return nil
    }
  }

  private static func range(of bytes: [UInt8]) -> KeyRange? {
    form(of: bytes).map(KeyRange.init(prefix:))
  }

  /// The form of a value short enough that forms of long values compare with it as the values do.
  private static func form(of bytes: [UInt8]) -> [UInt8]? {
    let zeroCount = bytes.count { $0 == 0 }
    guard bytes.count + zeroCount < IndexKey.prefixByteCount else { return nil }
    return unsafe bytes.withUnsafeBytes { unsafe IndexKey.form(of: .bytes($0)) }
  }
}
