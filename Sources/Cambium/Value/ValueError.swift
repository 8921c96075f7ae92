/// Text that does not denote a value of its type.
public enum ValueError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is not an object identifier.
  case invalidObjectId(String)
  /// The text is not a decimal number.
  case invalidDecimal(String)

  /// What is wrong, and what would be right.
  public var description: String {
    switch self {
    case .invalidObjectId(let text):
      "Invalid Object ID string '\(text)': must be 24 hex digits"
    case .invalidDecimal(let text):
      "Invalid decimal number '\(text)': digits with an optional sign, point and exponent"
    }
  }
}
