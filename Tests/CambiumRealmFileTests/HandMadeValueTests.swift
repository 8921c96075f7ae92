import CambiumRealmFile
import Foundation
import RealmFileBuilder
import Testing

/// Values that are valid, and that no sample has.
@Suite struct HandMadeValueTests {
  @Test func `texts that many objects share are read in parts, as others are`() throws {
    var builder = FileBuilder()
    let text = String(repeating: "a", count: 63)
    let column = FileBuilder.Column(type: 2, enumeration: builder.texts([text, "b"]))
    let leaf = builder.integers([0, 0, 1, 0])
    let tree = builder.leaf(count: 4, [leaf])
    try Samples.withFile(builder.finish([column], tree: tree)) { path in
      try RealmFile(path: path).forEachLeaf(of: 0) { leaf in
        let all = try leaf.values(of: 0)
        #expect(all == [.string(text), .string(text), .string("b"), .string(text)])
        var (values, partCount) = ([RealmFileValue](), 0)
        while values.count < all.count {
          values += try leaf.values(of: 0, from: values.count, byteLimit: 100)
          partCount += 1
        }
        #expect(values == all)
        #expect(partCount == 2)
      }
    }
  }

  /// Null values that end where they began would let each value between them be the whole blob.
  @Test(arguments: [2, 4] as [Int64])
  func `null values do not hide that others share what they have`(type: Int64) throws {
    for (ends, isSound) in [([4, 4, 8, 8], true), ([4, 0, 4, 0], false), ([8, 0, 8, 8], false)] {
      var builder = FileBuilder()
      let values = builder.refs([
        builder.integers(ends.map { Int64($0) }), builder.blob([97, 97, 97, 0, 98, 98, 98, 0]),
        builder.integers([0, 1, 0, 1]),
      ])
      let tree = builder.leaf(count: 4, [values])
      let column = FileBuilder.Column(type: type, attributes: FileBuilder.nullable)
      let bytes = builder.finish([column], tree: tree)
      if isSound {
        let found = try HandMade.values(bytes)
        #expect(found.count == 4 && found[1] == .null && found[3] == .null && found[0] != found[2])
      } else {
        try HandMade.expectDamage(bytes, "ascend")
      }
    }
  }

  private typealias Column = FileBuilder.Column

  /// A dictionary as formats 21 and 22 have it, with the third column that colliding hashes need.
  private static func olderDictionary(
    _ builder: inout FileBuilder, keys: Int64, descriptors: [Int64]
  ) -> Int64 {
    let values = builder.mixed(descriptors)
    let hashes = builder.integers(descriptors.indices.map { Int64($0 * 1000) })
    let collisions = builder.refs(descriptors.map { _ in 0 })
    return builder.refs([hashes, keys, values, collisions])
  }

