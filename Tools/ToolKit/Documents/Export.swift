import Cambium
import Foundation

/// Writes the objects of a Realm as a document that ``Import`` reads without loss.
///
/// Belongs to its Realm's context.
package struct Export {
  private let realm: Realm
  private let encoder: ObjectEncoder
  private let types: [ObjectSchema]
  /// Takes the document, portion by portion.
  private let write: ([UInt8]) throws -> Void
  /// Told how many objects are done; throws to end it.
  package var progress: (_ objectCount: Int) throws -> Void = { _ in }

  private static let portionByteCount = 1 << 16

  /// An export of the classes with those names, or of all.
  ///
  /// - Throws: `TransferError` when there is no such class.
  package init(
    _ realm: Realm, classes names: [String], _ write: @escaping ([UInt8]) throws -> Void
  ) throws(TransferError) {
    (self.realm, self.write) = (realm, write)
    encoder = ObjectEncoder(realm)
    if let unknown = names.first(where: { realm.schema[$0] == nil }) {
      throw TransferError("There is no class '\(unknown)'.")
    }
    if let embedded = names.first(where: { realm.schema[$0]?.isEmbedded == true }) {
      throw TransferError("Objects of '\(embedded)' live inside of others, and come with them.")
    }
    types = realm.schema.objectSchema.filter { names.isEmpty || names.contains($0.className) }
  }

  /// How many objects it writes.
  package var objectCount: Int {
    roots.reduce(0) { $0 + realm.dynamicObjects($1.className).count }
  }

  private var roots: [ObjectSchema] { types.filter { !$0.isEmbedded } }

  /// Classes that the objects need, with those that live in them or are linked to.
  private var described: [ObjectSchema] {
    var names = Set(types.map(\.className))
    var open = Array(names)
    while let name = open.popLast() {
      for property in realm.schema[name]?.properties ?? [] {
        if let target = property.objectClassName, names.insert(target).inserted {
          open.append(target)
        }
      }
    }
    return realm.schema.objectSchema.filter { names.contains($0.className) }
  }

  // MARK: JSON

  /// One JSON text.
  package func writeJSON() throws {
    var portion = Portion(write)
    portion.append("{\"cambium\": 1, \"classes\": [")
    for (place, type) in described.enumerated() {
      portion.append(place == 0 ? "\n  " : ",\n  ")
      portion.append(ClassDocument.json(type))
    }
    portion.append("\n], \"objects\": {")
    var count = 0
    for (place, type) in roots.enumerated() {
      portion.append(place == 0 ? "\n" : ",\n")
      portion.append(.string(type.className))
      portion.append(": [")
      for (place, object) in realm.dynamicObjects(type.className).enumerated() {
        portion.append(place == 0 ? "\n  " : ",\n  ")
        portion.append(encoder.document(object))
        try note(&count, &portion)
      }
      portion.append("\n]")
    }
    portion.append("\n}}\n")
    try portion.flush()
    try progress(count)
  }

  /// A JSON text on each line.
  package func writeLines() throws {
    var portion = Portion(write)
    portion.append(
      .object([
        JSONValue.Member("cambium", .integer(1)),
        JSONValue.Member("classes", .array(described.map(ClassDocument.json))),
      ]))
    portion.append("\n")
    var count = 0
    for type in roots {
      for object in realm.dynamicObjects(type.className) {
        portion.append(
          .object([
            JSONValue.Member("class", .string(type.className)),
            JSONValue.Member("object", encoder.document(object)),
          ]))
        portion.append("\n")
        try note(&count, &portion)
      }
    }
    try portion.flush()
    try progress(count)
  }

  // MARK: CSV

  /// The objects of the only class, a record each.
  package func writeCSV() throws {
    guard roots.count == 1, let type = roots.first else {
      throw TransferError(
        "A CSV file holds one class; name it with --class: "
          + roots.map(\.className).joined(separator: ", ") + ".")
    }
    let columns = ColumnPath.all(of: type)
    var portion = Portion(write)
    portion.append(CSVWriter.record(columns.map(\.text)) + "\r\n")
    var count = 0
    for object in realm.dynamicObjects(type.className) {
      portion.append(
        CSVWriter.record(columns.map { $0.value(of: object, encoder).csvField }) + "\r\n")
      try note(&count, &portion)
    }
    try portion.flush()
    try progress(count)
  }

  private func note(_ count: inout Int, _ portion: inout Portion) throws {
    count += 1
    if portion.bytes.count >= Self.portionByteCount { try portion.flush() }
    if count & 0x3FF == 0 { try progress(count) }
  }

  /// What was not written yet.
  private struct Portion {
    var bytes: [UInt8] = []
    private let write: ([UInt8]) throws -> Void

    init(_ write: @escaping ([UInt8]) throws -> Void) { self.write = write }

    mutating func append(_ text: String) { bytes += text.utf8 }

    mutating func append(_ json: JSONValue) { json.write(to: &bytes, indent: nil) }

    mutating func flush() throws {
      guard !bytes.isEmpty else { return }
      try write(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
  }
}
