/// Reading and printing decimal text.
extension DecimalBits {
  /// Reads a number; nil when the text is none.
  ///
  /// Accepted are an optional sign, digits with an optional point and an optional exponent
  /// (`e` or `E`), and, in any case, `inf`, `infinity` and `nan`. Digits beyond the 34th round half
  /// to even; a number too large becomes infinity, one too small zero.
  init?(text: some StringProtocol) {
    var bytes = Array(text.utf8)[...]
    let isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
    if let first = bytes.first,
      first | 0x20 == UInt8(ascii: "i") || first | 0x20 == UInt8(ascii: "n")
    {
      switch String(decoding: bytes, as: UTF8.self).lowercased() {
      case "inf", "infinity": self = .infinity(isNegative: isNegative)
      case "nan": self = .notANumber
      default: return nil
      }
      return
    }
    guard let number = Scan(bytes) else { return nil }
    self = .rounded(
      isNegative: isNegative, WideCoefficient(low: number.coefficient), exponent: number.exponent)
  }

  /// The digits of a number being read: the first 36 exactly, the rest as a trace for rounding.
  private struct Scan {
    var coefficient: UInt128 = 0
    var exponent = 0
    private var kept = 0
    private var hasRest = false

    init?(_ bytes: ArraySlice<UInt8>) {
      var sawDigit = false
      var sawPoint = false
      var rest = bytes
      while let byte = rest.first {
        if byte == UInt8(ascii: "."), !sawPoint {
          sawPoint = true
        } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
          sawDigit = true
          take(UInt128(byte - UInt8(ascii: "0")), isFraction: sawPoint)
        } else {
          break
        }
        rest.removeFirst()
      }
      guard sawDigit else { return nil }
      if let byte = rest.first {
        guard byte | 0x20 == UInt8(ascii: "e"), let power = Self.power(rest.dropFirst()) else {
          return nil
        }
        exponent += power
      }
      if hasRest {
        coefficient = coefficient * 10 + 1
        exponent -= 1
      }
    }

    private mutating func take(_ digit: UInt128, isFraction: Bool) {
      if kept < 36 {
        coefficient = coefficient * 10 + digit
        if coefficient != 0 { kept += 1 }
        if isFraction { exponent -= 1 }
      } else {
        hasRest = hasRest || digit != 0
        if !isFraction { exponent += 1 }
      }
    }

    /// The exponent after `e`, held within a range that any rounding maps to zero or infinity.
    private static func power(_ bytes: ArraySlice<UInt8>) -> Int? {
      var digits = bytes
      let isNegative = digits.first == UInt8(ascii: "-")
      if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
      guard !digits.isEmpty else { return nil }
      var value = 0
      for byte in digits {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        value = min(value * 10 + Int(byte - UInt8(ascii: "0")), 1 << 40)
      }
      return isNegative ? -value : value
    }
  }

  /// The shortest usual text: no trailing zeros in the fraction, scientific notation when the
  /// exponent is positive or the number is below 10^−6.
  var text: String {
    if isNaN { return "NaN" }
    let sign = isNegative ? "-" : ""
    if isInfinite { return sign + "Inf" }
    var coefficient = coefficient
    var exponent = exponent
    guard coefficient != 0 else { return sign + "0" }
    while exponent < 0, coefficient % 10 == 0 {
      coefficient /= 10
      exponent += 1
    }
    let digits = String(coefficient)
    let leading = exponent + digits.utf8.count - 1
    if exponent == 0 { return sign + digits }
    if exponent < 0, leading >= -6 {
      guard leading < 0 else {
        let point = digits.index(digits.startIndex, offsetBy: leading + 1)
        return sign + digits[..<point] + "." + digits[point...]
      }
      return sign + "0." + String(repeating: "0", count: -leading - 1) + digits
    }
    var fraction = digits.dropFirst()
    while fraction.last == "0" { fraction.removeLast() }
    let mantissa = String(digits.prefix(1)) + (fraction.isEmpty ? "" : "." + fraction)
    return sign + mantissa + "E" + String(leading)
  }
}
