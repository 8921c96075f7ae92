import Cambium
import Foundation
import Testing

/// Promises about sizes that do not hold; the page Limits names them.
extension KnownFault {
  final class Keyed: Object {
    @Persisted(primaryKey: true) var key: String
    @Persisted var next: Keyed?
    @Persisted var value: AnyRealmValue
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  private static func opened() throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Keyed.self]))
  }

  static let unindexableText = KnownFault(
    "a primary key or indexed text of 502 to 512 bytes is refused, and one with many zero bytes",
    promise: "texts of any length are keys and are indexed (Limits)",
    place:
      "`IndexKey.byteCount(ofForm:)`: a form of up to 512 bytes, doubled zeros, the mark, the end "
      + "and the object's key are more than `KeyNode.maximumKeyByteCount`"
  ) {
    let realm = try opened()
    for key in [
      String(repeating: "k", count: 502), String(repeating: "k", count: 512),
      String(repeating: "\0", count: 300), String(repeating: "\0", count: 600),
    ] {
      try realm.write { _ = realm.create(Keyed.self, value: ["key": key]) }
      #expect(realm.object(ofType: Keyed.self, forPrimaryKey: key) != nil)
    }
  }

  static let unreadableValue = KnownFault(
    "a list that is put into a live list at the hundredth level makes the whole value unreadable",
    promise: "a value that is nested too deeply is refused (Limits)",
    place:
      "`NestedEditor`, which counts levels from the list that is changed and not from the value"
  ) {
    let realm = try opened()
    try realm.write {
      let object = realm.create(Keyed.self, value: ["key": "a"])
      object.value = .fromArray([.string("kept")])
      var list = try #require(object.value.listValue)
      for _ in 1..<100 {
        list.append(.fromArray([]))
        list = try #require(list.last?.listValue)
      }
      list.append(.fromArray([]))
    }
    let value = try #require(realm.objects(Keyed.self).first).value
    #expect(value.listValue?.first == .string("kept"))
  }

  static let endlessPath = KnownFault(
    "a path over very many links overflows the stack",
    promise: "no text of a query stops the program (`TextQuery`)",
    place: "`BoundPredicate.joined` and others that walk along `.link`; `SortColumn.read`"
  ) {
    await #expect(processExitsWith: .success) {
      let realm = try KnownFault.opened()
      let path = String(repeating: "next.", count: 100_000) + "key"
      _ = try? TextQuery("\(path) == 'a'").results(in: realm, ofType: "Keyed").count
    }
  }
}
