import CambiumRealmFile
import Foundation
import RealmFileBuilder
import Testing

/// Reads files that a test made.
enum HandMade {
  /// The error that reading all of a file gives; nil for none.
  static func error(_ bytes: [UInt8]) throws -> RealmFileError? {
    try Samples.withFile(bytes) { try ContentCheck.read($0) }
  }

  /// Expects damage whose description has `words` in it.
  static func expectDamage(
    _ bytes: [UInt8], _ words: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let error = try error(bytes)
    guard case .damaged(let damage, _)? = error else {
      Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
      return
    }
    #expect(damage.description.contains(words), sourceLocation: sourceLocation)
  }

  /// All values of the first property of the first class.
  static func values(_ bytes: [UInt8]) throws -> [RealmFileValue] {
    try Samples.withFile(bytes) { path in
      let misfit = try ContentCheck.read(path)
      #expect(misfit == nil)
      var values: [RealmFileValue] = []
      try RealmFile(path: path).forEachLeaf(of: 0) { values += try $0.values(of: 0) }
      return values
    }
  }

  /// A file of one property and one object, whose column's leaf `make` writes.
  static func file(
    _ column: FileBuilder.Column, count: Int64 = 1, format: UInt8 = 24,
    _ make: (inout FileBuilder) -> Int64
  ) -> [UInt8] {
    var builder = FileBuilder()
    let leaf = make(&builder)
    let tree = builder.leaf(count: count, [leaf])
    return builder.finish([column], tree: tree, format: format)
  }
}
