import Foundation
import TestSupport
import Testing

@testable import Cambium

/// Values in a list and in a property are ordered by different code: one by cells, the other by flat
/// columns.
struct CellOrderTests {
  @Test(arguments: 0..<8)
  func `values of a list and of a property are in one order`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let realm = try specRealm()
    let values = try realm.write {
      realm.create(SpecValues.self, value: ["label": "owner"])
    }
    func check<Element: RealmCollectionValue>(
      _ type: PropertyType, _ key: String, _ list: List<Element>, _ take: (ModelValue) -> Element?
    ) throws {
      let elements = (0..<60).compactMap { _ in
        take(QueryWorld.random(type, using: &generator))
      }
      try realm.write {
        realm.delete(realm.objects(SpecValues.self).filter("label != 'owner'"))
        list.append(objectsIn: elements)
        for element in elements { realm.create(SpecValues.self, value: [key: element]) }
      }
      let objects = realm.objects(SpecValues.self).filter("label != 'owner'")
      for isAscending in [true, false] {
        let sorted = objects.sorted(byKeyPath: key, ascending: isAscending)
        #expect(
          list.sorted(by: [Cambium.SortDescriptor(keyPath: "self", ascending: isAscending)]).map {
            "\($0)"
          }
            == sorted.map { "\($0.value(forKey: key) as? Element as Any? ?? "")" } as [String],
          "\(key), seed \(seed)")
      }
      let distinct = objects.distinct(by: [key])
      #expect(
        list.distinct(by: ["self"]).map { "\($0)" }
          == distinct.map { "\($0.value(forKey: key) as? Element as Any? ?? "")" } as [String],
        "\(key), seed \(seed)")
      for element in elements where element == element {
        let place = elements.firstIndex(of: element)
        #expect(list.index(of: element) == place, "\(key), seed \(seed)")
      }
    }
    try check(.bool, "bool", values.bools) { if case .bool(let value) = $0 { value } else { nil } }
    try check(.int, "int", values.ints) { if case .int(let value) = $0 { Int(value) } else { nil } }
    try check(.double, "double", values.doubles) {
      if case .double(let value) = $0 { value } else { nil }
    }
    try check(.decimal128, "decimal", values.decimals) {
      if case .decimal(let value) = $0 { value } else { nil }
    }
    try check(.string, "string", values.strings) {
      if case .string(let value) = $0 { value } else { nil }
    }
    try check(.data, "data", values.datas) { if case .data(let value) = $0 { value } else { nil } }
    try check(.date, "date", values.dates) { if case .date(let value) = $0 { value } else { nil } }
    try check(.objectId, "objectId", values.ids) {
      if case .objectId(let value) = $0 { value } else { nil }
    }
    try check(.UUID, "uuid", values.uuids) { if case .uuid(let value) = $0 { value } else { nil } }
  }
}
