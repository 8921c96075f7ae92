import Foundation
import TestSupport
import Testing

@testable import Cambium

/// Asks random questions of the objects of a class, and answers them from the model, object by object.
struct FamilyQueries {
  let model: FamilyModel
  var values: FamilyValues

  private struct Condition {
    var text: String
    var arguments: [Any]
    var holds: ([String: Plain]) -> Bool
  }

  /// One question; notes a failure unless the answers agree.
  mutating func ask(_ realm: Realm, _ type: FamilyClass, _ place: String) {
    var condition = condition(type, realm)
    switch values.number(4) {
    case 0:
      let other = self.condition(type, realm)
      let (first, isAnd) = (condition, values.number(2) == 0)
      condition = Condition(
        text: "(\(first.text)) \(isAnd ? "AND" : "OR") NOT (\(other.text))",
        arguments: first.arguments + other.arguments
      ) {
        isAnd ? first.holds($0) && !other.holds($0) : first.holds($0) || !other.holds($0)
      }
    default: break
    }
    let predicate = QueryPredicate.parsed(condition.text, condition.arguments)
    let found = Results<DynamicObject>(
      realm.dynamicObjects(type.name).queryCore().filtered(predicate))
    let expected = model.names(type.name).filter { condition.holds(model[$0] ?? [:]) }
    #expect(
      found.map { Plain.Name($0) }.sorted() == expected,
      "\(place): \(type.name) where \(condition.text) \(condition.arguments)")
    #expect(found.count == expected.count, "\(place): \(condition.text)")
    sort(found, expected, type, place)
  }

  private mutating func sort(
    _ found: Results<DynamicObject>, _ names: [Plain.Name], _ type: FamilyClass, _ place: String
  ) {
    let fields = type.fields.filter { Self.isOrdered($0.property) && !$0.property.isCollection }
    guard !fields.isEmpty else { return }
    let field = values.pick(fields)
    let ascending = values.number(2) == 0
    let sorted = found.sorted(byKeyPath: field.name, ascending: ascending)
    let expected = names.map { model[$0]?[field.name] ?? .null }
      .sorted { ascending ? Self.isBefore($0, $1) : Self.isBefore($1, $0) }
    #expect(
      sorted.map { Plain($0.dynamicValue(field.name), field.property) } == expected,
      "\(place): \(type.name) by \(field.name)")
    #expect(
      found.distinct(by: [field.name]).count == Set(expected).count,
      "\(place): \(type.name) distinct by \(field.name)")
    guard field.property.type == .int else { return }
    let numbers = expected.compactMap(\.number)
    #expect(found.sum(ofProperty: field.name) as Int == numbers.reduce(0, +), "\(place)")
    #expect(found.min(ofProperty: field.name) as Int? == numbers.min(), "\(place)")
    #expect(found.max(ofProperty: field.name) as Int? == numbers.max(), "\(place)")
  }

  // MARK: Conditions

  private mutating func condition(_ type: FamilyClass, _ realm: Realm) -> Condition {
    let field = values.pick(type.fields)
    let property = field.property
    let name = field.name
    if property.isComputed {
      let origin = property.originPropertyName ?? ""
      let className = property.objectClassName ?? ""
      guard className != "FamilyPart" else {
        return .init(text: "TRUEPREDICATE", arguments: []) { _ in true }
      }
      let sources = model.sources(className, origin)
      let count = values.number(3)
      let ofType = type.name
      return Condition(text: "\(name).@count > %@", arguments: [count]) { row in
        let uid = row["uid"]?.number ?? -1
        return sources[Plain.Name(className: ofType, uid: uid), default: []].count > count
      }
    }
    if property.isCollection { return collection(field, realm) }
    if property.type == .object {
      return embeddedOrLink(field, realm)
    }
    let value = values.element(field, model) ?? .null
    switch value {
    case .list, .map: return count(field, of: name)
    default: return scalar(name, property, value, realm, any: nil) { [$0[name] ?? .null] }
    }
  }

  /// A comparison of what `read` gives, at least one of it.
  private mutating func scalar(
    _ path: String, _ property: Property, _ value: Plain, _ realm: Realm, any: String?,
    _ read: @escaping ([String: Plain]) -> [Plain]
  ) -> Condition {
    let argument = value.given(realm)
    let path = (any.map { $0 + " " } ?? "") + path
    func condition(_ symbol: String, _ holds: @escaping (Plain) -> Bool) -> Condition {
      Condition(text: "\(path) \(symbol) %@", arguments: [argument]) { row in
        switch any {
        case "NONE": !read(row).contains(where: holds)
        default: read(row).contains(where: holds)
        }
      }
    }
    switch values.number(7) {
    case 0: return condition("!=") { $0 != value }
    case 1 where Self.isOrdered(property) && property.type != .bool && value != .null:
      return condition("<") { $0 != .null && Self.isBefore($0, value) }
    case 2 where Self.isOrdered(property) && property.type != .bool && value != .null:
      return condition(">=") { $0 != .null && !Self.isBefore($0, value) }
    case 3:
      guard case .string(let text) = value, property.type == .string else { break }
      return condition("BEGINSWITH") {
        if case .string(let other) = $0 {
          !text.isEmpty && Array(other.utf8).starts(with: Array(text.utf8))
        } else {
          false
        }
      }
    case 4 where any == nil && value != .null:
      let other = values.element(
        FamilyClass.Field(likeScalar: property), model)
      guard let other, other != .null, property.type != .any else { break }
      return Condition(
        text: "\(path) IN %@", arguments: [[argument, other.given(realm)] as [Any]]
      ) { row in read(row).contains { $0 == value || $0 == other } }
    default: break
    }
    return condition("==") { $0 == value }
  }

  private mutating func collection(_ field: FamilyClass.Field, _ realm: Realm) -> Condition {
    let (name, property) = (field.name, field.property)
    func elements(_ row: [String: Plain]) -> [Plain] {
      switch row[name] {
      case .list(let elements): elements
      case .set(let elements): Array(elements)
      case .map(let entries): Array(entries.values)
      default: []
      }
    }
    if property.type == .object {
      if property.objectClassName == "FamilyPart" {
        guard !property.isMap else { return count(field, of: name) }
        return inside(field, prefix: "ANY ", elements)
      }
      let names = model.names(property.objectClassName ?? "")
      guard !names.isEmpty, values.number(3) > 0 else { return count(field, of: name) }
      let one = values.pick(names)
      if values.number(2) == 0 {
        return Condition(text: "ANY \(name) == %@", arguments: [one.object(realm)]) {
          elements($0).contains(.link(one))
        }
      }
      if property.isMap { return count(field, of: name) }
      let limit = one.uid
      return Condition(
        text: "SUBQUERY(\(name), $o, $o.uid > %@).@count > 1", arguments: [limit]
      ) { row in
        elements(row).count { if case .link(let name) = $0 { name.uid > limit } else { false } } > 1
      }
    }
    if property.isMap, values.number(3) == 0 {
      let key = values.key()
      if values.number(2) == 0 {
        return Condition(text: "ANY \(name).@allKeys == %@", arguments: [key]) { row in
          if case .map(let entries) = row[name] { entries[key] != nil } else { false }
        }
      }
    }
    guard values.number(4) > 0, let value = values.element(field, model, inSet: true) else {
      return count(field, of: name)
    }
    switch value {
    case .list, .map, .link: return count(field, of: name)
    default: break
    }
    // What is nested has no place in a comparison of values.
    let words = property.type == .any ? ["ANY"] : ["ANY", "ANY", "NONE"]
    let path = property.isMap ? "\(name).@allValues" : name
    return scalar(path, property, value, realm, any: values.pick(words), elements)
  }

  private mutating func count(_ field: FamilyClass.Field, of name: String) -> Condition {
    guard field.property.isCollection else {
      return Condition(text: "TRUEPREDICATE", arguments: []) { _ in true }
    }
    let count = values.number(5)
    return Condition(text: "\(name).@count <= %@", arguments: [count]) { row in
      switch row[name] {
      case .list(let elements): elements.count <= count
      case .set(let elements): elements.count <= count
      case .map(let entries): entries.count <= count
      default: false
      }
    }
  }

  private mutating func embeddedOrLink(_ field: FamilyClass.Field, _ realm: Realm) -> Condition {
    let name = field.name
    if values.number(4) == 0 {
      return Condition(text: "\(name) == nil", arguments: []) { $0[name] == .null }
    }
    if field.property.objectClassName == "FamilyPart" {
      return inside(field, prefix: "") { [$0[name] ?? .null] }
    }
    let uid = values.number(40)
    return Condition(text: "\(name).uid < %@", arguments: [uid]) { row in
      if case .link(let target) = row[name] { target.uid < uid } else { false }
    }
  }

  /// A condition on what is embedded.
  private mutating func inside(
    _ field: FamilyClass.Field, prefix: String, _ elements: @escaping ([String: Plain]) -> [Plain]
  ) -> Condition {
    if values.number(2) == 0 {
      let text = values.pick(FamilyValues.words)
      return Condition(text: "\(prefix)\(field.name).name == %@", arguments: [text]) { row in
        elements(row).contains {
          if case .embedded(let fields) = $0 { fields["name"] == .string(text) } else { false }
        }
      }
    }
    let size = values.number(5)
    return Condition(text: "\(prefix)\(field.name).screw.size == %@", arguments: [size]) { row in
      elements(row).contains {
        guard case .embedded(let fields) = $0, case .embedded(let screw) = fields["screw"] else {
          return false
        }
        return screw["size"] == .int(size)
      }
    }
  }

  // MARK: Order

  private static func isOrdered(_ property: Property) -> Bool {
    switch property.type {
    case .int, .bool, .float, .double, .string, .date, .decimal128: true
    default: false
    }
  }

  /// Null, then values.
  private static func isBefore(_ left: Plain, _ right: Plain) -> Bool {
    switch (left, right) {
    case (_, .null): false
    case (.null, _): true
    case (.bool(let left), .bool(let right)): !left && right
    case (.int(let left), .int(let right)): left < right
    case (.float(let left), .float(let right)): left < right
    case (.double(let left), .double(let right)): left < right
    case (.date(let left), .date(let right)): left < right
    case (.decimal(let left), .decimal(let right)): left < right
    case (.string(let left), .string(let right)):
      left.utf8.lexicographicallyPrecedes(right.utf8)
    default: fatalError("\(left) and \(right) are of different types.")
    }
  }
}

extension FamilyClass.Field {
  /// A property of the same values that is no collection.
  fileprivate init(likeScalar property: Property) {
    var property = property
    property.isArray = false
    property.isSet = false
    property.isMap = false
    self.property = property
    choices = nil
  }
}
