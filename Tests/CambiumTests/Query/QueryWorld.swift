import CambiumCore
import Foundation
import TestSupport

@testable import Cambium

/// A value of the model that queries are checked against.
enum ModelValue: Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  case float(Float)
  case double(Double)
  case string(String)
  case data(Data)
  case date(Date)
  case objectId(ObjectId)
  case uuid(UUID)
  case decimal(Decimal128)
  /// A link to the object with that key.
  case link(Int64)
  case list([ModelValue])
}

/// Objects of a few classes, in plain Swift and in a database, with links, lists and indexes.
final class QueryWorld {
  struct Row {
    var key: Int64
    var values: [String: ModelValue]
  }

  let schema: StoredSchema
  /// The objects of each class, by ascending key.
  var rows: [String: [Row]] = [:]

  init() {
    func property(
      _ name: String, _ type: PropertyType, optional: Bool = false, indexed: Bool = false,
      key: Bool = false, list: Bool = false, to target: String? = nil, origin: String? = nil
    ) -> Property {
      var property = Property(name: name, type: type)
      property.isOptional = optional || (type == .object && !list)
      property.isIndexed = indexed
      property.isPrimaryKey = key
      property.isArray = list || origin != nil
      property.objectClassName = target
      property.originPropertyName = origin
      return property
    }
    let person = [
      property("id", .int, key: true), property("age", .int, optional: true),
      property("rank", .int, indexed: true), property("flag", .bool),
      property("maybe", .bool, optional: true), property("score", .double),
      property("ratio", .float, optional: true), property("name", .string, optional: true),
      property("title", .string, indexed: true), property("blob", .data, optional: true),
      property("born", .date, optional: true, indexed: true), property("oid", .objectId),
      property("uuid", .UUID, optional: true), property("amount", .decimal128),
      property("other", .int), property("nick", .string),
      property("friend", .object, to: "Person"), property("dog", .object, to: "Dog"),
      property("dogs", .object, list: true, to: "Dog"),
      property("tags", .string, optional: true, list: true),
      property("numbers", .int, list: true),
      property("admirers", .linkingObjects, to: "Person", origin: "friend"),
    ]
    let dog = [
      property("name", .string), property("weight", .double, optional: true),
      property("age", .int), property("code", .string, optional: true, key: true),
      property("keepers", .linkingObjects, to: "Person", origin: "dogs"),
      property("home", .object, to: "Person"),
    ]
    func stored(_ name: String, _ tableID: UInt32, _ properties: [Property]) -> StoredClass {
      var next: UInt16 = 0
      let columns = properties.map { property -> UInt16 in
        guard !property.isComputed else { return StoredClass.noColumn }
        next += 1
        return next
      }
      return StoredClass(
        objectSchema: ObjectSchema(
          className: name, objectClass: QueryWorld.self, properties: properties),
        tableID: tableID, columns: columns, createdColumn: next + 1)
    }
    schema = StoredSchema([stored("Dog", 7, dog), stored("Person", 9, person)])
  }

  func storedClass(_ name: String) -> StoredClass {
    guard let found = schema[name] else { fatalError("no class \(name)") }
    return found
  }

  func binder() -> QueryBinder {
    QueryBinder(schema: schema) { object in (object as? ModelObject)?.row }
  }

  // MARK: Filling

  static let words = [
    "", "a", "b", "ab", "abc", "Abc", "ABC", "b?", "*", "élan", "Elan", "ELAN", "Über", "uber",
    "x", "xylophone", "long enough to be stored apart from its neighbours", "zz",
  ]

  /// Random objects; a tenth of everything that may be null is.
  func fill(count: Int, using generator: inout SeededGenerator) {
    let dogCount = max(1, count / 3)
    var codes = Array(0..<Int64(dogCount * 3)).shuffled(using: &generator)
    let dogKeys = codes.prefix(dogCount).sorted()
    codes = Array(0..<Int64(count * 2)).map { $0 - Int64(count) }.shuffled(using: &generator)
    let personKeys = codes.prefix(count).sorted()
    rows["Dog"] = dogKeys.map { key in
      Row(key: key, values: values("Dog", key, dogKeys, personKeys, &generator))
    }
    rows["Person"] = personKeys.map { key in
      Row(key: key, values: values("Person", key, dogKeys, personKeys, &generator))
    }
  }

