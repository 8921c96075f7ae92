import CambiumCore
import Foundation

extension RealmCollection {
  /// The smallest value of a property; nil when there is none.
  public func min<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: MinMaxType {
    aggregated(.minimum, property)
  }

  /// The greatest value of a property; nil when there is none.
  public func max<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: MinMaxType {
    aggregated(.maximum, property)
  }

  /// The sum of a property; null counts as 0.
  public func sum<T: _HasPersistedType>(ofProperty property: String) -> T
  where T.PersistedType: AddableType {
    required(aggregated(.sum, property))
  }

  /// The mean of a property over the elements that have a value; nil when there is none.
  public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: AddableType {
    aggregated(.average, property)
  }

  /// The smallest value of a property; nil when there is none.
  public func min<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: MinMaxType, Element: ObjectBase {
    aggregated(.minimum, _name(for: keyPath))
  }

  /// The greatest value of a property; nil when there is none.
  public func max<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: MinMaxType, Element: ObjectBase {
    aggregated(.maximum, _name(for: keyPath))
  }

  /// The sum of a property; null counts as 0.
  public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T
  where T.PersistedType: AddableType, Element: ObjectBase {
    required(aggregated(.sum, _name(for: keyPath)))
  }

  /// The mean of a property over the elements that have a value; nil when there is none.
  public func average<T: _HasPersistedType, S: _HasPersistedType>(
    of keyPath: KeyPath<Element, T>
  ) -> S? where T.PersistedType: AddableType, Element: ObjectBase {
    aggregated(.average, _name(for: keyPath))
  }

  /// The smallest value; nil when there is none.
  public func min() -> Element? where Element.PersistedType: MinMaxType {
    aggregated(.minimum, "self")
  }

  /// The greatest value; nil when there is none.
  public func max() -> Element? where Element.PersistedType: MinMaxType {
    aggregated(.maximum, "self")
  }

  /// The sum of the values; null counts as 0.
  public func sum() -> Element where Element.PersistedType: AddableType {
    required(aggregated(.sum, "self"))
  }

  /// The mean of the values that are there; nil when there is none.
  public func average<T: _HasPersistedType>() -> T? where Element.PersistedType: AddableType {
    aggregated(.average, "self")
  }

  private func required<T>(_ value: T?) -> T {
    guard let value else { fatalError("A sum of '\(Element.self)' has no value.") }
    return value
  }

  private func aggregated<T>(_ operation: QueryPath.Aggregate, _ property: String) -> T? {
    if let list = self as? List<Element>, list.state == nil {
      return PlainAggregate.run(operation, property, list.allElements())
    }
    let result = queryCore().aggregated(operation, property)
    return PlainAggregate.converted(result)
  }
}

extension ResultsCore {
  /// Computes a number from a property of the objects, or from the values; nil for none.
  func aggregated(_ operation: QueryPath.Aggregate, _ name: String) -> Any? {
    verify()
    guard let access, let plan else { return aggregatedValues(operation, name) }
    guard let index = access.stored.propertyIndex(name) else {
      fatalError("Invalid property name '\(name)' for class '\(access.stored.name)'.")
    }
    let property = access.description.properties[index].property
    Self.check(operation, property, "property '\(access.stored.name).\(property.name)'")
    realm.session?.settle()
    return realm.reading { () throws(StoreError) in
      let cell: ColumnValue
      if case .all = source {
        cell = try plan.aggregate(operation, of: index, in: realm.view)
      } else {
        cell = try QueryPlan(access.stored).aggregate(
          operation, of: index, among: currentKeys(), in: realm.view)
      }
      return PlainAggregate.value(cell, property.type)
    }
  }

  private func aggregatedValues(_ operation: QueryPath.Aggregate, _ name: String) -> Any? {
    let property = elementProperty
    guard name == "self" else {
      fatalError("Arrays of '\(property.typeText)' can only be aggregated on \"self\"")
    }
    Self.check(operation, property, "array of '\(property.typeText)'")
    let values = currentValues()
    var fold = PlainFold(operation, property.type)
    for index in 0..<values.count { fold.add(PlainAggregate.value(values[index], property.type)) }
    return fold.result
  }