  @Test(arguments: [21, 22] as [UInt8])
  func `a dictionary of an older format may have integer keys`(format: UInt8) throws {
    let column = Column(type: 0, attributes: FileBuilder.dictionary, keyType: 0)
    let bytes = HandMade.file(column, format: format) { builder in
      let keys = builder.integers([-5, 300])
      let dictionary = Self.olderDictionary(
        &builder, keys: keys,
        descriptors: [10, 11].map { FileBuilder.descriptor(type: 0, place: 0, $0) })
      return builder.refs([dictionary])
    }
    #expect(
      try HandMade.values(bytes) == [
        .dictionary([.init(key: .int(-5), value: .int(10)), .init(key: .int(300), value: .int(11))])
      ])
  }

  @Test func `a dictionary of an older format may have several levels and string keys`() throws {
    let column = Column(
      type: 0, attributes: FileBuilder.dictionary | FileBuilder.nullable, keyType: 2)
    let bytes = HandMade.file(column, format: 22) { builder in
      var leaves: [Int64] = []
      for name in ["a", "b"] {
        let keys = builder.texts([name])
        leaves.append(Self.olderDictionary(&builder, keys: keys, descriptors: [0]))
      }
      let offsets = builder.integers([0, 1 << 40])
      let tree = builder.refs(
        [offsets, FileBuilder.tag(1), FileBuilder.tag(2)] + leaves, isInner: true)
      return builder.refs([tree])
    }
    #expect(
      try HandMade.values(bytes) == [
        .dictionary([
          .init(key: .string("a"), value: .null), .init(key: .string("b"), value: .null),
        ])
      ])
  }

  @Test func `a dictionary's value of another type than the property's is damage`() throws {
    let column = Column(type: 2, attributes: FileBuilder.dictionary, keyType: 2)
    let bytes = HandMade.file(column) { builder in
      let keys = builder.texts(["a"])
      let values = builder.mixed([FileBuilder.descriptor(type: 0, place: 0, 1)])
      let dictionary = builder.refs([keys, values])
      return builder.refs([dictionary])
    }
    try HandMade.expectDamage(bytes, "not of the property's type")
  }

  @Test func `a list of links of an older format is one of links`() throws {
    let column = Column(type: 13, attributes: FileBuilder.list)
    let bytes = HandMade.file(column, format: 20) { builder in
      // Keys below zero are left out.
      let list = builder.integers([0, -5, -1, 4])
      return builder.refs([list])
    }
    #expect(
      try HandMade.values(bytes) == [.list([.link(class: 0, key: 0), .link(class: 0, key: 4)])])
  }

  @Test func `a text longer than a block is read`() throws {
    let text = String(repeating: "0123456789abcdef", count: 30_000)
    let bytes = HandMade.file(Column(type: 2), count: 2) { builder in
      let blob = builder.blob(Array(text.utf8) + [0])
      return builder.refs([0, blob], context: true)
    }
    // In a property that is not optional, null is the empty text.
    #expect(try HandMade.values(bytes) == [.string(""), .string(text)])
  }

  @Test func `a split value is put together`() throws {
    let column = Column(type: 2, attributes: FileBuilder.list)
    let bytes = HandMade.file(column) { builder in
      let parts = ["one ", "two ", "three"].map { builder.blob(Array($0.utf8)) }
      let value = builder.refs(parts, context: true)
      let list = builder.refs([value], context: true)
      return builder.refs([list])
    }
    #expect(try HandMade.values(bytes) == [.list([.string("one two three")])])
  }

  @Test func `a text that is not UTF-8 is read with replacement and counted`() throws {
    let bytes = HandMade.file(Column(type: 2), count: 2) { builder in
      let bad = builder.blob([0x61, 0xFF, 0x62, 0])
      let good = builder.blob([0x61, 0])
      return builder.refs([bad, good], context: true)
    }
    try Samples.withFile(bytes) { path in
      let file = try RealmFile(path: path)
      try file.forEachLeaf(of: 0) { leaf in
        let values = try leaf.values(of: 0)
        #expect(values == [.string("a\u{FFFD}b"), .string("a")])
      }
      #expect(file.replacedTextCount == 1)
    }
  }

  @Test func `a text without its zero byte is damage`() throws {
    let bytes = HandMade.file(Column(type: 2)) { builder in
      let blob = builder.blob([0x61])
      return builder.refs([blob], context: true)
    }
    try HandMade.expectDamage(bytes, "no zero byte")
  }

  @Test func `enumerated texts are those of the list, and an index beyond it is damage`() throws {
    for index in [1, 2, -1] as [Int64] {
      var builder = FileBuilder()
      let leaf = builder.integers([0, index])
      let texts = builder.texts(["x", "y"])
      let tree = builder.leaf(count: 2, [leaf])
      let bytes = builder.finish([Column(type: 2, enumeration: texts)], tree: tree)
      if index == 1 {
        #expect(try HandMade.values(bytes) == [.string("x"), .string("y")])
      } else {
        try HandMade.expectDamage(bytes, "enumerated")
      }
    }
  }

  @Test func `a link to any class is a mixed value, and null when the class is gone`() throws {
    let bytes = HandMade.file(Column(type: 16, attributes: FileBuilder.nullable), count: 4) {
      $0.integers([1, 8, 0, 0, 2, 8, 1, -7])
    }
    try Samples.withFile(bytes) { path in
      let file = try RealmFile(path: path)
      #expect(file.classes[0].properties[0].type == .mixed)
    }
    #expect(try HandMade.values(bytes) == [.link(class: 0, key: 7), .null, .null, .null])
  }

  @Test func `a mixed link to a class whose key is another one is null`() throws {
    let descriptors = (0..<3).map { FileBuilder.descriptor(type: 16, place: 2, $0) }
    let bytes = HandMade.file(Column(type: 6, attributes: FileBuilder.nullable), count: 3) {
      // The second has the right slot and another counter; the third is unresolved.
      let pairs = $0.integers([0, 3, 1 << 16, 3, 0, -3])
      return $0.mixed(descriptors, pairs: pairs)
    }
    #expect(try HandMade.values(bytes) == [.link(class: 0, key: 3), .null, .null])
  }

  @Test(arguments: [0, 1, 3] as [Int64])
  func `an entry beyond a pool of mixed values is damage`(place: Int64) throws {
    let types: [Int64: [Int64]] = [0: [19, 21], 1: [0, 9, 10], 3: [2, 4, 15, 17, 8, 11, 16]]
    for type in types[place] ?? [] {
      for x in [-1, 1, 1 << 50] as [Int64] {
        let bytes = HandMade.file(Column(type: 6, attributes: FileBuilder.nullable)) { builder in
          let ints = builder.integers([5])
          let pairs = builder.integers([5, 6])
          let strings = builder.texts(["short"])
          return builder.mixed(
            [FileBuilder.descriptor(type: type, place: place, x)], ints: ints, pairs: pairs,
            strings: strings)
        }
        try HandMade.expectDamage(bytes, "a mixed value is number")
      }
    }
  }

  @Test func `decimal numbers keep their exponent when they are widened`() throws {
    let column = Column(type: 11, attributes: FileBuilder.nullable)
    func values(_ width: Int, _ payload: [UInt8], flags: UInt8 = 0) throws -> [RealmFileValue] {
      try HandMade.values(
        HandMade.file(column) {
          $0.node(flags: flags, scheme: 1, width: width, count: 1, payload: payload)
        })
    }
    // 1.50: coefficient 150 and exponent −2, negative.
    let wide = RealmFileValue.decimal(low: 150, high: 1 << 63 | (6176 - 2) << 49)
    let four: UInt32 = 1 << 31 | (101 - 2) << 23 | 150
    let eight: UInt64 = 1 << 63 | (398 - 2) << 53 | 150
    #expect(try values(4, withUnsafeBytes(of: four.littleEndian) { Array($0) }) == [wide])
    #expect(try values(8, withUnsafeBytes(of: eight.littleEndian) { Array($0) }) == [wide])
    #expect(try values(0, []) == [.null])
    #expect(try values(0, [], flags: 0x20) == [.decimal(low: 0, high: 6176 << 49)])
    #expect(try values(4, [0xAA, 0, 0, 0x7C]) == [.null])
  }

  @Test func `an asymmetric class has no objects`() throws {
    let file = try Samples.open("schema-changes")
    let index = try #require(file.classes.firstIndex { $0.kind == .asymmetric })
    #expect(file.classes[index].objectCount == 0)
    #expect(try !file.contains(0, in: index))
    #expect(try file.value(of: 0, of: 0, in: index) == nil)
    try file.forEachLeaf(of: index) { _ in Issue.record("it has objects") }
  }
}
