import Cambium
import CambiumWeb
import Foundation
import TestSupport
import Testing

/// Edits that are saved: whole, or not at all, and never over what others have changed.
@Suite struct WebSaveTests {
  private func person(_ served: ServedStore, _ id: Int) async throws -> String {
    let answer = await served.rows(["query": "id = \(id)"])
    return try #require(answer.rows.first?["row"] as? String)
  }

  private func set(
    _ row: String, _ key: String, _ property: String, _ old: String?, _ new: String?
  ) -> [String: Any?] {
    [
      "change": "set", "class": "ServedPerson", "row": row, "key": key, "property": property,
      "old": old, "new": new,
    ]
  }

  @Test func `every kind of property takes what is shown of it`() async throws {
    let served = try await ServedStore(people: 3)
    let row = try await person(served, 1)
    let changes: [(String, String?, String?)] = [
      ("name", "name 1", "Ada"), ("age", "1", "41"), ("team", nil, ""), ("friend", nil, "2"),
      ("friends", "[]", "[0,2]"), ("home", nil, "{\"city\":\"Ulm\"}"),
      ("prices", "{}", "{\"tea\":2.5}"), ("note", nil, "{\"a\":[1,\"x\"]}"),
    ]
    let saved = try await served.save(changes.map { set(row, "1", $0.0, $0.1, $0.2) })
    #expect(saved.status == 200, "\(saved.text)")
    #expect(saved.json["rows"] as? [String] == Array(repeating: row, count: changes.count))
    try served.read { realm in
      let ada = try #require(realm.object(ofType: ServedPerson.self, forPrimaryKey: 1))
      #expect(ada.name == "Ada" && ada.age == 41 && ada.team == "" && ada.friend?.id == 2)
      #expect(ada.friends.map(\.id) == [0, 2] && ada.home?.city == "Ulm")
      #expect(ada.prices["tea"] == 2.5 && ada.note.dictionaryValue?["a"]?.listValue?.count == 2)
    }
    // What the page then shows is what it may compare with, and null takes all back that may be null.
    let shown = await served.rows(["query": "id = 1"])
    let back = try await served.save(
      ["team", "friend", "home", "note"].map { name in
        set(row, "1", name, shown.column(name)[0], nil)
      })
    #expect(back.status == 200, "\(back.text)")
    #expect(await served.rows(["query": "id = 1"]).column("home") == [nil])
  }

  @Test func `a value of any type cannot lead to an embedded object`() async throws {
    let served = try await ServedStore(people: 2) { realm in
      let first = try #require(realm.object(ofType: ServedPerson.self, forPrimaryKey: 0))
      first.home = ServedAddress(value: ["city": "Ulm"])
    }
    let row = try await person(served, 1)
    for home in 0..<4 {
      let link = "{\"$link\":{\"class\":\"ServedAddress\",\"key\":{\"$key\":\(home)}}}"
      for text in [link, "[\(link)]"] {
        let answer = try await served.save([set(row, "1", "note", nil, text)])
        #expect(answer.status == 400 && answer.text.contains("lives inside of another"))
      }
    }
  }

