import Foundation

/// What a program means by `value`: inside of any number of optionals, numbers out of Foundation's
/// boxes; nil for nil and for Foundation's null.
func flattened(_ value: Any?) -> Any? {
  guard let value else { return nil }
  // Only classes are asked whether they are Foundation's: others would be turned into objects.
  let type = type(of: value)
  if type is AnyObject.Type {
    if type is NSNumber.Type, let number = value as? NSNumber { return number.swiftValue }
    return value is NSNull ? nil : value
  }
  guard let type = type as? any AnyOptional.Type else { return value }
  return flattened(type.wrappedAny(value))
}

/// An optional behind `Any`.
protocol AnyOptional {
  /// What is inside of `value`, an optional of this type.
  static func wrappedAny(_ value: Any) -> Any?
}

extension Optional: AnyOptional {
  static func wrappedAny(_ value: Any) -> Any? { (value as? Self).flatMap { $0 } }
}
