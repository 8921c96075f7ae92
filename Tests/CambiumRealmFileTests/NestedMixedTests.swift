import CambiumRealmFile
import Foundation
import RealmFileBuilder
import Testing

/// Collections inside of mixed values are read to the depth that Realm allows, on any stack.
@Suite struct NestedMixedTests {
  /// A mixed value that is a list with a list in it, and so on.
  private static func lists(depth: Int, inTree: Bool = false) -> [UInt8] {
    let column = FileBuilder.Column(type: 6, attributes: FileBuilder.nullable)
    return HandMade.file(column) { builder in
      var leaf = builder.mixed([FileBuilder.descriptor(type: 0, place: 0, 42)])
      for level in 0..<depth {
        var root = leaf
        if inTree {
          for _ in 0..<8 {
            root = builder.refs([FileBuilder.tag(1), root, FileBuilder.tag(1)], isInner: true)
          }
        }
        var type: Int64 = 19
        if level % 3 == 1 {
          let keys = builder.texts(["key"])
          root = builder.refs([keys, root])
          type = 21
        }
        let collections = builder.refs([root])
        leaf = builder.mixed(
          [FileBuilder.descriptor(type: type, place: 4, 0)], collections: collections)
      }
      return leaf
    }
  }

  /// A leaf of so many mixed values, all of which are the only text or data of its pool.
  private static func sharing(
    _ type: Int64, count: Int, _ strings: (inout FileBuilder) -> Int64
  ) -> [UInt8] {
    let column = FileBuilder.Column(type: 6, attributes: FileBuilder.nullable)
    return HandMade.file(column, count: Int64(count)) { builder in
      let pool = strings(&builder)
      return builder.mixed(
        Array(repeating: FileBuilder.descriptor(type: type, place: 3, 0), count: count),
        strings: pool)
    }
  }

  @Test(arguments: [2, 4] as [Int64])
  func `values that share a text or data are damage, as a file could stand for many times its size`(
    type: Int64
  ) throws {
    let text = [UInt8](repeating: 0x61, count: 500) + [0]
    func medium(_ builder: inout FileBuilder) -> Int64 {
      builder.refs([
        builder.integers([Int64(text.count)]), builder.blob(text), builder.integers([0]),
      ])
    }
    func short(_ builder: inout FileBuilder) -> Int64 {
      builder.texts([String(repeating: "a", count: 63)])
    }
    func big(_ builder: inout FileBuilder) -> Int64 {
      builder.refs([builder.blob(text)], context: true)
    }
    for strings in [medium, short, big] {
      #expect(try HandMade.values(Self.sharing(type, count: 1, strings)).count == 1)
    }
    try HandMade.expectDamage(Self.sharing(type, count: 2, medium), "share their texts")
    try HandMade.expectDamage(Self.sharing(type, count: 2, short), "share their texts")
    try HandMade.expectDamage(Self.sharing(type, count: 200, big), "shared")
  }

  private static func depth(of value: RealmFileValue) -> Int {
    var (value, depth) = (value, 0)
    while true {
      switch value {
      case .list(let values):
        guard let first = values.first else { return depth }
        value = first
      case .dictionary(let entries):
        guard let first = entries.first else { return depth }
        value = first.value
      default: return value == .int(42) ? depth : -1
      }
      depth += 1
    }
  }

  @Test(arguments: [0, 1, 2, 99, 100])
  func `collections are nested as deep as they may be`(depth: Int) throws {
    let values = try HandMade.values(Self.lists(depth: depth))
    #expect(values.map(Self.depth) == [depth])
  }

  @Test(arguments: [101, 150, 5000])
  func `collections that are nested deeper are damage`(depth: Int) throws {
    try HandMade.expectDamage(Self.lists(depth: depth), "nested deeper than 100")
  }

  @Test func `the deepest collections need little stack`() throws {
    let bytes = Self.lists(depth: 100, inTree: true)
    let found = Result()
    let thread = Thread {
      found.values = (try? HandMade.values(bytes)) ?? []
      found.depth = found.values.map(Self.depth).first ?? -1
      found.values = []
      found.done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    found.done.wait()
    #expect(found.depth == 100)
  }

  /// What the thread found; read after it has signalled.
  private final class Result: @unchecked Sendable {
    var values: [RealmFileValue] = []
    var depth = -1
    let done = DispatchSemaphore(value: 0)
  }

  @Test func `a collection inside of itself is damage`() throws {
    let column = FileBuilder.Column(type: 6, attributes: FileBuilder.nullable)
    let bytes = HandMade.file(column) { builder in
      let collections = builder.refs([0])
      let leaf = builder.mixed(
        [FileBuilder.descriptor(type: 19, place: 4, 0)], collections: collections)
      builder.patch(collections, 0, leaf)
      return leaf
    }
    try HandMade.expectDamage(bytes, "shared or form a cycle")
  }
}
