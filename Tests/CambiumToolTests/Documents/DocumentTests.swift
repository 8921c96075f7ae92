import Cambium
import CambiumToolKit
import Foundation
import TestSupport
import Testing

/// Objects that are written as documents and read again.
@Suite struct DocumentTests {
  private static func text(
    _ realm: Realm, _ format: DocumentFormat, classes: [String] = []
  ) throws -> String {
    var bytes: [UInt8] = []
    let export = try Export(realm, classes: classes) { bytes += $0 }
    switch format {
    case .json: try export.writeJSON()
    case .lines: try export.writeLines()
    case .csv: try export.writeCSV()
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A Realm that has only what `document` says.
  private static func realm(
    _ document: String, _ format: DocumentFormat? = nil, _ change: (inout Import) -> Void = { _ in }
  ) throws -> Realm {
    var work = try Import(DocumentSource(document), format)
    change(&work)
    var configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
    configuration.objectTypes = []
    let realm = try Realm(configuration: configuration, adding: try work.newClasses([]))
    try realm.write { _ = try work.run(in: realm) }
    return realm
  }

  @Test(arguments: 0..<12 as Range<UInt64>, [DocumentFormat.json, .lines])
  func `objects of every type come back as they were`(seed: UInt64, format: DocumentFormat) throws {
    var random = SeededGenerator(seed: seed)
    let original = try DocumentModels.realm(&random, count: 20)
    let document = try Self.text(original, format)
    let copy = try Self.realm(document)
    #expect(copy.schema.objectSchema.map(\.className) == ["DocEverything", "DocPlace", "DocPlain"])
    for (type, made) in zip(original.schema.objectSchema, copy.schema.objectSchema) {
      #expect(type.properties == made.properties)
    }
    let again = try Self.text(copy, format)
    // With the numbers of rows that have no primary key.
    #expect(again == document, "seed \(seed)")
  }

  @Test func `the typed objects of a program read what was imported`() throws {
    var random = SeededGenerator(seed: 7)
    let original = try DocumentModels.realm(&random, count: 10)
    let document = try Self.text(original, .json)
    let realm = try DocumentModels.emptyRealm()
    let work = try Import(DocumentSource(document))
    #expect(try work.newClasses(realm.schema.objectSchema).isEmpty)
    let counts = try realm.write { try work.run(in: realm) }
    #expect(counts["DocEverything"]?.created == 10)
    for object in original.objects(DocEverything.self) {
      let copy = try #require(realm.object(ofType: DocEverything.self, forPrimaryKey: object.id))
      #expect(copy.int == object.int && copy.string == object.string && copy.date == object.date)
      #expect(copy.plain?.number == object.plain?.number)
      #expect(copy.plains.map(\.number) == object.plains.map(\.number))
      #expect(copy.place?.owner?.number == object.place?.owner?.number)
      #expect(copy.places.map(\.name) == object.places.map(\.name))
      #expect(Set(copy.texts) == Set(object.texts))
    }
    #expect(realm.objects(DocPlain.self).count == original.objects(DocPlain.self).count)
  }

  @Test func `rows that are taken, or that nobody could have, get other numbers`() throws {
    let document = #"""
      {"cambium": 1, "classes": [{"name": "P", "properties": [
        {"name": "n", "type": "int"}, {"name": "next", "type": "object", "class": "P"}]}],
       "objects": {"P": [{"$key": 4, "n": 1, "next": {"$key": 2}}, {"$key": 2, "n": 2, "next": {"$key": 4}},
         {"$key": 9223372036854775806, "n": 3, "next": null}, {"$key": -5, "n": 4, "next": null}]}}
      """#
    let realm = try Self.realm(document)
    let objects = realm.dynamicObjects("P")
    #expect(objects.map { $0["n"] as? Int } == [1, 2, 3, 4])
    #expect(objects.map { $0.rowKey } == [4, 5, 6, 7])
    #expect((objects[0]["next"] as? DynamicObject)?["n"] as? Int == 2)
    #expect((objects[1]["next"] as? DynamicObject)?["n"] as? Int == 1)
  }

  // MARK: Foreign documents

  @Test func `an array, lines and records of one class are learnt`() throws {
    let array =
      #"[{"id": 1, "name": "Ada", "score": 1.5, "tags": ["a", "b"], "more": {"x": [1, null]}},"#
      + #" {"id": 2, "name": null, "score": 2, "tags": []}]"#
    let lines = array.dropFirst().dropLast().replacing("}, {", with: "}\n{").replacing(
      "},", with: "}\n")
    for document in [array, String(lines)] {
      let realm = try Self.realm(document) {
        $0.className = "Person"
        $0.primaryKey = "id"
      }
      let type = try #require(realm.schema["Person"])
      #expect(
        type.properties.map { "\($0.name) \(SwiftModels.typeName(of: $0)) \($0.isPrimaryKey)" } == [
          "id Int true", "name String? false", "score Double false", "tags List<String> false",
          "more AnyRealmValue false",
        ])
      let people = realm.dynamicObjects("Person")
      #expect(people.map { $0["name"] as? String } == ["Ada", nil])
      #expect(people.sum(ofProperty: "score") as Double == 3.5)
      #expect((people.first?["tags"] as? List<String>)?.count == 2)
    }
  }

  @Test func `cells of a CSV file tell their types`() throws {
    let document = """
      id,zip,price,count,ok,day,note,key
      a,00501,1.5,1,true,2024-02-29,,0F0E0D0C-0102-0304-0506-070809101112
      b,12345,2,2,false,2024-03-01 12:00:00,"",1F0E0D0C-0102-0304-0506-070809101112

      """
    let realm = try Self.realm(document) { $0.className = "Row" }
    let type = try #require(realm.schema["Row"])
    #expect(
      type.properties.map { "\($0.name) \(SwiftModels.typeName(of: $0))" } == [
        "id String", "zip String", "price Double", "count Int", "ok Bool", "day Date",
        "note String?",
        "key UUID",
      ])
    let rows = realm.dynamicObjects("Row")
    #expect(rows.map { $0["zip"] as? String } == ["00501", "12345"])
    #expect(rows.map { $0["note"] as? String } == [nil, ""])
    #expect(rows.filter("day > %@", Date(timeIntervalSince1970: 1_709_251_200)).count == 1)
  }

  @Test func `a class as CSV keeps what cells can hold`() throws {
    let realm = try Self.realm(
      #"[{"n": 1, "s": "a\"b,c", "l": [1, 2], "e": ""}, {"n": 2, "s": null, "l": [], "e": "x"}]"#
    ) {
      $0.className = "T"
    }
    let document = try Self.text(realm, .csv)
    #expect(document == "n,s,l,e\r\n1,\"a\"\"b,c\",\"[1,2]\",\"\"\r\n2,,[],x\r\n")
    var work = try Import(DocumentSource(document))
    work.className = "T"
    try realm.write {
      realm.delete(realm.dynamicObjects("T"))
      _ = try work.run(in: realm)
    }
    #expect(try Self.text(realm, .csv) == document)
  }

  @Test func `objects whose only property is null are records of a CSV file`() throws {
    let realm = try Self.realm(#"[{"s": "a"}, {"s": null}, {"s": ""}, {"s": null}]"#) {
      $0.className = "T"
    }
    let document = try Self.text(realm, .csv)
    #expect(document == "s\r\na\r\n\r\n\"\"\r\n\r\n")
    let copy = try Self.realm(document) { $0.className = "T" }
    #expect(copy.dynamicObjects("T").map { $0["s"] as? String } == ["a", nil, "", nil])
  }

  @Test func `a table of values decides a type`() throws {
    let cases: [([String], String)] = [
      (["1", "2"], "Int"), (["1", "2.5"], "Double"), (["1", "null"], "Int?"), (["true"], "Bool"),
      (["1", "true"], "AnyRealmValue"), (["\"a\"", "1"], "AnyRealmValue"),
      (["\"2024-02-29\"", "\"2024-02-29T12:00:00Z\""], "Date"),
      (["\"2024-02-29\"", "\"soon\""], "String"),
      (["[1]", "[2.5]"], "List<Double>"), (["[1, null]"], "List<AnyRealmValue>"),
      (["[]"], "List<String>"),
      (["[1]", "2"], "AnyRealmValue"), (["1", "[2]"], "AnyRealmValue"), (["{}"], "AnyRealmValue"),
      (["null"], "String?"), (["[[1]]"], "List<AnyRealmValue>"),
    ]
    for (values, type) in cases {
      var inference = TypeInference(.json)
      for value in values { inference.add([.init("x", try JSONReader.value(of: value))]) }
      let found = try inference.type(named: "T", primaryKey: nil).properties[0]
      #expect(SwiftModels.typeName(of: found) == type, "\(values)")
    }
  }

  @Test func `values of any type may nest as deeply as the format allows`() throws {
    let document = "[{\"id\": 1, \"any\": \(Self.nested(levels: 99))}]"
    let realm = try Self.realm(document) { $0.className = "T" }
    #expect(try Self.text(realm, .lines).contains(Self.nested(levels: 99)))
  }

  /// A number in so many dictionaries in one another.
  private static func nested(levels: Int) -> String {
    String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels)
  }

  // MARK: Mistakes

  @Test(arguments: [
    (#"[{"id": 1, "x": 1}]"#, "Line 1: 'T' has no property 'x'."),
    (#"[{"id": "1"}]"#, #"Line 1: 'T.id': expected an integer instead of "1"."#),
    (#"[{"id": 1.5}]"#, "Line 1: 'T.id': expected an integer instead of 1.5."),
    ("[{\"id\": 1},\n{\"id\": null}]", "Line 2: 'T.id': it cannot be null."),
    (#"[{"name": "a"}]"#, "Line 1: an object of 'T' has no 'id', its primary key."),
    (
      "[{\"id\": 1},\n{\"id\": 1}]",
      "Line 2: an object of 'T' with the primary key 1 is there already; '--existing update' or 'skip' goes on."
    ),
    (#"[{"id": 1, "next": 7}]"#, "Line 1: 'T.next': there is no 'T' with the key 7."),
    (#"[{"id": 1, "next": "a"}]"#, #"Line 1: 'T.next': expected an integer instead of "a"."#),
    (
      #"[{"id": 1, "when": "tomorrow"}]"#,
      #"Line 1: 'T.when': expected a date, such as 2024-02-29T12:00:00Z instead of "tomorrow"."#
    ),
    (
      #"[{"id": 1, "any": {"$colour": 1}}]"#,
      "Line 1: 'T.any': '$colour' marks no type that is known."
    ),
    (
      #"[{"id": 1, "map": {"a.b": 1}}]"#,
      "Line 1: 'T.map': a map takes no key that has a point or begins with '$': 'a.b'."
    ),
    (
      #"[{"id": 1, "any": {"headers": {"example.com": 1}}}]"#,
      "Line 1: 'T.any': a map takes no key that has a point or begins with '$': 'example.com'."
    ),
    (
      #"[{"id": 1, "any": {"$dictionary": {"$x": 1}}}]"#,
      "Line 1: 'T.any': a map takes no key that has a point or begins with '$': '$x'."
    ),
    (
      "[{\"id\": 1, \"map\": {\"a.\u{301}b\": 1}}]",
      "Line 1: 'T.map': a map takes no key that has a point or begins with '$': 'a.\u{301}b'."
    ),
    (
      #"[{"id": 1, "set": [1, [1]]}]"#,
      "Line 1: 'T.set': a set cannot contain a list or a dictionary."
    ),
    (
      #"[{"id": 1, "set": [{"$dictionary": {"a": 1}}]}]"#,
      "Line 1: 'T.set': a set cannot contain a list or a dictionary."
    ),
    (
      "[{\"id\": 1, \"any\": \(nested(levels: 100))}]",
      "Line 1: 'T.any': a value is nested deeper than 100 levels."
    ),
    (
      #"[{"id": 1, "any": {"$double": 1e400}}]"#,
      "Line 1: 'T.any': expected a number instead of 1e400."
    ),
    (#"[{"id": 1, "list": 1}]"#, "Line 1: 'T.list': expected an array instead of 1."),
    (#"[{"id": 1}, 2]"#, "Line 1, column 14: expected an object."),
    (
      #"{"cambium": 2}"#,
      "Line 1, column 14: the document has a form that this version does not know; take a newer one."
    ),
    ("id,name\n1\n", "Line 2: 1 fields where the heading has 2."),
    ("id,id\n1,2\n", "Line 2: the heading has a name twice or an empty one: 'id'."),
    ("id\nx\n", #"Line 2: 'T.id': expected an integer instead of "x"."#),
  ])
  func `a mistake is named with its line, and nothing has changed`(
    document: String, message: String
  ) throws {
    let classes = #"""
      {"cambium": 1, "classes": [{"name": "T", "properties": [
        {"name": "id", "type": "int", "primaryKey": true}, {"name": "name", "type": "string", "optional": true},
        {"name": "next", "type": "object", "class": "T"}, {"name": "when", "type": "date", "optional": true},
        {"name": "any", "type": "any"}, {"name": "map", "type": "int", "collection": "map"},
        {"name": "list", "type": "int", "collection": "list"},
        {"name": "set", "type": "any", "collection": "set"}]}],
       "objects": {"T": [{"id": 9, "next": 9}]}}
      """#
    let realm = try Self.realm(classes)
    let before = try Self.text(realm, .json)
    #expect { () throws in
      var work = try Import(DocumentSource(document))
      work.className = "T"
      try realm.write { _ = try work.run(in: realm) }
    } throws: { "\($0)" == message }
    #expect(try Self.text(realm, .json) == before)
  }

  @Test(arguments: [
    (
      #"{"cambium": 1, "classes": [{"name": "", "properties": []}], "objects": {}}"#,
      "that has no name"
    ),
    (
      #"{"cambium": 1, "classes": [{"name": "A", "properties": [{"name": "a", "type": "list"}]}], "objects": {}}"#,
      "has no type that is known"
    ),
    (
      #"{"cambium": 1, "classes": [{"name": "A", "properties": [{"name": "a", "type": "object"}]}], "objects": {}}"#,
      "must name a class"
    ),
    (
      #"{"cambium": 1, "classes": [{"name": "A", "properties": [{"name": "a", "type": "date", "primaryKey": true}]}], "objects": {}}"#,
      "cannot be a primary key"
    ),
    ("[1]", "does not say of which class"), ("[]", ""),
  ])
  func `classes that cannot be are refused`(document: String, message: String) throws {
    guard !message.isEmpty else {
      #expect(try Self.realm(document).schema.objectSchema.isEmpty)
      return
    }
    #expect { try Self.realm(document) } throws: {
      "\($0)".contains(message) || "\($0)".contains("expected an object")
    }
  }

  @Test(arguments: [1, 3])
  func `a document that has another number of objects when it is read again is refused`(
    count: Int
  ) throws {
    func lines(_ count: Int) -> String {
      (0..<count).map { #"{"id": \#($0), "more": {"a": \#($0)}}"# + "\n" }.joined()
    }
    let realm = try Self.realm(lines(2)) { $0.className = "T" }
    let before = try Self.text(realm, .json)
    var readings = 0
    let source = DocumentSource(name: "the document", byteCount: nil) {
      readings += 1
      // It is looked at for its form, read for the objects, and read for what leads to others.
      var rest = Array(lines(readings < 3 ? 2 : count).utf8)
      return {
        defer { rest = [] }
        return rest
      }
    }
    var work = try Import(source)
    work.className = "T"
    #expect { try realm.write { _ = try work.run(in: realm) } } throws: {
      "\($0)" == "The document was changed while it was read; import it again."
    }
    #expect(readings == 3)
    #expect(try Self.text(realm, .json) == before)
  }

  @Test func `objects that are there are updated or left alone, as is asked`() throws {
    let first = #"[{"id": 1, "name": "a", "age": 1}, {"id": 2, "name": "b", "age": 2}]"#
    let second = #"[{"id": 2, "name": "c"}, {"id": 3, "name": "d", "age": 3}]"#
    for (policy, names) in [(Import.Policy.update, ["a", "c", "d"]), (.skip, ["a", "b", "d"])] {
      let realm = try Self.realm(first) {
        $0.className = "T"
        $0.primaryKey = "id"
      }
      var work = try Import(DocumentSource(second))
      work.className = "T"
      work.policy = policy
      let counts = try realm.write { try work.run(in: realm) }
      #expect(realm.dynamicObjects("T").map { $0["name"] as? String } == names)
      // What is not given stays.
      #expect(realm.dynamicObjects("T").map { $0["age"] as? Int } == [1, 2, 3])
      #expect(counts["T"]?.created == 1)
      #expect(counts["T"]?.updated == (policy == .update ? 1 : 0))
      #expect(counts["T"]?.skipped == (policy == .skip ? 1 : 0))
    }
  }
}
