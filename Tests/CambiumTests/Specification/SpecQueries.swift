import Cambium
import Foundation
import Testing

typealias SpecCondition<T> = (Query<T>) -> Query<Bool>

/// Twelve objects whose values differ in every way that queries can ask for.
func specQueryRealm() throws -> Realm {
  let realm = try specRealm()
  try realm.write {
    for index in 0..<12 {
      let object = SpecValues(label: "\(index)")
      object.bool = index % 2 == 0
      object.int = index - 4
      object.double = Double(index) / 2
      object.decimal = Decimal128(value: index)
      object.string = ["", "Ann", "anna", "ÄNNA", "Bob", "b*b"][index % 6]
      object.data = Data([UInt8(index), 7])
      object.date = Date(timeIntervalSince1970: Double(index))
      object.color = SpecColor.allCases[index % 3]
      object.level = SpecLevel.allCases[index % 3]
      if index % 3 != 0 {
        object.intO = index
        object.stringO = object.string
        object.doubleO = object.double
        object.dateO = object.date
        object.boolO = object.bool
        object.colorO = object.color
      }
      object.ints.append(objectsIn: 0..<(index % 4))
      object.strings.append(objectsIn: ["s\(index % 4)", "common"])
      realm.add(object)
    }
  }
  return realm
}

/// Both front ends and plain Swift must name the same objects.
func same(
  _ realm: Realm, _ format: String, _ arguments: [Any] = [],
  _ typed: SpecCondition<SpecValues>? = nil,
  _ plain: (SpecValues) -> Bool, _ location: SourceLocation = #_sourceLocation
) {
  let all = realm.objects(SpecValues.self)
  let expected = Array(all).filter(plain).map(\.label)
  let found: Results<SpecValues>
  switch arguments.count {
  case 0: found = all.filter(format)
  case 1: found = all.filter(format, arguments[0])
  default: found = all.filter(format, arguments[0], arguments[1])
  }
  #expect(found.map(\.label) == expected, "\(format)", sourceLocation: location)
  if let typed {
    #expect(
      all.where(typed).map(\.label) == expected, "typed \(format)",
      sourceLocation: location)
  }
}
