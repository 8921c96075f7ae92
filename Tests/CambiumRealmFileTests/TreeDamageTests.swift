import CambiumRealmFile
import RealmFileBuilder
import Testing

/// Trees that no writer makes are damage.
@Suite struct TreeDamageTests {
  /// An object tree's leaf with one object and an integer.
  private static func leaf(_ builder: inout FileBuilder, key: Int64? = nil) -> Int64 {
    let column = builder.integers([7])
    guard let key else { return builder.leaf(count: 1, [column]) }
    let keys = builder.integers([key])
    return builder.refs([keys, column])
  }

  /// An inner node of an object tree.
  private static func inner(
    _ builder: inout FileBuilder, offsets: [Int64]? = nil, height: Int64 = 1, count: Int64,
    _ children: [Int64]
  ) -> Int64 {
    let list = offsets.map { builder.integers($0) } ?? 0
    return builder.refs(
      [list, FileBuilder.tag(height), FileBuilder.tag(count)] + children, isInner: true)
  }

  @Test func `an object tree of several levels is read`() throws {
    var builder = FileBuilder()
    let first = Self.leaf(&builder)
    let second = Self.leaf(&builder, key: 200)
    let lower = Self.inner(&builder, offsets: [0, 300], count: 2, [first, second])
    let third = Self.leaf(&builder, key: 5)
    let upper = Self.inner(&builder, height: 2, count: 3, [lower, third])
    let bytes = builder.finish(tree: upper)
    try Samples.withFile(bytes) { path in
      let file = try RealmFile(path: path)
      var keys: [Int64] = []
      try file.forEachLeaf(of: 0) { keys += $0.keys }
      #expect(keys == [0, 500, 65541])
      for key in keys { #expect(try file.value(of: 0, of: key, in: 0) == .int(7)) }
      for key in [1, 499, 501, 65540, 65542] as [Int64] {
        #expect(try !file.contains(key, in: 0))
      }
    }
  }

  @Test func `a tree that leads back into itself is damage`() throws {
    var builder = FileBuilder()
    let tree = Self.inner(&builder, height: 2, count: 2, [0, 0])
    let leaf = Self.leaf(&builder)
    builder.patch(tree, 3, leaf)
    builder.patch(tree, 4, tree)
    try HandMade.expectDamage(builder.finish(tree: tree), "cycle")
    // With room for more rounds than there may be levels.
    _ = builder.blob([UInt8](repeating: 0, count: 4096))
    try HandMade.expectDamage(builder.finish(tree: tree), "levels")
  }

  @Test func `children that are shared are damage`() throws {
    var builder = FileBuilder()
    let leaf = Self.leaf(&builder)
    var tree = Self.inner(&builder, count: 256, [Int64](repeating: leaf, count: 256))
    tree = Self.inner(
      &builder, height: 2, count: 65536, [Int64](repeating: tree, count: 256))
    tree = Self.inner(
      &builder, height: 3, count: 1 << 24, [Int64](repeating: tree, count: 256))
    // So large a claim is refused at once; a smaller one when the budget is used up.
    try HandMade.expectDamage(builder.finish(tree: tree), "claims")
    builder.patch(tree, 2, FileBuilder.tag(1000))
    try HandMade.expectDamage(builder.finish(tree: tree), "shared")
  }

  @Test func `lists that are shared are damage`() throws {
    let column = FileBuilder.Column(type: 0, attributes: FileBuilder.list)
    let bytes = HandMade.file(column, count: 256) { builder in
      let list = builder.integers([Int64](repeating: 3, count: 1000))
      return builder.refs([Int64](repeating: list, count: 256))
    }
    try HandMade.expectDamage(bytes, "shared")
  }

  @Test func `an object tree with nine levels is damage`() throws {
    var builder = FileBuilder()
    var tree = Self.leaf(&builder)
    for _ in 0..<9 { tree = Self.inner(&builder, offsets: [0], count: 1, [tree]) }
    try HandMade.expectDamage(builder.finish(tree: tree), "levels")
  }

  @Test func `an element tree with nine levels is damage`() throws {
    let column = FileBuilder.Column(type: 0, attributes: FileBuilder.list)
    for depth in [8, 9] {
      let bytes = HandMade.file(column) { builder in
        var tree = builder.integers([1, 2, 3])
        for _ in 0..<depth {
          tree = builder.refs([FileBuilder.tag(3), tree, FileBuilder.tag(3)], isInner: true)
        }
        return builder.refs([tree])
      }
      if depth == 8 {
        #expect(try HandMade.values(bytes) == [.list([.int(1), .int(2), .int(3)])])
      } else {
        try HandMade.expectDamage(bytes, "levels")
      }
    }
  }

  @Test func `an element tree whose total is another one is damage`() throws {
    let column = FileBuilder.Column(type: 0, attributes: FileBuilder.list)
    let bytes = HandMade.file(column) { builder in
      let leaf = builder.integers([1, 2, 3])
      let tree = builder.refs([FileBuilder.tag(3), leaf, FileBuilder.tag(4)], isInner: true)
      return builder.refs([tree])
    }
    try HandMade.expectDamage(bytes, "elements instead of")
  }

  @Test(arguments: [257, 1 << 40, (1 << 62) - 1] as [Int64])
  func `a leaf that claims more than 256 objects is damage`(count: Int64) throws {
    let bytes = HandMade.file(.int(), count: count) { $0.integers([7]) }
    try HandMade.expectDamage(bytes, "objects")
  }

  @Test func `a height that exceeds the bits of a key is damage`() throws {
    for height in [0, 8, 1 << 40] as [Int64] {
      var builder = FileBuilder()
      let first = Self.leaf(&builder)
      let second = Self.leaf(&builder)
      let tree = Self.inner(&builder, height: height, count: 2, [first, second])
      try HandMade.expectDamage(builder.finish(tree: tree), "height")
    }
    var builder = FileBuilder()
    let leaves = (0..<129).map { _ in Self.leaf(&builder) }
    let tree = Self.inner(&builder, height: 7, count: 129, leaves)
    try HandMade.expectDamage(builder.finish(tree: tree), "63 bits")
  }

  @Test(arguments: [[5, 5], [5, 4], [-1, 4], [.max, .min]] as [[Int64]])
  func `keys that do not ascend are damage`(keys: [Int64]) throws {
    var builder = FileBuilder()
    let column = builder.integers([7, 8])
    let list = builder.integers(keys)
    let tree = builder.refs([list, column])
    try HandMade.expectDamage(builder.finish(tree: tree), "ascend")
  }

  @Test(arguments: [[0, 0], [1, 2], [0, -1]] as [[Int64]])
  func `offsets that do not ascend from 0 are damage`(offsets: [Int64]) throws {
    var builder = FileBuilder()
    let first = Self.leaf(&builder)
    let second = Self.leaf(&builder)
    let tree = Self.inner(&builder, offsets: offsets, count: 2, [first, second])
    try HandMade.expectDamage(builder.finish(tree: tree), "offset")
  }

  @Test func `a key that belongs to the next leaf is damage`() throws {
    var builder = FileBuilder()
    let first = Self.leaf(&builder, key: 100)
    let second = Self.leaf(&builder)
    let tree = Self.inner(&builder, offsets: [0, 100], count: 2, [first, second])
    try HandMade.expectDamage(builder.finish(tree: tree), "not its own")
  }

  @Test func `a key that exceeds 63 bits is damage`() throws {
    var builder = FileBuilder()
    let first = Self.leaf(&builder)
    let second = Self.leaf(&builder, key: 10)
    let tree = Self.inner(&builder, offsets: [0, .max - 5], count: 2, [first, second])
    try HandMade.expectDamage(builder.finish(tree: tree), "not its own")
  }

  @Test func `a number of objects that is another one is damage`() throws {
    var builder = FileBuilder()
    let leaf = Self.leaf(&builder)
    let tree = Self.inner(&builder, count: 2, [leaf])
    try HandMade.expectDamage(builder.finish(tree: tree), "objects instead of")
  }

  @Test func `a leaf without a slot for each column is damage`() throws {
    var builder = FileBuilder()
    let leaf = Self.leaf(&builder)
    let bytes = builder.finish([.int("first"), .int("second")], tree: leaf)
    try HandMade.expectDamage(bytes, "A.second: ")
  }
}
