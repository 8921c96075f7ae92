import CambiumCore
import Foundation

/// What a property of an object holds, as it is stored: for tools, which know no types of properties.
///
/// Links are the numbers of a class's table and of a row, ``StoredAny/link(_:)``; see
/// ``Realm/className(ofTable:)``.
package enum StoredContent: Hashable, Sendable {
  /// One value; nothing for null.
  case value(StoredAny)
  /// The elements of a list, or of a set in the order of its elements.
  case elements([StoredAny])
  /// The entries of a map, in the order of their keys.
  case entries([StoredAny.Entry])
}

extension ObjectBase {
  /// What the stored property at `index` of its class holds; of a collection only the elements at `bounds`,
  /// where they are given.
  ///
  /// Called in the Realm's context, of managed objects only; stops when the object is gone.
  package final func storedContent(
    at index: Int, elements bounds: Range<Int>? = nil
  ) -> StoredContent {
    let access = classAccess
    let property = access.description.properties[index].property
    let target = access.targets[index].map { unsafe access.realm.classes[$0].stored.tableID } ?? 0
    requireRow(access)
    guard property.isCollection else {
      return unsafe .value(
        access.realm.withCell(access, key, index) { StoredAny($0, of: property.type, target) })
    }
    return ManagedCollection(self, index).withElements { elements throws(StoreError) in
      var values: [StoredAny] = []
      var keys: [[UInt8]] = []
      if let bounds {
        for position in bounds.clamped(to: 0..<elements.count) {
          values.append(
            try elements.withElement(at: position) { StoredAny($0, of: property.type, target) })
          if property.isMap {
            unsafe keys.append(try elements.withKey(at: position) { unsafe Array($0) })
          }
        }
      } else {
        values.reserveCapacity(elements.count)
        try elements.forEach { cell throws(StoreError) in
          values.append(StoredAny(cell, of: property.type, target))
        }
        if property.isMap {
          try unsafe elements.forEachKey { key, _ in
            unsafe keys.append(Array(key))
            return true
          }
        }
      }
      guard property.isMap else { return .elements(values) }
      return .entries(zip(keys, values).map { StoredAny.Entry(key: $0, value: $1) })
    }
  }

  /// How many elements the collection at `index` of its class has.
  ///
  /// Called as ``storedContent(at:elements:)``.
  package final func elementCount(at index: Int) -> Int {
    requireRow(classAccess)
    return ManagedCollection(self, index).withElements { elements in elements.count }
  }
}

extension StoredAny {
  /// What a cell of a property holds; nothing when it breaks the format.
  ///
  /// `target` is the table that a link leads to.
  init(_ cell: ColumnValue, of type: PropertyType, _ target: UInt32) {
    switch (cell, type) {
    case (_, .any): self = StoredAny(cell) ?? .none
    case (.int(let value), .object): self = .link(StoredAnyLink(table: target, key: value))
    case (.int(let value), _): self = .int(value)
    case (.bool(let value), _): self = .bool(value)
    case (.float(let value), _): self = .float(value)
    case (.double(let value), _): self = .double(value)
    case (.bytes(let bytes), .data): self = unsafe .data(Array(bytes))
    case (.bytes(let bytes), _): self = unsafe .string(Array(bytes))
    case (.wide(let low, let high), .date): self = .date(StoredDate(low: low, high: high))
    case (.wide(let low, let high), .decimal128): self = .decimal(DecimalBits(low: low, high: high))
    case (.wide(let low, let high), .objectId): self = .objectId(low: low, high: high)
    case (.wide(let low, let high), _): self = .uuid(low: low, high: high)
    case (.null, _), (.tree, _): self = .none
    }
  }

  /// The identifier's text; empty for other values.
  package var identifierText: String {
    switch self {
    case .objectId(let low, let high): ObjectId(low: low, high: high).stringValue
    case .uuid(let low, let high): StoredUUID.value(low: low, high: high).uuidString
    case .decimal(let bits): Decimal128(bits: bits).description
    default: ""
    }
  }
}

extension Realm {
  /// The number of the version that is seen.
  package var version: UInt64 { instance.currentSnapshot.version }

  /// The class whose objects lie in the table with that number; nil when this Realm has none.
  package func className(ofTable table: UInt32) -> String? {
    instance.access(ofTable: table)?.stored.name
  }

  /// The objects of one class that link to `object` by one property, each as often as it links.
  package func rowKeys(
    linkingTo object: DynamicObject, from typeName: String, by property: String
  ) -> [Int64] {
    let origin = instance.requiredAccess(named: typeName)
    guard let index = origin.description.propertyIndex(property) else { return [] }
    let source = LinkingSource(
      target: object.managedRow(in: object.classAccess), originClass: origin.index,
      originProperty: index)
    unsafe instance.session?.settle()
    return instance.reading { () throws(StoreError) in try source.keys(.max) }
  }
}