  @Test func `what others have changed is not overwritten, and the rows are named`() async throws {
    let served = try await ServedStore(people: 3)
    let rows = [
      try await person(served, 0), try await person(served, 1), try await person(served, 2),
    ]
    try served.write { realm in
      realm.object(ofType: ServedPerson.self, forPrimaryKey: 1)?.age = 50
      realm.delete(realm.objects(ServedPerson.self).where { $0.id == 2 })
    }
    let answer = try await served.save([
      set(rows[0], "0", "age", "0", "10"), set(rows[1], "1", "age", "1", "11"),
      set(rows[2], "2", "age", "2", "12"),
    ])
    #expect(answer.status == 409)
    let conflicts = try #require(answer.json["conflicts"] as? [[String: Any]])
    #expect(conflicts.map { $0["edit"] as? Int } == [1, 2])
    #expect(conflicts[0]["expected"] as? String == "1" && conflicts[0]["found"] as? String == "50")
    #expect(
      conflicts[0]["row"] as? String == rows[1] && conflicts[0]["property"] as? String == "age")
    #expect(conflicts[1]["gone"] as? Bool == true)
    try served.read { realm in
      let first = realm.object(ofType: ServedPerson.self, forPrimaryKey: 0)
      #expect(first?.age == 0, "nothing is saved")
    }
  }

  @Test func `a row that is another object's by now counts as gone`() async throws {
    let served = try await ServedStore(people: 1)
    let row = try await person(served, 0)
    let answer = try await served.save([set(row, "7", "age", "0", "1")])
    #expect(answer.status == 409)
  }

  @Test func `objects are made and deleted with the rest`() async throws {
    let served = try await ServedStore(people: 2)
    let row = try await person(served, 0)
    let answer = try await served.save([
      [
        "change": "create", "class": "ServedPerson",
        "new": ["id": "9", "name": "Ida", "friend": "1"],
      ],
      ["change": "create", "class": "ServedNote", "new": ["text": "12"]],
      [
        "change": "delete", "class": "ServedPerson", "row": row, "key": "0",
        "old": ["name": "name 0", "team": NSNull()] as [String: Any],
      ],
    ])
    #expect(answer.status == 200, "\(answer.text)")
    try served.read { realm in
      let ids = realm.objects(ServedPerson.self).sorted(byKeyPath: "id").map(\.id)
      #expect(Array(ids) == [1, 9])
      #expect(realm.objects(ServedNote.self).first?.text == "12")
    }
    let made = try #require((answer.json["rows"] as? [String])?.first)
    #expect(await served.send("/api/object?class=ServedPerson&row=\(made)").cell("name") == "Ida")
  }

  @Test func `edits go to the file that has taken the place of another, and nowhere if none has`()
    async throws
  {
    let served = try await ServedStore(people: 3)
    let other = try await ServedStore(people: 1)
    let row = try await person(served, 0)
    try FileManager.default.removeItem(atPath: served.path)
    let edit = set(row, "0", "name", "name 0", "Ada")
    let lost = try await served.save([edit])
    #expect(lost.status == 500, "\(lost.text)")
    #expect(lost.text.contains("No store at"), "\(lost.text)")
    #expect(!FileManager.default.fileExists(atPath: served.path))
    await other.service.close()
    try FileManager.default.copyItem(atPath: other.path, toPath: served.path)
    #expect(await served.rows().rows.count == 1)
    let saved = try await served.save([edit])
    #expect(saved.status == 200, "\(saved.text)")
    #expect(try served.read { $0.objects(ServedPerson.self).map(\.name) } == ["Ada"])
  }

  @Test(
    arguments: [
      ("age", "0", "old", "integer"), ("age", "0", nil, "null"), ("id", "0", "5", "primary key"),
      ("friend", nil, "77", "77"), ("friends", "[]", "x", "JSON"), ("none", nil, "1", "none"),
      ("admirers", nil, "1", "admirers"), ("home", nil, "{\"town\":\"x\"}", "town"),
      ("note", nil, "{\"example.com\":1}", "example.com"),
    ] as [(String, String?, String?, String)])
  func `a value that does not fit is refused with its edit, and nothing is changed`(
    property: String, old: String?, new: String?, reason: String
  ) async throws {
    let served = try await ServedStore(people: 1)
    let row = try await person(served, 0)
    let answer = try await served.save([
      set(row, "0", "name", "name 0", "changed"), set(row, "0", property, old, new),
    ])
    #expect(answer.status == 400, "\(answer.text)")
    #expect(answer.json["edit"] as? Int == 1)
    #expect(answer.error.contains(reason), "\(answer.error)")
    #expect(try served.read { $0.objects(ServedPerson.self).first?.name == "name 0" })
  }

  @Test(arguments: [
    "", "{}", "[]", "{\"edits\": 3}", "{\"edits\": [3]}", "{\"edits\": [{\"change\": \"drop\"}]}",
    "{\"edits\": [{\"change\": \"create\", \"class\": \"ServedPerson\", \"new\": {\"name\": \"x\"}}]}",
    "{\"edits\": [{\"change\": \"create\", \"class\": \"ServedPerson\", \"new\": {\"id\": \"0\"}}]}",
    "{\"edits\": [{\"change\": \"create\", \"class\": \"ServedAddress\", \"new\": {}}]}",
    "{\"edits\": [{\"change\": \"create\", \"class\": \"Nobody\", \"new\": {}}]}",
    "{\"edits\": [{\"change\": \"create\", \"class\": \"ServedNote\", \"new\": {\"text\": 3}}]}",
    "{\"edits\": \(String(repeating: "[", count: 5000))",
  ])
  func `bodies that make no sense are refused and change nothing`(body: String) async throws {
    let served = try await ServedStore(people: 1)
    #expect(await served.send("/api/save", method: "POST", body: body).status == 400)
    #expect(try served.read { $0.objects(ServedPerson.self).count == 1 })
    #expect(try served.read { $0.objects(ServedNote.self).isEmpty })
  }

  @Test func `more edits than a short transaction may have are refused`() async throws {
    let served = try await ServedStore()
    let edit: [String: Any?] = ["change": "create", "class": "ServedNote", "new": ["text": "x"]]
    #expect(try await served.save(Array(repeating: edit, count: 1001)).status == 413)
    #expect(try await served.save(Array(repeating: edit, count: 1000)).status == 200)
    #expect(try served.read { $0.objects(ServedNote.self).count == 1000 })
  }

  @Test func `what is too long to be seen whole is not overwritten`() async throws {
    let served = try await ServedStore(people: 30) { realm in
      realm.objects(ServedPerson.self).first?.friends.append(
        objectsIn: realm.objects(ServedPerson.self))
    }
    let row = try await person(served, 0)
    let shown = try #require(await served.rows(["query": "id = 0"]).column("friends")[0])
    let answer = try await served.save([set(row, "0", "friends", shown, "[]")])
    #expect(answer.status == 400 && answer.error.contains("too long"), "\(answer.text)")
    #expect(try served.read { $0.objects(ServedPerson.self).first?.friends.count == 30 })
  }

  @Test func `an edit of an object that an earlier one deletes is refused`() async throws {
    let served = try await ServedStore(people: 1)
    let row = try await person(served, 0)
    let answer = try await served.save([
      [
        "change": "delete", "class": "ServedPerson", "row": row, "key": "0",
        "old": [String: String](),
      ], set(row, "0", "age", "0", "1"),
    ])
    #expect(answer.status == 400 && answer.json["edit"] as? Int == 1)
    #expect(try served.read { $0.objects(ServedPerson.self).count == 1 })
  }
}
