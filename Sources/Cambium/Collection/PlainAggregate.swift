import CambiumCore
import Foundation

/// Aggregates over Swift values, for lists without a Realm.
///
/// Pointers: the caller lends the cell's bytes, which the value copies.
enum PlainAggregate {
  static func run<Element: RealmCollectionValue, T>(
    _ operation: QueryPath.Aggregate, _ name: String, _ elements: [Element]
  ) -> T? {
    var property = Property(name: "self", type: .int)
    Element._rlmDescribeElement(&property)
    var type = property.type
    if property.type == .object, let objectType = linkedClass(of: Element.self) {
      let description = ClassRegistry.description(of: objectType)
      guard let index = description.propertyIndex(name) else {
        fatalError("Invalid property name '\(name)' for class '\(description.name)'.")
      }
      property = description.properties[index].property
      type = property.type
    }
    ResultsCore.check(operation, property, "property '\(name)'")
    var fold = NumberFold(operation, type)
    for element in elements {
      let value =
        (element as? ObjectBase).map { $0.dynamicValue(name) }
        ?? Element._rlmDynamicElement(element)
      if type == .any {
        StoredAny(plain: value) { _ in .none }.withCell { fold.add($0) }
      } else {
        fold.add(cell(value))
      }
    }
    return converted(fold.withResult { value($0, type) })
  }

  /// The cell of a number or a date; null for everything else.
  private static func cell(_ value: Any?) -> ColumnValue {
    (flattened(value) as? any _StoredScalar)?._rlmWithScalarCell { $0 } ?? .null
  }

  /// What stands for a number that nobody will see.
  static func zero(_ type: PropertyType) -> Any? {
    switch type {
    case .float: Float(0)
    case .double: Double(0)
    case .decimal128: Decimal128(0)
    case .date: Date(timeIntervalSinceReferenceDate: 0)
    default: 0
    }
  }

  /// A computed number as the type that was asked for; an integer type takes the whole part of a mean.
  ///
  /// Stops when it is no value of that type.
  static func converted<T>(_ value: Any?) -> T? {
    guard let value else { return nil }
    if let value = value as? T { return value }
    if let type = T.self as? any _Persistable.Type, let value = convert(value, type) as? T {
      return value
    }
    fatalError("Could not convert value '\(value)' to type '\(T.self)'.")
  }

  private static func convert<P: _Persistable>(_ value: Any, _ type: P.Type) -> Any? {
    let conversion = _ValueConversion(realm: nil, isCopying: false)
    if let converted = P._rlmConvertedValue(value, conversion) { return converted }
    guard let mean = value as? Double, let whole = Int(exactly: mean.rounded(.towardZero)) else {
      return nil
    }
    return P._rlmConvertedValue(whole, conversion)
  }

  /// A cell as the Swift value that its property type has.
  static func value(_ cell: ColumnValue, _ type: PropertyType) -> Any? {
    switch cell {
    case .null, .tree: return nil
    case .int(let value): return Int(value)
    case .bool(let value): return value
    case .float(let value): return value
    case .double(let value): return value
    case .wide(let low, let high):
      switch type {
      case .date: return StoredDate(low: low, high: high).date
      case .objectId: return ObjectId(low: low, high: high)
      case .UUID: return StoredUUID.value(low: low, high: high)
      default: return Decimal128(bits: DecimalBits(low: low, high: high))
      }
    case .bytes where type == .any:
      guard let stored = StoredAny(cell) else { return nil }
      return stored.plainScalar
    case .bytes(let bytes):
      return unsafe type == .data ? Data(bytes) : String(decoding: bytes, as: UTF8.self)
    }
  }
}
