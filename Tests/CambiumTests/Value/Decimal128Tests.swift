import Foundation
import TestSupport
import Testing

@testable import Cambium

struct Decimal128Tests {
  @Test(arguments: 0..<8)
  func `arithmetic and order agree with arithmetic on digits`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      let left = ReferenceDecimal.random(using: &generator)
      let right = ReferenceDecimal.random(using: &generator)
      let (a, b) = (try Decimal128(validating: left.text), try Decimal128(validating: right.text))
      #expect(try a + b == Decimal128(validating: #require((left + right).rounded).text))
      #expect(try a * b == Decimal128(validating: #require((left * right).rounded).text))
      if !right.digits.isEmpty {
        #expect(
          try a / b == Decimal128(validating: #require((left / right).rounded).text),
          "\(left.text) / \(right.text)")
      }
      let order = ReferenceDecimal.compare(left, right)
      #expect(DecimalBits.compare(a.bits, b.bits).signum() == order)
      let keyOrder =
        a.bits.orderedKey == b.bits.orderedKey
        ? 0 : a.bits.orderedKey.lexicographicallyPrecedes(b.bits.orderedKey) ? -1 : 1
      #expect(keyOrder == order)
      if order == 0 { #expect(a.hashValue == b.hashValue) }
    }
  }

  @Test(arguments: 0..<4)
  func `algebra holds where no digit is lost`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let integers = (0..<3).map { _ in Int64.random(in: -999_999...999_999, using: &generator) }
      let (a, b, c) = (
        Decimal128(integerLiteral: integers[0]), Decimal128(integerLiteral: integers[1]),
        Decimal128(integerLiteral: integers[2])
      )
      #expect((a + b) + c == a + (b + c))
      #expect(a * (b + c) == a * b + a * c)
      #expect(a - b == -(b - a))
      #expect(a * b == b * a)
      if integers[1] != 0 { #expect((a * b) / b == a) }
      #expect((a * b).stringValue == String(integers[0] * integers[1]))
    }
  }

  @Test(arguments: [
    ("1", "1"), ("1.0", "1"), ("1.50", "1.5"), ("-0.00", "-0"), ("100", "100"), ("1E3", "1E3"),
    ("1.25e10", "1.25E10"), ("0.000001", "0.000001"), ("0.0000001", "1E-7"), ("1e-7000", "0"),
    ("1e7000", "Inf"), ("-1e7000", "-Inf"), ("inf", "Inf"), ("-Infinity", "-Inf"), ("nAn", "NaN"),
    ("apple", "NaN"), ("", "NaN"), ("1e", "NaN"), ("1.2.3", "NaN"), (".5", "0.5"), ("5.", "5"),
    ("12345678901234567890123456789012345", "1.234567890123456789012345678901234E34"),
    ("12345678901234567890123456789012355", "1.234567890123456789012345678901236E34"),
    (
      "123456789012345678901234567890123450000000000000001",
      "1.234567890123456789012345678901235E50"
    ),
    ("9999999999999999999999999999999999.5", "1E34"),
    ("1E-6176", "1E-6176"), ("4.9E-6177", "0"), ("5E-6177", "0"), ("5.1E-6177", "1E-6176"),
    ("9.5E-6176", "1E-6175"), ("1E6144", "1E6144"),
  ])
  func `text is read and printed`(text: String, printed: String) throws {
    #expect(try Decimal128(string: text).stringValue == printed)
  }

  @Test(
    arguments: [
      ("1", 0x3040_0000_0000_0000, 1), ("-1", 0xB040_0000_0000_0000, 1),
      ("0.1", 0x303E_0000_0000_0000, 1), ("Infinity", 0x7800_0000_0000_0000, 0),
      ("9999999999999999999999999999999999", 0x3041_ED09_BEAD_87C0, 0x378D_8E63_FFFF_FFFF),
      ("9.999999999999999999999999999999999E+6144", 0x5FFF_ED09_BEAD_87C0, 0x378D_8E63_FFFF_FFFF),
      ("1E-6176", 0, 1),
    ] as [(String, UInt64, UInt64)])
  func `the stored form is the standard's`(text: String, high: UInt64, low: UInt64) throws {
    let value = try Decimal128(validating: text)
    #expect(value.bits.high == high)
    #expect(value.bits.low == low)
    #expect(Decimal128(bits: DecimalBits(low: low, high: high)) == value)
  }

  @Test func `special values follow their rules`() throws {
    let infinity = try Decimal128(validating: "Infinity")
    let nan = try Decimal128(validating: "NaN")
    #expect((infinity - infinity).isNaN && (infinity * 0).isNaN && (infinity / infinity).isNaN)
    #expect((0 as Decimal128) / 0 == nan && nan.isSignaling && nan.isSignalingNaN)
    #expect((1 as Decimal128) / 0 == infinity && (-1 as Decimal128) / 0 == -infinity)
    #expect(1 / infinity == 0 && infinity + 1 == infinity)
    #expect(nan < Decimal128.min && nan < -infinity && -infinity < Decimal128.min)
    #expect(Decimal128.max * 2 == infinity && Decimal128.max < infinity)
    #expect(nan + 1 == nan && nan == nan && nan.hashValue == (nan * 2).hashValue)
    #expect(try Decimal128(validating: "-0") == 0)
    let error = #expect(throws: Realm.Error.self) { try Decimal128(validating: "12a") }
    #expect(error?.code == .invalidInput)
    #expect(error?.localizedDescription.contains("Invalid decimal number '12a'") == true)
  }

  @Test func `one third and its like round to 34 digits`() {
    #expect(((1 as Decimal128) / 3).stringValue == "0.3333333333333333333333333333333333")
    #expect(((2 as Decimal128) / 3).stringValue == "0.6666666666666666666666666666666667")
    #expect(((1 as Decimal128) / 8).stringValue == "0.125")
    #expect(((100 as Decimal128) / 4).stringValue == "25")
    #expect((0.1 as Decimal128) + 0.2 == 0.3)
  }

  @Test func `conversions keep the value`() throws {
    #expect(Decimal128(value: 0.1) == "0.1")
    #expect(Decimal128(value: Float(0.1)) == "0.1")
    #expect(Decimal128(value: UInt64.max).stringValue == "18446744073709551615")
    #expect(Decimal128(value: Decimal(string: "12.50") ?? 0) == 12.5)
    #expect(Decimal128(value: "7E2") == 700)
    #expect(Decimal128(value: true) == 1)
    #expect(Decimal128(value: Data()).isNaN)
    #expect(Decimal128(number: NSNumber(value: 2.5)) == 2.5)
    #expect(Decimal128(exactly: Int.min)?.stringValue == "-9223372036854775808")
    #expect(Decimal128(exactly: UInt128.max) == nil)
    #expect(Decimal128(exactly: UInt8(200)) == 200)
    #expect(Decimal128("1E400").doubleValue == .infinity)
    #expect((0.1 as Decimal128).doubleValue == 0.1)
    #expect((1.25 as Decimal128).decimalValue == Decimal(string: "1.25"))
    #expect((-5 as Decimal128).magnitude == 5)
    #expect((3 as Decimal128).distance(to: 5) == 2 && (3 as Decimal128).advanced(by: 2) == 5)
  }

  @Test func `negating changes the number itself, the minus sign makes another`() {
    let number: Decimal128 = 2.5
    let other = -number
    number.negate()
    #expect(number == -2.5 && number == other)
    number.negate()
    #expect(number == 2.5 && other == -2.5)
  }

  @Test func `coding goes through text and accepts numbers`() throws {
    let values = try JSONDecoder().decode([Decimal128].self, from: Data(#"["1.10", 5, 2.5]"#.utf8))
    #expect(values == [1.1, 5, 2.5])
    #expect(try JSONEncoder().encode(values) == Data(#"["1.1","5","2.5"]"#.utf8))
  }
}
