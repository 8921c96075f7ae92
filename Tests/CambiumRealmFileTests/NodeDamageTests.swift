import CambiumRealmFile
import RealmFileBuilder
import Testing

/// Nodes, headers and counts that no writer makes are errors.
@Suite struct NodeDamageTests {
  private static let manyCount = 1 << 24 - 1

  /// A node without a payload that claims to have as many elements as a node can.
  private static func empty(
    _ builder: inout FileBuilder, flags: UInt8 = 0, scheme: UInt8 = 0
  ) -> Int64 {
    builder.node(flags: flags, scheme: scheme, width: 0, count: manyCount, payload: [])
  }

  @Test(arguments: [9, 12, 19, 25, 255] as [UInt8])
  func `a format that nobody knows is refused`(format: UInt8) throws {
    let bytes = HandMade.file(.int(), format: format) { $0.integers([7]) }
    let error = try #require(try HandMade.error(bytes))
    guard case .unsupportedFormat(Int(format), _) = error else {
      Issue.record(error)
      return
    }
    #expect(error.description.contains("upgrades") == (format == 9))
  }

  @Test(arguments: [10, 11, 20, 21, 22, 23, 24] as [UInt8])
  func `a format that is known is read`(format: UInt8) throws {
    let bytes = HandMade.file(.int(), format: format) { $0.integers([7]) }
    #expect(try HandMade.values(bytes) == [.int(7)])
  }

  @Test func `a root beyond the file is an error`() throws {
    let bytes = HandMade.file(.int()) { $0.integers([7]) }
    for root in [Int64(bytes.count), 1 << 40, .min, 4, 8, 16, 20] {
      let spoiled = FileBuilder.withHeader(bytes, root: root, format: 24)
      #expect(try HandMade.error(spoiled) != nil)
    }
  }

  @Test(arguments: [8, 16, 25, 1 << 40, .max - 7, .min, -8] as [Int64])
  func `a node beyond the snapshot is damage`(position: Int64) throws {
    var builder = FileBuilder()
    let tree = builder.leaf(count: 1, [position & ~1])
    #expect(try HandMade.error(builder.finish(tree: tree)) != nil)
  }

  @Test func `a node that reaches beyond the snapshot is damage`() throws {
    let bytes = HandMade.file(.int()) {
      $0.node(scheme: 0, width: 64, count: 1 << 20, payload: [])
    }
    try HandMade.expectDamage(bytes, "reaches beyond")
  }

  @Test func `a node of scheme 3 is damage`() throws {
    let bytes = HandMade.file(.int()) {
      $0.node(scheme: 3, width: 8, count: 1, payload: [7])
    }
    try HandMade.expectDamage(bytes, "scheme 3")
  }

  @Test func `damage names class, property and position`() throws {
    let bytes = HandMade.file(.int("age")) { $0.integers([7, 8]) }
    try HandMade.expectDamage(bytes, "A.age: integers number 2 instead of 1 (at byte 24)")
  }

  @Test func `a column without space for its claims is damage`() throws {
    for type in [0, 1, 2, 4, 6, 8, 9, 10, 11, 12, 15, 16, 17] as [Int64] {
      for (flags, scheme) in [(0, 0), (0, 1), (0, 2), (0x40, 0), (0x60, 0)] as [(UInt8, UInt8)] {
        let column = FileBuilder.Column(type: type, attributes: FileBuilder.nullable)
        let bytes = HandMade.file(column) { Self.empty(&$0, flags: flags, scheme: scheme) }
        #expect(try HandMade.error(bytes) != nil, "type \(type), flags \(flags) \(scheme)")
      }
    }
  }

  @Test func `a list without space for its claims is damage`() throws {
    for type in [0, 1, 2, 4, 6, 8, 9, 10, 11, 12, 15, 17] as [Int64] {
      for (flags, scheme) in [(0, 0), (0, 1), (0, 2), (0x40, 0), (0x60, 0)] as [(UInt8, UInt8)] {
        let attributes = FileBuilder.nullable | FileBuilder.list
        let column = FileBuilder.Column(type: type, attributes: attributes)
        let bytes = HandMade.file(column) { builder in
          let list = Self.empty(&builder, flags: flags, scheme: scheme)
          return builder.refs([list])
        }
        #expect(try HandMade.error(bytes) != nil, "type \(type), flags \(flags) \(scheme)")
      }
    }
  }

  @Test func `keys and names without space for their claims are damage`() throws {
    var builder = FileBuilder()
    let column = builder.integers([7])
    let keys = Self.empty(&builder)
    let tree = builder.refs([keys, column])
    try HandMade.expectDamage(builder.finish(tree: tree), "without taking any space")
    builder = FileBuilder()
    let names = Self.empty(&builder, scheme: 1)
    let tables = Self.empty(&builder, flags: 0x40)
    try HandMade.expectDamage(builder.finish(names: names, tables: tables), "take no space")
  }

  @Test func `a property that is optional nowhere has no null`() throws {
    for (type, width, payload) in [
      (1, 8, [3]), (11, 16, [0xAA, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7C]),
      (15, 1, [1] + [UInt8](repeating: 0, count: 12)),
      (17, 1, [1] + [UInt8](repeating: 0, count: 16)),
    ] as [(Int64, Int, [UInt8])] {
      let bytes = HandMade.file(FileBuilder.Column(type: type)) { builder in
        builder.node(
          scheme: type == 1 ? 0 : 1, width: width, count: width == 1 ? payload.count : 1,
          payload: payload)
      }
      try HandMade.expectDamage(bytes, "is null")
    }
  }

  @Test func `a link to a class that does not exist is damage`() throws {
    var builder = FileBuilder()
    let column = builder.integers([1])
    let tree = builder.leaf(count: 1, [column])
    let bytes = builder.finish([FileBuilder.Column(type: 12)], tree: tree, target: 1 << 16)
    try HandMade.expectDamage(bytes, "A.value: it leads to a class that does not exist")
  }
}
