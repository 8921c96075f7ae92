import Foundation

/// A stored type whose values queries can order.
public protocol _QueryOrdered {}

/// A stored type whose values queries can compute with.
public protocol _QueryNumeric: _QueryOrdered {}

/// A stored type whose values queries can search for pieces.
public protocol _QueryBinary: _QueryOrdered {}

/// A stored type whose values queries can match with patterns.
public protocol _QueryString: _QueryBinary {}

extension AnyRealmValue: _QueryNumeric {}
extension Int: _QueryNumeric {}
extension Int8: _QueryNumeric {}
extension Int16: _QueryNumeric {}
extension Int32: _QueryNumeric {}
extension Int64: _QueryNumeric {}
extension Float: _QueryNumeric {}
extension Double: _QueryNumeric {}
extension Decimal128: _QueryNumeric {}
extension Date: _QueryNumeric {}
extension String: _QueryString {}
extension Data: _QueryBinary {}
extension Optional: _QueryOrdered where Wrapped: _QueryOrdered {}
extension Optional: _QueryNumeric where Wrapped: _QueryNumeric {}
extension Optional: _QueryBinary where Wrapped: _QueryBinary {}
extension Optional: _QueryString where Wrapped: _QueryString {}
