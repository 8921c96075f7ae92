import Foundation

/// What a program means by `value`: inside of any number of optionals, numbers out of Foundation's
/// boxes; nil for nil and for Foundation's null.
func flattened(_ value: Any?) -> Any? {
  guard let value else { return nil }
  // Only classes are asked whether they are Foundation's: others would be turned into objects.
  let type = type(of: value)
  // The usual ones, without asking for conformances.
  if type == String.self || type == Int.self || type == Double.self || type == Bool.self
    || type == Date.self
  {
    return value
  }
  if type is AnyObject.Type {
    if type is NSNumber.Type, let number = value as? NSNumber { return number.swiftValue }
    return value is NSNull ? nil : value
  }
  if type == AnyHashable.self { return flattened((value as? AnyHashable)?.base) }
  if type == CGFloat.self { return (value as? CGFloat).map { Double($0) } }
  guard let type = type as? any AnyOptional.Type else { return value }
  return flattened(type.wrappedAny(value))
}

/// `value` as an object of a model class; nil when it is something else.
///
/// Its type is asked first: casting a value of Swift's to a class turns it into an object of Foundation's,
/// a dictionary with all that it holds.
func modelObject(_ value: Any) -> ObjectBase? {
  type(of: value) is ObjectBase.Type ? value as? ObjectBase : nil
}

/// An optional behind `Any`.
protocol AnyOptional {
  /// What is inside of `value`, an optional of this type.
  static func wrappedAny(_ value: Any) -> Any?
}

extension Optional: AnyOptional {
  static func wrappedAny(_ value: Any) -> Any? { (value as? Self).flatMap { $0 } }
}
