import Foundation
import RealmSwift
import Testing

// What the library needs for itself has names that begin with an underscore: all others are the
// program's. Each name here belonged to the library once.

enum Weekday: Int, PersistableEnum {
  case monday = 1
  case tuesday

  static let scalarType = "scalarType"
  static let scalarColumnType = "scalarColumnType"
  static let storedForm = "storedForm"
  static func element(in text: String, _ other: String?) -> String { text }
  static func value(ofUnfit text: String) -> String { text }
  static func dynamicValue(_ value: Weekday) -> Any? { "dynamicValue" }
  init?(converting value: Any) { return nil }
  func withScalarCell(_ text: String) -> String { text }
}

extension Int {
  static let scalarType = "scalarType"
  static let storedForm = "storedForm"
  init?(converting value: Any) { return nil }
  func withScalarCell(_ text: String) -> String { text }
}

extension String {
  static let scalarColumnType = "scalarColumnType"
  static let isPersistedValueKept = "isPersistedValueKept"
  init?(scalarIn text: String) { self = text }
  init?(converting value: Any) { return nil }
}

extension Optional {
  static func defaultElement() -> String { "defaultElement" }
  static var storedForm: String { "storedForm" }
  static func dynamicElement(_ element: Wrapped?) -> String { "dynamicElement" }
}

extension Date {
  var wideWords: String { "wideWords" }
  init(wideLow low: UInt64, high: UInt64) { self.init(timeIntervalSince1970: 0) }
}

extension List {
  func queryCore() -> String { "queryCore" }
  static func convertedValue(_ value: Any?) -> String { "convertedValue" }
}

class Diary: Object {
  @Persisted(primaryKey: true) var key: Int
  @Persisted var element = "element"
  @Persisted var elementColumn = "elementColumn"
  @Persisted var dynamicValue: Int?
  @Persisted var converted: List<String>
  @Persisted var storage: Diary?
  @Persisted var day = Weekday.tuesday
  @Persisted var days: List<Weekday?>
  @Persisted var instance = "instance"
  @Persisted var access = "access"
  @Persisted var created = Date(timeIntervalSince1970: 5)
  @Persisted var row = 3
  @Persisted var header = "header"
  @Persisted var generation = 7
  @Persisted var extra = "extra"
  @Persisted var epoch = 9
  @Persisted(originProperty: "storage") var originPropertyName: LinkingObjects<Diary>

  static let isPersistedValueKept = "isPersistedValueKept"
  static let storedForm = "storedForm"
  static let elementColumnType = "elementColumnType"
  static func describeProperty(_ name: String) -> String { name }
  static func describeElement(_ name: String) -> String { name }
  static func defaultElement() -> String { "defaultElement" }
  static func defaultPersistedValue() -> String { "defaultPersistedValue" }
  static func dynamicElement(_ element: Object) -> Any? { "dynamicElement" }
  static func element(in text: String, _ other: String?) -> String { text }
  static func convertedValue(_ value: Any?, _ other: String) -> String { other }
  static func convertedElement(_ value: Any?, _ other: String) -> String { other }
  static func persistedValue(of object: Diary, _ name: String) -> String { name }
  static func tracedValue(of object: Diary, _ name: String) -> String { name }
  static func value(ofUnfit text: String) -> String { text }
  func withElementCell(in realm: Realm, _ text: String) -> String { text }
  func writeCell(_ text: String) -> String { text }

  override subscript(key: String) -> Any? {
    get { key == "weekday" ? "\(day)" : super[key] }
    set { super[key] = newValue }
  }
}

@Suite struct NamesInUseTests {
  private let configuration = Realm.Configuration(
    inMemoryIdentifier: "names-\(UUID().uuidString)", objectTypes: [Diary.self])

  @Test func `a model's own members may have any name without an underscore`() throws {
    let realm = try Realm(configuration: configuration)
    let diary = Diary(value: ["key": 1, "converted": ["a", "b"], "days": [1, nil] as [Any?]])
    diary.storage = diary
    diary.dynamicValue = 4
    try realm.write { realm.add(diary) }
    let found = try #require(realm.objects(Diary.self).where { $0.element == "element" }.first)
    #expect(found.elementColumn == "elementColumn" && found.dynamicValue == 4)
    #expect(found.instance == "instance" && found.access == "access" && found.header == "header")
    #expect(found.row == 3 && found.generation == 7 && found.epoch == 9 && found.extra == "extra")
    #expect(found.created == Date(timeIntervalSince1970: 5))
    #expect(Array(found.converted) == ["a", "b"] && Array(found.days) == [.monday, nil])
    #expect(found.originPropertyName.count == 1 && found.storage?.key == 1)
    #expect(Diary.defaultElement() == "defaultElement" && Diary.storedForm == "storedForm")
    #expect(Diary.element(in: "text", nil) == "text" && Weekday.scalarType == "scalarType")
    #expect(Int.storedForm == "storedForm" && String(scalarIn: "x") == "x")
    #expect(found.converted.queryCore() == "queryCore")
    #expect(found.created.wideWords == "wideWords")
  }

  @Test func `access by name can be overridden`() throws {
    let diary = Diary()
    #expect(diary["weekday"] as? String == "tuesday" && diary["day"] as? Int == 2)
    diary["day"] = Weekday.monday
    #expect(diary["weekday"] as? String == "monday" && diary.day == .monday)
  }
}