  private func values(
    _ name: String, _ key: Int64, _ dogs: [Int64], _ persons: [Int64],
    _ generator: inout SeededGenerator
  ) -> [String: ModelValue] {
    var values: [String: ModelValue] = [:]
    for property in storedClass(name).objectSchema.allProperties where !property.isComputed {
      func link(_ generator: inout SeededGenerator) -> ModelValue {
        let keys = property.objectClassName == "Dog" ? dogs : persons
        return .link(keys.randomElement(using: &generator) ?? 0)
      }
      if property.isArray {
        let longest = Int.random(in: 0..<20, using: &generator) == 0 ? 300 : 4
        let count = Int.random(in: 0...longest, using: &generator)
        values[property.name] = .list(
          (0..<count).map { _ in
            if property.type == .object { return link(&generator) }
            if property.isOptional, Int.random(in: 0..<8, using: &generator) == 0 { return .null }
            return Self.random(property.type, using: &generator)
          })
      } else if property.isOptional, Int.random(in: 0..<6, using: &generator) == 0 {
        values[property.name] = .null
      } else if property.type == .object {
        values[property.name] = link(&generator)
      } else if property.isPrimaryKey {
        values[property.name] = property.type == .int ? .int(key) : .string("code\(key)")
      } else {
        values[property.name] = Self.random(property.type, using: &generator)
      }
    }
    return values
  }

  /// A random value from a small choice, so that equal ones are common.
  static func random(
    _ type: PropertyType, using generator: inout SeededGenerator
  ) -> ModelValue {
    let small = Int.random(in: -4...4, using: &generator)
    switch type {
    case .int:
      let wide = Int.random(in: 0..<30, using: &generator) == 0
      return .int(wide ? [.min, .max, 1 << 40][small & 1 + (small & 2) / 2] : Int64(small))
    case .bool: return .bool(small > 0)
    case .float:
      return .float([Float.nan, .infinity, 0.1, -0.0][small & 3] + Float(small) / 2)
    case .double:
      return .double(small == 4 ? .nan : small == -4 ? -.infinity : Double(small) / 4)
    case .string: return .string(words.randomElement(using: &generator) ?? "")
    case .data: return .data(Data((words.randomElement(using: &generator) ?? "").utf8))
    case .date: return .date(Date(timeIntervalSince1970: Double(small) * 1e8 + 0.25))
    case .objectId: return .objectId(ObjectId(head: 1 << 40, tail: UInt32(small + 10)))
    case .UUID:
      return .uuid(
        StoredUUID.value(low: 5, high: UInt64(bitPattern: Int64(small)) &* 0x1000_0000_0000_0001))
    case .decimal128:
      let texts = ["NaN", "1.0", "1", "-2.50", "1E20", "0.1", "-0", "Infinity", "7"]
      return .decimal((try? Decimal128(string: texts[small + 4])) ?? 0)
    case .object, .linkingObjects, .any: return .null
    }
  }

  // MARK: Storing

  /// Writes everything into a new database and returns a view of it.
  func store() throws -> Snapshot {
    let database = try Database(store: HeapStore())
    let transaction = try database.beginWrite()
    for storedClass in schema.classes {
      try store(storedClass, in: transaction)
    }
    return try transaction.commit()
  }

