import Foundation

/// Writes objects out for people.
enum ObjectDescription {
  private static let depthLimit = 5
  private static let dataByteLimit = 24

  static func text(of object: ObjectBase) -> String { text(of: object, depth: 0) }

  static func text(of object: ObjectBase, depth: Int) -> String {
    if object.isGone { return "[invalid object]" }
    if depth >= depthLimit { return "<Maximum depth exceeded>" }
    let description = object.classDescription
    var lines = ["\(description.name) {"]
    for (index, property) in description.properties.enumerated()
    where !property.property.isComputed {
      let value = text(ofValue: object.value(at: index), depth: depth + 1)
      lines.append("\t\(property.property.name) = \(indented(value));")
    }
    lines.append("}")
    return lines.joined(separator: "\n")
  }

  static func text(ofValue value: Any?, depth: Int) -> String {
    switch value {
    case nil: "(null)"
    case let object as ObjectBase: text(of: object, depth: depth)
    case let data as Data: text(of: data)
    case let collection as any DescribedCollection: collection.text(depth: depth)
    case let value?: "\(value)"
    }
  }

  private static func text(of data: Data) -> String {
    let hex = data.prefix(dataByteLimit).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return "<\(hex.joined()) — \(data.count) total bytes>"
  }

  static func indented(_ text: String) -> String {
    text.replacingOccurrences(of: "\n", with: "\n\t")
  }
}

/// A collection that descriptions of objects show.
protocol DescribedCollection {
  func text(depth: Int) -> String
}

/// Writes collections out for people.
///
/// Pointers: a collection's address is written out and never read from.
enum CollectionDescription {
  private static let elementLimit = 100

  static func text<C: RealmCollection>(
    of collection: C, named name: String, depth: Int = 0
  ) -> String {
    if collection.isInvalidated { return "\(name)<\(C.Element.self)> [invalid]" }
    var property = Property(name: "", type: .int)
    C.Element._rlmDescribeElement(&property)
    let type = property.objectClassName ?? property.typeText
    let object = collection as AnyObject
    let isOwned = object is List<C.Element> || object is MutableSet<C.Element>
    let place = unsafe UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    let address = isOwned ? " <0x\(String(place, radix: 16))>" : nil
    var lines = ["\(name)<\(type)>\(address ?? "") ("]
    let count = collection.count
    for index in 0..<min(count, elementLimit) {
      let value = C.Element._rlmDynamicElement(collection[index])
      let text = ObjectDescription.text(ofValue: value, depth: depth + 1)
      lines.append("\t[\(index)] \(ObjectDescription.indented(text)),")
    }
    if count > elementLimit { lines.append("\t... \(count - elementLimit) objects skipped.") }
    lines.append(")")
    return lines.joined(separator: "\n")
  }
}

extension List: DescribedCollection {
  func text(depth: Int) -> String {
    CollectionDescription.text(of: self, named: "List", depth: depth)
  }
}