  /// Stops at operations that a property's type does not have.
  static func check(_ operation: QueryPath.Aggregate, _ property: Property, _ label: String) {
    let isNumber: Bool
    switch property.type {
    case .int, .float, .double, .decimal128: isNumber = true
    case .date: isNumber = operation == .minimum || operation == .maximum
    default: isNumber = false
    }
    guard isNumber, !property.isCollection else {
      let name = operation == .average ? "average" : String(operation.rawValue.dropFirst())
      fatalError("Operation '\(name)' not supported for \(property.typeText) \(label)")
    }
  }
}

/// Aggregates over Swift values, for unmanaged lists and lists of values.
enum PlainAggregate {
  static func run<Element: RealmCollectionValue, T>(
    _ operation: QueryPath.Aggregate, _ name: String, _ elements: [Element]
  ) -> T? {
    var property = Property(name: "self", type: .int)
    Element._rlmDescribeElement(&property)
    var type = property.type
    if property.type == .object, let objectType = Element.self as? ObjectBase.Type {
      let description = ClassRegistry.description(of: objectType)
      guard let index = description.propertyIndex(name) else {
        fatalError("Invalid property name '\(name)' for class '\(description.name)'.")
      }
      property = description.properties[index].property
      type = property.type
    }
    ResultsCore.check(operation, property, "property '\(name)'")
    var fold = PlainFold(operation, type)
    for element in elements {
      if let object = element as? ObjectBase {
        fold.add(object.dynamicValue(name))
      } else {
        fold.add(Element._rlmDynamicElement(element))
      }
    }
    return converted(fold.result)
  }

  /// A computed number as the type that was asked for.
  static func converted<T>(_ value: Any?) -> T? {
    guard let value else { return nil }
    if let value = value as? T { return value }
    guard let type = T.self as? any _Persistable.Type else { return nil }
    return convert(value, type) as? T
  }

  private static func convert<P: _Persistable>(_ value: Any, _ type: P.Type) -> Any? {
    P._rlmConvertedValue(value, _ValueConversion(realm: nil, isCopying: false))
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
    case .bytes(let bytes):
      return type == .data ? Data(bytes) : String(decoding: bytes, as: UTF8.self)
    }
  }
}

/// Folds Swift values into a number.
struct PlainFold {
  private let operation: QueryPath.Aggregate
  private let type: PropertyType
  private var count = 0
  private var integer = 0
  private var double = 0.0
  private var decimal = Decimal128()
  private var best: Any?

  init(_ operation: QueryPath.Aggregate, _ type: PropertyType) {
    self.operation = operation
    self.type = type
  }

  mutating func add(_ value: Any?) {
    guard let value else { return }
    count += 1
    switch operation {
    case .minimum, .maximum: keepBest(value)
    default: addUp(value)
    }
  }

  private mutating func addUp(_ value: Any) {
    switch type {
    case .int:
      guard let number = StoredNumber.integer(value) else { return }
      // The documented choice: a sum that does not fit stops instead of giving a wrong number.
      integer += Int(number)
    case .decimal128: if let number = value as? Decimal128 { decimal = decimal + number }
    default: if let number = StoredNumber.double(value) { double += number }
    }
  }

  private mutating func keepBest(_ value: Any) {
    guard let best else {
      self.best = value
      return
    }
    let isLess = Self.isLess(value, best)
    if operation == .minimum ? isLess : Self.isLess(best, value) { self.best = value }
  }

  private static func isLess(_ left: Any, _ right: Any) -> Bool {
    switch (left, right) {
    case (let left as Date, let right as Date): return left < right
    case (let left as Decimal128, let right as Decimal128): return left < right
    default:
      if let left = StoredNumber.integer(left), let right = StoredNumber.integer(right) {
        return left < right
      }
      return (StoredNumber.double(left) ?? .nan) < (StoredNumber.double(right) ?? .nan)
    }
  }

  /// The number; nil when nothing can be computed.
  var result: Any? {
    switch operation {
    case .minimum, .maximum: return best
    case .sum:
      switch type {
      case .int: return integer
      case .float: return Float(double)
      case .decimal128: return decimal
      default: return double
      }
    case .average:
      if count == 0 { return nil }
      switch type {
      case .int: return Double(integer) / Double(count)
      case .decimal128: return decimal / Decimal128(integerLiteral: Int64(count))
      default: return double / Double(count)
      }
    case .count: return count
    }
  }
}
