/// A form of documents with objects.
package enum DocumentFormat: String, CaseIterable, Sendable {
  /// One JSON text: the classes and all objects by class, or an array of objects of one class.
  case json
  /// A JSON text on each line: the classes first and then object after object, or objects of one class.
  case lines
  /// The objects of one class, a record each, with the names of the properties in the first record.
  case csv
}

/// Where a document comes from; it may be read several times.
package struct DocumentSource {
  /// What messages call it.
  package let name: String
  /// How many bytes it has; nil where that is not known.
  package let byteCount: Int?
  private let open: () throws -> () throws -> [UInt8]

  package init(
    name: String, byteCount: Int?, open: @escaping () throws -> () throws -> [UInt8]
  ) {
    (self.name, self.byteCount, self.open) = (name, byteCount, open)
  }

  /// A document in memory.
  package init(_ text: String) {
    self.init(name: "the document", byteCount: text.utf8.count) {
      var rest = Array(text.utf8)
      return {
        defer { rest = [] }
        return rest
      }
    }
  }

  /// Reads it from its beginning: calls give one portion after another, and nothing at the end.
  func read() throws -> () throws -> [UInt8] { try open() }

  /// What form the document has, by what it begins with.
  package func format() throws -> DocumentFormat {
    let next = try open()
    while true {
      let portion = try next()
      if portion.isEmpty { return .csv }
      let marks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
      guard let first = portion.first(where: { !marks.contains($0) }) else { continue }
      switch first {
      case UInt8(ascii: "["): return .json
      // One text or several: both are read alike.
      case UInt8(ascii: "{"): return .lines
      default: return .csv
      }
    }
  }
}
