/// How strings are compared in a query.
public struct StringOptions: OptionSet, Hashable, Sendable {
  /// The options as bits.
  public let rawValue: UInt

  /// Options from bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Upper and lower case letters are the same, by full Unicode case folding.
  public static let caseInsensitive = StringOptions(rawValue: 1)
  /// Letters with and without diacritical marks are the same.
  public static let diacriticInsensitive = StringOptions(rawValue: 2)
}
