@testable import Cambium
@testable import CambiumCore

/// The stored forms of the object layer: arbitrary bytes decode to something or nothing, and what
/// decodes is encoded to the same.
enum ObjectCodecs {
  static func run(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first else { return }
    let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    switch first % 4 {
    case 0: readList(rest, ColumnType(rawValue: first >> 4 % 6 + 1) ?? .int)
    case 1: readBacklink([UInt8](rest))
    case 2: readProperty([UInt8](rest))
    default: orderIndexKeys(rest)
    }
  }

  private static func readList(_ bytes: UnsafeRawBufferPointer, _ type: ColumnType) {
    guard let list = StoredList(bytes, type) else { return }
    let elements = (0..<list.count).map { list[$0] }
    guard let form = StoredList.form(elements, type) else { return }
    form.withUnsafeBytes { form in
      guard let again = StoredList(form, type) else {
        preconditionFailure("a list does not survive its own form")
      }
      precondition(again.count == list.count, "a list changes its length")
      for index in 0..<list.count {
        precondition(areEqual(again[index], list[index]), "element \(index) changes")
      }
    }
  }

  private static func areEqual(_ left: ColumnValue, _ right: ColumnValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.int(let left), .int(let right)): left == right
    case (.bool(let left), .bool(let right)): left == right
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.wide(let low, let high), .wide(let otherLow, let otherHigh)):
      low == otherLow && high == otherHigh
    case (.bytes(let left), .bytes(let right)): left.elementsEqual(right)
    default: false
    }
  }

  private static func readBacklink(_ bytes: [UInt8]) {
    for first in [nil, -7] as [Int64?] {
      guard let runs = bytes.withUnsafeBytes({ SourceRuns($0, first: first) }) else { continue }
      var form: [UInt8] = []
      runs.append(to: &form, hasFirst: first == nil)
      let again = form.withUnsafeBytes { SourceRuns($0, first: first) }
      precondition(again == runs, "backlinks do not survive their own form")
    }
    _ = IndexKey.objectKey(bytes)
  }

  private static func readProperty(_ bytes: [UInt8]) {
    guard let property = StoredProperty(attributes: bytes) else { return }
    precondition(
      StoredProperty(attributes: property.attributes) == property,
      "a property does not survive its own form")
  }

  /// The forms of two values are in the order of the values.
  private static func orderIndexKeys(_ bytes: UnsafeRawBufferPointer) {
    let half = bytes.count / 2
    let left = UnsafeRawBufferPointer(rebasing: bytes[..<half])
    let right = UnsafeRawBufferPointer(rebasing: bytes[half...])
    guard let leftForm = IndexKey.form(of: .bytes(left)),
      let rightForm = IndexKey.form(of: .bytes(right))
    else { return }
    precondition(leftForm.elementsEqual(rightForm) == left.elementsEqual(right), "equality")
    if IndexKey.isExact(leftForm), IndexKey.isExact(rightForm) {
      precondition(
        leftForm.lexicographicallyPrecedes(rightForm) == left.lexicographicallyPrecedes(right),
        "order")
    }
    precondition(IndexKey.objectKey(IndexKey.key(leftForm, 77)) == 77, "the object's key")
    precondition(leftForm.count + 8 <= 2 * 512 + 32, "length")
  }
}
