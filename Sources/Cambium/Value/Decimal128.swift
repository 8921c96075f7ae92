import Foundation
import Synchronization

/// A decimal floating-point number of IEEE 754-2008 with 34 digits.
///
/// Sums, differences, products and quotients are exact up to one rounding (half to even). Equality
/// is by value (`1.0 == 1`), NaN equals itself and orders below every number. Instances may be
/// used from any thread; only ``negate()`` changes one.
public final class Decimal128: Sendable {
  private let low: UInt64
  // The half with the sign, which may change.
  private let high: Atomic<UInt64>

  /// Takes a stored form.
  package init(bits: DecimalBits) {
    low = bits.low
    high = Atomic(bits.high)
  }

  /// The stored form.
  package var bits: DecimalBits { DecimalBits(low: low, high: high.load(ordering: .relaxed)) }

  /// Changes the number's sign, in this very instance.
  ///
  /// A managed property gives a new instance at each reading: to change it, assign it.
  public func negate() { high.bitwiseXor(DecimalBits.signBit, ordering: .relaxed) }

  /// The number zero.
  public convenience init() { self.init(bits: .zero) }

  /// Reads a number from text; text that is not a number gives NaN.
  ///
  /// Digits beyond the 34th round half to even. Use `init(validating:)` to have bad text reported.
  public convenience init(string: String) throws {
    self.init(bits: DecimalBits(text: string) ?? .notANumber)
  }

  /// Reads a number from text.
  ///
  /// - Throws: `Realm.Error.invalidInput` when the text is not a number.
  public convenience init(validating string: String) throws {
    guard let bits = DecimalBits(text: string) else {
      throw RLMError(
        .invalidInput,
        "Invalid decimal number '\(string)': must be digits with an optional sign, point and "
          + "exponent")
    }
    self.init(bits: bits)
  }

  /// Converts a number, a `Bool` or text; whatever is none of these gives NaN.
  ///
  /// Binary floating-point numbers become the shortest decimal number that reads back as the same.
  public convenience init(value: Any) {
    self.init(bits: DecimalBits(converting: value) ?? .notANumber)
  }

  /// Converts a Foundation number.
  public convenience init(number: NSNumber) {
    self.init(bits: DecimalBits(text: number.stringValue) ?? .notANumber)
  }

  /// An integer without rounding; nil when it has more than 34 significant digits.
  public convenience init?(exactly source: some BinaryInteger) {
    guard let bits = DecimalBits(exactly: source) else { return nil }
    self.init(bits: bits)
  }

  /// The smallest number, −9.999999999999999999999999999999999E6144.
  public static var min: Decimal128 { Decimal128(bits: largest.negated) }

  /// The largest number, 9.999999999999999999999999999999999E6144.
  public static var max: Decimal128 { Decimal128(bits: largest) }

  private static var largest: DecimalBits {
    DecimalBits(
      isNegative: false, coefficient: DecimalBits.coefficientLimit - 1,
      exponent: DecimalBits.largestExponent)
  }

  /// Whether the value is not a number.
  public var isNaN: Bool { bits.isNaN }

  /// The same as `isNaN`.
  public var isSignaling: Bool { isNaN }

  /// The same as `isNaN`.
  public var isSignalingNaN: Bool { isNaN }
}

extension Decimal128: Comparable, Hashable, CustomStringConvertible {
  /// Whether both have the same value; NaN equals NaN.
  public static func == (lhs: Decimal128, rhs: Decimal128) -> Bool { lhs.bits == rhs.bits }

  /// Compares by value; NaN is below every number.
  public static func < (lhs: Decimal128, rhs: Decimal128) -> Bool { lhs.bits < rhs.bits }

  /// Feeds the value, so that equal numbers with different exponents hash alike.
  public func hash(into hasher: inout Hasher) { bits.hash(into: &hasher) }

  /// The same as `stringValue`.
  public var description: String { stringValue }

  /// The number as text without trailing zeros in its fraction.
  ///
  /// Numbers with a positive exponent or below 10⁻⁶ use scientific notation (`1E3`).
  public var stringValue: String { bits.text }
}
