import Foundation

// Who reads a property by its name does not know its width. A number in Foundation's box casts to each
// type that holds it: `object["age"] as? Int` serves properties of all integer types.

// Pointers: the name of the box's type is a text that is copied while the box is there.
extension NSNumber {
  /// `value` as reading by name returns it: numbers and truth values boxed, all else as it is.
  static func boxing(_ value: Any?) -> Any? {
    switch value {
    case let value as Bool: NSNumber(value: value)
    case let value as Int: NSNumber(value: value)
    case let value as Int64: NSNumber(value: value)
    case let value as Int32: NSNumber(value: value)
    case let value as Int16: NSNumber(value: value)
    case let value as Int8: NSNumber(value: value)
    case let value as Double: NSNumber(value: value)
    case let value as Float: NSNumber(value: value)
    default: value
    }
  }

  /// The number as Swift code would write it.
  var swiftValue: Any {
    if let decimal = self as? NSDecimalNumber { return decimal.decimalValue }
    // There is one box for each truth value, which no number shares.
    if self === NSNumber(value: true) { return true }
    if self === NSNumber(value: false) { return false }
    return switch unsafe String(cString: objCType) {
    case "f": floatValue
    case "d": doubleValue
    case "Q": uint64Value
    default: intValue
    }
  }
}
