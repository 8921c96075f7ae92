import Foundation

/// What a program's objects are expected to hold, written so that it can be compared: sets and dictionaries in no
/// order, dates as far as a `Date` tells them apart, embedded objects in their places.
struct ModelExpectation {
  private let content: ExpectedContent
  /// The classes whose objects are told in the places that hold them.
  private let embedded: [String: [String: Any]]
  /// Where an embedded object stands in its class, by its key.
  private let rows: [String: [Int64: Int]]

  init(_ content: ExpectedContent) {
    self.content = content
    var embedded: [String: [String: Any]] = [:]
    var rows: [String: [Int64: Int]] = [:]
    for description in content.classes where description["kind"] as? String == "embedded" {
      let name = description["name"] as? String ?? ""
      let keys = (description["keys"] as? [NSNumber] ?? []).map(\.int64Value)
      embedded[name] = description
      rows[name] = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
    }
    self.embedded = embedded
    self.rows = rows
  }

  /// A value of a property.
  func describe(_ json: Any, _ property: [String: Any]) -> String {
    let type = property["type"] as? String ?? ""
    let target = property["target"] as? String ?? ""
    switch property["collection"] as? String {
    case "dictionary": return dictionary(json, type, target)
    case let collection?:
      let texts = (json as? [Any] ?? []).map { describe($0, type, target) }
      return "list ["
        + (collection == "list" ? texts : texts.sorted()).joined(separator: ", ") + "]"
    case nil: return describe(json, type, target)
    }
  }

  private func dictionary(_ json: Any, _ type: String, _ target: String) -> String {
    let entries = (json as? [[Any]] ?? []).map { entry in
      // Keys that were integers are their digits.
      let key = entry[0] as? String ?? "\((entry[0] as? NSNumber)?.int64Value ?? 0)"
      return "string \(key): \(describe(entry[1], type, target))"
    }
    return "dictionary [" + entries.sorted().joined(separator: ", ") + "]"
  }

  private func describe(_ json: Any, _ type: String, _ target: String) -> String {
    if json is NSNull { return "null" }
    switch type {
    case "mixed":
      let json = json as? [String: Any] ?? [:]
      let type = json["type"] as? String ?? ""
      switch type {
      case "link":
        return "link \(json["class"] ?? "") \((json["key"] as? NSNumber)?.int64Value ?? 0)"
      case "list":
        let texts = (json["value"] as? [Any] ?? []).map { describe($0, "mixed", "") }
        return "list [" + texts.joined(separator: ", ") + "]"
      case "dictionary": return dictionary(json["value"] ?? [], "mixed", "")
      default: return describe(json["value"] ?? NSNull(), type, "")
      }
    case "link":
      let key = (json as? NSNumber)?.int64Value ?? 0
      guard let description = embedded[target], let row = rows[target]?[key] else {
        return "link \(target) \(key)"
      }
      return embeddedObject(description, row)
    case "date":
      let parts = (json as? [NSNumber] ?? []).map { Double($0.int64Value) }
      return Self.text(ofSeconds: parts[0] + parts[1] / 1e9)
    default:
      return ExpectedContent.describe(json, ["type": type, "target": target], ordered: true)
    }
  }

  private func embeddedObject(_ description: [String: Any], _ row: Int) -> String {
    let columns = description["columns"] as? [String: [Any]] ?? [:]
    let parts = (description["properties"] as? [[String: Any]] ?? []).map { property -> String in
      let name = property["name"] as? String ?? ""
      return "\(name): \(describe(columns[name]?[row] ?? NSNull(), property))"
    }
    return "{" + parts.joined(separator: ", ") + "}"
  }

  /// A `Date` has 53 bits: what it cannot tell apart is written alike.
  static func text(ofSeconds seconds: Double) -> String {
    abs(seconds) < 1e9
      ? "date \(Int64((seconds * 1e5).rounded()))e-5" : "date \(Float(seconds))"
  }
}
