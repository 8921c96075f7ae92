import CPlatform
import Foundation

/// Makes strings comparable that differ in case or in diacritical marks only.
///
/// Case is folded as Unicode's full case folding does (ß and SS are the same), independent of any
/// language. Diacritical marks are taken off after canonical decomposition. Patterns, in which a sign stands for one
/// character, leave those alone of which folding makes several.
///
/// Pointers: the caller lends the text. It is copied, and ASCII is folded in place, within the copy's count.
package struct TextFolding: Hashable, Sendable {
  package let options: StringOptions

  /// Whether a character never becomes several.
  private let keepsCount: Bool

  package init(_ options: StringOptions, keepsCount: Bool = false) {
    self.options = options
    self.keepsCount = keepsCount
  }

  /// Replaces the contents of `output` with the folded form of UTF-8 text.
  package func fold(_ text: UnsafeRawBufferPointer, into output: inout [UInt8]) {
    let capitals: UInt8 = options.contains(.caseInsensitive) ? 26 : 0
    output.removeAll(keepingCapacity: true)
    unsafe output.append(contentsOf: text)
    let all = unsafe output.withUnsafeMutableBytes { output in
      unsafe output.baseAddress.map { unsafe cambium_fold_ascii($0, output.count, $0, capitals) }
        ?? 0
    }
    if all >= 0x80 { unsafe foldUnicode(text, into: &output) }
  }

  /// The folded form of a string.
  package func fold(_ text: String) -> [UInt8] {
    var text = text
    var output: [UInt8] = []
    text.withUTF8 { unsafe fold(UnsafeRawBufferPointer($0), into: &output) }
    return output
  }

  private func foldUnicode(_ text: UnsafeRawBufferPointer, into output: inout [UInt8]) {
    output.removeAll(keepingCapacity: true)
    var string = unsafe String(decoding: text, as: UTF8.self)
    if options.contains(.diacriticInsensitive) {
      string = string.decomposedStringWithCanonicalMapping
    }
    for scalar in string.unicodeScalars {
      if options.contains(.diacriticInsensitive),
        scalar.properties.generalCategory == .nonspacingMark
      {
        continue
      }
      if options.contains(.caseInsensitive) {
        output.append(contentsOf: folded(scalar).utf8)
      } else {
        output.append(contentsOf: UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter)
      }
    }
  }

  private func folded(_ scalar: Unicode.Scalar) -> String {
    // The dotless i is a letter of its own: through its capital it would become an i.
    if scalar == "\u{131}" { return "\u{131}" }
    // The capital ß is its own capital, but not that of ss, which the small one has.
    let scalar: Unicode.Scalar = scalar == "\u{1E9E}" ? "\u{DF}" : scalar
    var result = ""
    for upper in scalar.properties.uppercaseMapping.unicodeScalars {
      result += upper.properties.lowercaseMapping
    }
    return keepsCount && result.unicodeScalars.count != 1 ? String(scalar) : result
  }
}
