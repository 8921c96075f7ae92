import Cambium
import CambiumCore
import Foundation

/// Reads the objects of a document into a Realm, in one transaction.
///
/// A document is read up to three times: for the classes that it does not describe, for the objects, and for
/// what leads to others, which have to be there. Memory is taken for a number for each object, not for objects.
package struct Import {
  /// What happens to objects whose primary key is there already.
  package enum Policy: String, CaseIterable, Sendable {
    /// The import ends, and nothing has changed.
    case error
    /// What the document gives is assigned.
    case update
    /// They are left alone.
    case skip
  }

  /// What became of the objects of a class.
  package struct Count: Hashable, Sendable {
    package var created = 0
    package var updated = 0
    package var skipped = 0
  }

  let source: DocumentSource
  let format: DocumentFormat
  /// The class of a document that names none.
  package var className: String?
  /// The primary key of a class that is learnt from the document.
  package var primaryKey: String?
  package var separator: Character = ","
  package var policy = Policy.error
  /// Told what is going on, and how many bytes of it are done; throws to end it.
  package var progress: (_ what: String, _ byteCount: Int) throws -> Void = { _, _ in }

  package init(_ source: DocumentSource, _ format: DocumentFormat? = nil) throws {
    self.source = source
    self.format = try format ?? source.format()
  }

  private func stream() throws -> ObjectStream {
    try ObjectStream(source, format, className: className, separator: separator)
  }

  /// Calls `body` with each object of the document and its place in it; how many there are.
  @discardableResult
  private func forEach(
    _ what: String, _ body: (ObjectStream.Item, Int) throws -> Void
  ) throws -> Int {
    let stream = try stream()
    var place = 0
    while let item = try stream.next() {
      do {
        try body(item, place)
      } catch let error as TransferError {
        throw TransferError("Line \(item.line): \(error).")
      }
      place += 1
      if place & 0xFF == 0 { try progress(what, stream.byteCount) }
    }
    try progress(what, stream.byteCount)
    return place
  }

  // MARK: Classes

  /// The classes of the document's objects that are not among `known`: described by it, or learnt.
  package func newClasses(_ known: [ObjectSchema]) throws -> [ObjectSchema] {
    let names = Set(known.map(\.className))
    let stream = try stream()
    let first = try stream.next()
    if stream.namesClasses {
      for type in stream.types {
        if let there = known.first(where: { $0.className == type.className }) {
          try checkFit(type, there)
        }
      }
      return stream.types.filter { !names.contains($0.className) }
    }
    guard let first, !names.contains(first.className) else { return [] }
    var inference = TypeInference(format)
    try forEach("learning") { item, _ in inference.add(item.members) }
    return [try inference.type(named: first.className, primaryKey: primaryKey)]
  }

  private func checkFit(_ type: ObjectSchema, _ there: ObjectSchema) throws(TransferError) {
    for property in type.properties where !property.isComputed {
      guard let other = there[property.name], other.type == property.type,
        other.isArray == property.isArray, other.isSet == property.isSet,
        other.isMap == property.isMap, other.objectClassName == property.objectClassName
      else {
        throw TransferError(
          "The property '\(type.className).\(property.name)' is not there, or of another type: the document has "
            + "\(ClassDocument.name(of: property.type)).")
      }
    }
  }

  // MARK: Trying

  /// Reads the whole document and checks every value against `classes`; changes nothing.
  ///
  /// Whether primary keys are there already, and what links lead to, shows in an import only.
  package func check(_ classes: [ObjectSchema]) throws -> [String: Count] {
    let decoder = ObjectDecoder(classes)
    var counts: [String: Count] = [:]
    try forEach("checking") { item, _ in
      let type = try type(item, decoder)
      _ = try decoder.values(try cells(item, type), of: type)
      counts[item.className, default: Count()].created += 1
    }
    return counts
  }

  private func type(
    _ item: ObjectStream.Item, _ decoder: ObjectDecoder
  ) throws(TransferError) -> ObjectSchema {
    guard let type = decoder.classes[item.className] else {
      throw TransferError("there is no class '\(item.className)'")
    }
    if type.isEmbedded {
      throw TransferError("objects of '\(type.className)' live inside of others")
    }
    return type
  }

  /// The members of an object without the number of its row; of a CSV file with what its cells stand for.
  private func cells(
    _ item: ObjectStream.Item, _ type: ObjectSchema
  ) throws(TransferError) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    members.reserveCapacity(item.members.count)
    for member in item.members where member.name != "$key" {
      guard format == .csv, let property = type[member.name] else {
        members.append(member)
        continue
      }
      do throws(TransferError) {
        members.append(
          JSONValue.Member(
            member.name, try ObjectDecoder.json(member.value.text, of: property)))
      } catch {
        throw TransferError("'\(type.className).\(member.name)': \(error)")
      }
    }
    return members
  }

  // MARK: Importing

  /// Imports into `realm`, which has the classes, in the transaction that it is in.
  ///
  /// When it throws, the transaction has to be cancelled.
  package func run(in realm: Realm) throws -> [String: Count] {
    var decoder = ObjectDecoder(realm.schema.objectSchema)
    var counts: [String: Count] = [:]
    // The row of each object of the document; nil for one that was left alone.
    var rows: [Int64?] = []
    var rowsByKey: [String: [Int64: Int64]] = [:]
    var hasLinks = false
    try forEach("importing") { item, _ in
      let type = try type(item, decoder)
      let members = try cells(item, type)
      let plain = members.filter { !isLinking($0, type) }
      hasLinks = hasLinks || plain.count < members.count
      let values = try decoder.values(plain, of: type)
      let key = item.members.first { $0.name == "$key" }?.value.integer
      let (row, outcome) = try put(values, type, key, realm)
      rows.append(row)
      counts[type.className, default: Count()][keyPath: outcome] += 1
      if let key, let row {
        rowsByKey[type.className, default: [:]][key] = row
      }
    }
    guard hasLinks else { return counts }
    decoder.find = { [rowsByKey] name, reference throws(TransferError) in
      if let key = reference["$key"]?.integer {
        return (rowsByKey[name]?[key]).flatMap { realm.dynamicObject(ofType: name, rowKey: $0) }
      }
      guard let key = realm.schema[name]?.primaryKeyProperty else { return nil }
      return realm.dynamicObject(
        ofType: name, primaryKey: try ObjectDecoder([]).value(reference, of: key))
    }
    let count = try forEach("linking") { item, place in
      guard place < rows.count, let row = rows[place], let type = decoder.classes[item.className],
        let object = realm.dynamicObject(ofType: item.className, rowKey: row)
      else { return }
      let links = try cells(item, type).filter { isLinking($0, type) }
      guard !links.isEmpty else { return }
      let values = try decoder.values(links, of: type)
      realm.assign(
        type.properties.enumerated().compactMap { index, property in
          values[property.name].map { (index, $0) }
        }, to: object)
    }
    guard count == rows.count else {
      throw TransferError("The document was changed while it was read; import it again.")
    }
    return counts
  }

  /// What a document may ask for: numbers behind are left for objects to come.
  private static let rowKeys: Range<Int64> = 0..<(1 << 48)

  private func isLinking(_ member: JSONValue.Member, _ type: ObjectSchema) -> Bool {
    type[member.name].map(ObjectDecoder.isLinking) ?? false
  }

  private func put(
    _ values: [String: Any], _ type: ObjectSchema, _ rowKey: Int64?, _ realm: Realm
  ) throws(TransferError) -> (row: Int64?, outcome: WritableKeyPath<Count, Int>) {
    if let key = type.primaryKeyProperty {
      guard let value = values[key.name] else {
        throw TransferError(
          "an object of '\(type.className)' has no '\(key.name)', its primary key")
      }
      if let there = realm.dynamicObject(ofType: type.className, primaryKey: value) {
        switch policy {
        case .error:
          throw TransferError(
            "an object of '\(type.className)' with the primary key \(value) is there already; "
              + "'--existing update' or 'skip' goes on")
        case .skip: return (nil, \.skipped)
        case .update:
          realm.dynamicCreate(type.className, value: values, update: .modified)
          return (there.rowKey, \.updated)
        }
      }
    }
    // So that references to it hold, and what compares rows finds it again.
    if type.primaryKeyProperty == nil, let rowKey, Self.rowKeys.contains(rowKey) {
      return (
        realm.dynamicCreate(type.className, value: values, rowKey: rowKey).rowKey, \.created
      )
    }
    return (realm.dynamicCreate(type.className, value: values).rowKey, \.created)
  }
}