  private func store(_ storedClass: StoredClass, in transaction: Transaction) throws {
    let properties = storedClass.objectSchema.allProperties
    var descriptors: [ColumnDescriptor] = []
    for (property, id) in zip(properties, storedClass.columns) where !property.isComputed {
      descriptors.append(
        ColumnDescriptor(
          id: id, type: property.columnType, isNullable: property.isColumnNullable,
          name: property.columnName))
    }
    let editor = try transaction.createTable(storedClass.tableName, columns: descriptors)
    precondition(editor.record.columns.map(\.id) == descriptors.map(\.id))
    for row in rows[storedClass.name] ?? [] {
      var holders: [AnyObject] = []
      var cells: [(column: UInt16, value: ColumnValue)] = []
      for (index, property) in properties.enumerated() where !property.isComputed {
        let value = row.values[property.name] ?? .null
        let column = storedClass.columns[index]
        let cell = try self.cell(value, property, in: transaction, &holders)
        cells.append((column, cell))
        try storeIndex(storedClass, index, cell, row.key, in: transaction)
        try storeBacklinks(storedClass, index, value, row.key, in: transaction)
      }
      try editor.insert(key: row.key, values: cells)
      withExtendedLifetime(holders) {}
    }
  }

  private func storeIndex(
    _ storedClass: StoredClass, _ index: Int, _ cell: ColumnValue, _ key: Int64,
    in transaction: Transaction
  ) throws {
    let property = storedClass.objectSchema.allProperties[index]
    guard StoredProperty(property).hasIndex else { return }
    let isSigned = property.type == .date
    guard let form = IndexKey.form(of: cell, isSigned: isSigned) else { return }
    let editor = try transaction.editKeyTree(storedClass.indexName(index))
    try editor.set(IndexKey.key(form, key), [])
  }

  private func storeBacklinks(
    _ storedClass: StoredClass, _ index: Int, _ value: ModelValue, _ key: Int64,
    in transaction: Transaction
  ) throws {
    guard let target = storedClass.objectSchema.allProperties[index].objectClassName else { return }
    var links: [ModelValue] = [value]
    if case .list(let elements) = value { links = elements }
    let editor = try BacklinkEditor(transaction, toClass: target)
    for case .link(let linked) in links {
      try editor.add(
        Backlink(
          target: linked, table: storedClass.tableID, column: storedClass.columns[index],
          source: key))
    }
    try editor.settle()
  }

  private func cell(
    _ value: ModelValue, _ property: Property, in transaction: Transaction,
    _ holders: inout [AnyObject]
  ) throws -> ColumnValue {
    func bytes(_ content: some Collection<UInt8>) -> ColumnValue {
      let holder = NSData(data: Data(content))
      holders.append(holder)
      return .bytes(UnsafeRawBufferPointer(start: holder.bytes, count: holder.length))
    }
    switch value {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .int(let value), .link(let value): return .int(value)
    case .float(let value): return .float(value)
    case .double(let value): return .double(value)
    case .string(let value): return bytes(value.utf8)
    case .data(let value): return bytes(value)
    case .date(let value):
      let words = StoredDate(value).wide
      return .wide(low: words.low, high: words.high)
    case .objectId(let value): return .wide(low: value.wide.low, high: value.wide.high)
    case .uuid(let value):
      let words = StoredUUID.wide(value)
      return .wide(low: words.low, high: words.high)
    case .decimal(let value): return .wide(low: value.bits.low, high: value.bits.high)
    case .list(let elements):
      var cells: [ColumnValue] = []
      for element in elements {
        cells.append(try cell(element, property, in: transaction, &holders))
      }
      if let form = StoredList.form(cells, property.elementColumnType) { return bytes(form) }
      return .tree(try listTree(cells, property, in: transaction))
    }
  }

  private func listTree(
    _ cells: [ColumnValue], _ property: Property, in transaction: Transaction
  ) throws -> TreeRoot {
    let layout = ColumnLayout([
      ColumnSpec(
        id: StoredList.elementColumn, type: property.elementColumnType,
        isNullable: property.isOptional)
    ])
    let editor = ColumnTreeEditor(
      root: .empty(.position), layout: layout, context: transaction.context)
    for (index, cell) in cells.enumerated() {
      try withUnsafePointer(to: cell) { pointer in
        try editor.insert(at: index, values: UnsafeBufferPointer(start: pointer, count: 1))
      }
    }
    return try editor.flush()
  }
}

/// What tests put into queries as an object.
final class ModelObject {
  let row: QueryObject

  init(_ className: String, _ key: Int64?) { row = QueryObject(className: className, key: key) }
}
