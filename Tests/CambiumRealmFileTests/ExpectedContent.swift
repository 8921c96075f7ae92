import CambiumRealmFile
import Foundation

#if Crypto
  import Crypto
#endif

/// What a sample is expected to hold, and values written so that both sides can be compared.
///
/// Floating point numbers are compared by their bits, long texts and data by their digest.
struct ExpectedContent {
  private static let longByteCount = 1024

  let format: Int
  let schemaVersion: UInt64?
  let classes: [[String: Any]]

  init(_ name: String) throws {
    let json = try JSONSerialization.jsonObject(with: Samples.bytes("\(name).json"))
    let root = json as? [String: Any] ?? [:]
    format = (root["format"] as? NSNumber)?.intValue ?? -1
    schemaVersion = (root["schemaVersion"] as? NSNumber)?.uint64Value
    classes = root["classes"] as? [[String: Any]] ?? []
  }

  // MARK: Of the reader

  static func describe(
    _ value: RealmFileValue, _ classes: [RealmFileClass], ordered: Bool = true
  ) -> String {
    switch value {
    case .null: "null"
    case .int(let number): "int \(number)"
    case .bool(let flag): "bool \(flag)"
    case .float(let number): "float \(hex(number.bitPattern, 8))"
    case .double(let number): "double \(hex(number.bitPattern, 16))"
    case .string(let text): "string " + long(Array(text.utf8), text)
    case .data(let bytes): "data " + long(bytes, hex(bytes))
    case .date(let seconds, let nanoseconds): "date \(seconds) \(nanoseconds)"
    case .decimal(let low, let high): "decimal128 \(hex(high, 16))\(hex(low, 16))"
    case .objectId(let bytes): "objectId \(hex(bytes))"
    case .uuid(let bytes): "uuid \(hex(bytes))"
    case .link(let index, let key): "link \(classes[index].name) \(key)"
    case .list(let values):
      "list " + joined(values.map { describe($0, classes) }, ordered: ordered)
    case .dictionary(let entries):
      "dictionary "
        + joined(
          entries.map { describe($0.key, classes) + ": " + describe($0.value, classes) },
          ordered: ordered)
    }
  }

  // MARK: Of the JSON

  /// A value of a property.
  static func describe(_ json: Any, _ property: [String: Any], ordered: Bool) -> String {
    let type = property["type"] as? String ?? ""
    let target = property["target"] as? String ?? ""
    switch property["collection"] as? String {
    case "dictionary":
      let entries = (json as? [[Any]] ?? []).map {
        key($0[0]) + ": " + describe($0[1], type: type, target: target)
      }
      return "dictionary " + joined(entries, ordered: ordered)
    case let collection?:
      let values = (json as? [Any] ?? []).map { describe($0, type: type, target: target) }
      return "list " + joined(values, ordered: ordered || collection == "list")
    case nil: return describe(json, type: type, target: target)
    }
  }

  private static func describe(_ json: Any, type: String, target: String) -> String {
    if json is NSNull { return "null" }
    switch type {
    case "mixed": return describeMixed(json as? [String: Any] ?? [:])
    case "int": return "int \((json as? NSNumber)?.int64Value ?? 0)"
    case "bool": return "bool \(json as? Bool ?? false)"
    case "link": return "link \(target) \((json as? NSNumber)?.int64Value ?? 0)"
    case "date":
      let parts = (json as? [NSNumber] ?? []).map { "\($0.int64Value)" }
      return "date " + parts.joined(separator: " ")
    case "decimal128":
      return "decimal128 " + ((json as? [String: Any])?["bid"] as? String ?? "")
    case "uuid":
      return "uuid " + (json as? String ?? "").replacingOccurrences(of: "-", with: "")
    default:
      if let digest = json as? [String: Any] {
        let count = (digest["bytes"] as? NSNumber)?.intValue ?? 0
        return "\(type) \(count) bytes, " + withDigest(digest["sha256"] as? String ?? "")
      }
      return "\(type) " + (json as? String ?? "")
    }
  }

  private static func describeMixed(_ json: [String: Any]) -> String {
    let type = json["type"] as? String ?? ""
    switch type {
    case "link":
      return "link \(json["class"] ?? "") \((json["key"] as? NSNumber)?.int64Value ?? 0)"
    case "list":
      let values = json["value"] as? [Any] ?? []
      return "list " + joined(values.map { describe($0, type: "mixed", target: "") }, ordered: true)
    case "dictionary":
      let entries = (json["value"] as? [[Any]] ?? []).map {
        key($0[0]) + ": " + describe($0[1], type: "mixed", target: "")
      }
      return "dictionary " + joined(entries, ordered: true)
    default: return describe(json["value"] ?? NSNull(), type: type, target: "")
    }
  }

  private static func key(_ json: Any) -> String {
    if let text = json as? String { return "string " + long(Array(text.utf8), text) }
    return "int \((json as? NSNumber)?.int64Value ?? 0)"
  }

  // MARK: Parts

  private static func joined(_ parts: [String], ordered: Bool) -> String {
    "[" + (ordered ? parts : parts.sorted()).joined(separator: ", ") + "]"
  }

  static func long(_ bytes: [UInt8], _ short: @autoclosure () -> String) -> String {
    guard bytes.count > longByteCount else { return short() }
    return "\(bytes.count) bytes, " + withDigest(digest(bytes))
  }

  /// Without the trait Crypto nothing is hashed, and only lengths are compared.
  private static func withDigest(_ digest: String) -> String {
    #if Crypto
      return digest
    #else
      return ""
    #endif
  }

  private static func digest(_ bytes: [UInt8]) -> String {
    #if Crypto
      return hex(Array(SHA256.hash(data: bytes)))
    #else
      return ""
    #endif
  }

  static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  private static func hex(_ number: some FixedWidthInteger, _ count: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: count - digits.count) + digits
  }
}
