import Cambium
import CambiumFile
import CambiumWeb
import Foundation
import TestSupport
import Testing

/// Tables: what is shown, sorted, filtered and paged.
@Suite struct WebTableTests {
  @Test func `the store tells its classes, counts and properties`() async throws {
    let served = try await ServedStore(people: 7, isWritable: false)
    let json = await served.send("/api/store").json
    #expect(json["path"] as? String == served.path)
    #expect(json["kind"] as? String == "file" && json["writable"] as? Bool == false)
    let classes = try #require(json["classes"] as? [[String: Any]])
    #expect(
      classes.map { $0["name"] as? String } == ["ServedAddress", "ServedNote", "ServedPerson"])
    #expect(classes.map { $0["count"] as? Int } == [0, 0, 7])
    #expect(classes.map { $0["embedded"] as? Bool } == [true, false, false])
    let properties = try #require(classes[2]["properties"] as? [[String: Any]])
    let kinds = properties.map { $0["kind"] as? String }
    #expect(
      kinds == [
        "value", "value", "value", "value", "link", "list", "link", "map", "any",
      ])
    #expect(properties[3]["type"] as? String == "String?")
    #expect(properties[6]["embeds"] as? Bool == true)
    #expect(properties.allSatisfy { $0["editable"] as? Bool == false })
  }

  @Test func `rows are sorted by any property, filtered, and counted`() async throws {
    let served = try await ServedStore(people: 1000)
    let all = await served.rows(["count": "3"])
    #expect(all.json["total"] as? Int == 1000)
    #expect(all.column("id") == ["0", "1", "2"])
    let sorted = await served.rows(["sort": "age", "descending": "1", "count": "2"])
    #expect(sorted.column("age") == ["89", "89"])
    let filtered = await served.rows(["query": "age > 80 SORT(id DESC)", "count": "2"])
    #expect(filtered.json["total"] as? Int == 99)
    #expect(filtered.column("id") == ["989", "988"])
    let both = await served.rows(["query": "age > 80 SORT(id DESC) LIMIT(5)", "sort": "age"])
    #expect(both.json["total"] as? Int == 5)
    #expect(both.column("age") == ["81", "81", "81", "81", "81"])
    #expect(both.column("id").first == "981", "equal ones stay in the order of the query")
    let last = await served.rows(["from": "998", "sort": "id"])
    #expect(last.column("id") == ["998", "999"])
    #expect(await served.rows(["from": "5000"]).rows.isEmpty)
  }

  @Test func `a mistake in a filter has its place`() async throws {
    let served = try await ServedStore(people: 1)
    let answer = await served.rows(["query": "age > 3 AND height < 4"])
    #expect(answer.status == 400)
    #expect(answer.json["offset"] as? Int == 12)
    #expect(answer.error.contains("height"))
    #expect(await served.rows(["query": "name == 'ä' AND x = 1"]).json["offset"] as? Int == 17)
    #expect(await served.rows(["sort": "friends"]).status == 400)
    #expect(await served.rows(["sort": "nothing"]).status == 400)
  }

  @Test func `a session stays at its version, whatever others write, and ends when it is told to`()
    async throws
  {
    let served = try await ServedStore(people: 300)
    func pinned() throws -> [UInt64] {
      try FileStore.inspect(path: served.path).pins.map(\.versions.lowerBound)
    }
    func session(_ answer: ServedStore.Answer) throws -> (id: String, version: UInt64) {
      (
        try #require(answer.json["session"] as? String),
        try #require(answer.json["version"] as? UInt64)
      )
    }
    let first = try session(await served.rows(["sort": "name"]))
    try served.write { $0.delete($0.objects(ServedPerson.self).where { $0.id < 200 }) }
    let next = await served.rows(["sort": "name", "session": first.id, "from": "200"])
    #expect(try session(next) == first)
    #expect(next.rows.count == 100)
    #expect(try pinned().contains(first.version))
    let fresh = await served.rows(["sort": "name", "ends": first.id])
    let second = try session(fresh)
    #expect(fresh.json["total"] as? Int == 100 && second.id != first.id)
    try served.write { $0.create(ServedNote.self) }
    #expect(try !pinned().contains(first.version), "nothing is held for it any more")
    #expect(try pinned().contains(second.version))
    // Another question is another session, which takes the place of the one that it names.
    let third = try session(await served.rows(["session": second.id]))
    #expect(third.id != second.id)
    try served.write { $0.create(ServedNote.self) }
    #expect(try !pinned().contains(second.version))
    #expect(try pinned().contains(third.version))
  }

  @Test func `cells are texts without loss, and long ones are cut`() async throws {
    let served = try await ServedStore { realm in
      let ada = realm.create(
        ServedPerson.self,
        value: [
          "id": Int.max, "name": String(repeating: "ä", count: 5000), "team": "",
          "home": ["city": "Ulm"], "prices": ["tea": 0.1], "note": 3,
        ])
      let ben = realm.create(ServedPerson.self, value: ["id": -1, "name": "<b>\"&\n"])
      ben.home = ServedAddress(value: ["city": String(repeating: "u", count: 2000)])
      ada.friend = ben
      ada.friends.append(objectsIn: (0..<25).map { _ in ben })
      ben.friends.append(ada)
      ben.note = .string("3")
    }
    let answer = await served.rows(["sort": "id", "descending": "1"])
    #expect(answer.column("id") == ["9223372036854775807", "-1"])
    #expect(answer.column("team") == ["", nil])
    #expect(answer.column("friend") == ["-1", nil])
    #expect(answer.column("prices") == ["{\"tea\":0.1}", "{}"])
    #expect(answer.column("note") == ["3", "\"3\""])
    #expect(answer.column("name")[0] == String(repeating: "ä", count: 1000))
    #expect(answer.column("name")[1] == "<b>\"&\n")
    let cells = try #require(answer.rows[0]["cells"] as? [Any])
    let (name, friends) = (cells[1] as? [String: Any], cells[5] as? [String: Any])
    #expect(name?["cut"] as? Bool == true && name?["count"] as? Int == 5000)
    #expect(friends?["cut"] as? Bool == true && friends?["count"] as? Int == 25)
    let home = try #require(cells[6] as? [String: Any])
    #expect(home["cut"] == nil)
    #expect(home["class"] as? String == "ServedAddress")
    #expect(home["text"] as? String == "{\"city\":\"Ulm\"}")
    let other = try #require((answer.rows[1]["cells"] as? [Any])?[6] as? [String: Any])
    #expect(other["cut"] as? Bool == true && other["class"] as? String == "ServedAddress")
  }

  @Test func `an object tells all its properties, pages of its collections, and who links to it`()
    async throws
  {
    let served = try await ServedStore(people: 150) { realm in
      let people = realm.objects(ServedPerson.self)
      guard let hub = people.first, let other = people.last else { return }
      hub.friends.append(objectsIn: people)
      other.note = .object(hub)
      hub.prices["tea"] = 1.5
      for person in people { person.friend = hub }
    }
    let rows = await served.rows(["count": "1"])
    let row = try #require(rows.rows.first?["row"] as? String)
    let target = "/api/object?class=ServedPerson&row=\(row)"
    let answer = await served.send(target)
    #expect(answer.json["key"] as? String == "0")
    #expect(answer.cell("name") == "name 0")
    let properties = try #require(answer.json["properties"] as? [[String: Any]])
    let friends = try #require(properties.first { $0["name"] as? String == "friends" })
    #expect(friends["count"] as? Int == 150)
    #expect((friends["cells"] as? [Any])?.count == 100)
    // What is short is there as one text as well, which can be edited.
    #expect(friends["cell"] == nil && answer.cell("prices") == "{\"tea\":1.5}")
    let prices = try #require(properties.first { $0["name"] as? String == "prices" })
    #expect(prices["keys"] as? [String] == ["tea"] && prices["cells"] as? [String] == ["1.5"])
    let rest = await served.send(target + "&property=friends&from=140")
    let more = try #require((rest.json["properties"] as? [[String: Any]])?.first)
    #expect((more["cells"] as? [Any])?.count == 10)
    #expect(ServedStore.Answer.text((more["cells"] as? [Any])?.last) == "149")
    let links = try #require(answer.json["backlinks"] as? [[String: Any]])
    #expect(links.map { $0["property"] as? String } == ["friend", "friends", "note"])
    #expect(links.map { $0["count"] as? Int } == [150, 1, 1])
    #expect((links[0]["rows"] as? [Any])?.count == 20)
  }

  @Test func `the map of the file adds up`() async throws {
    let served = try await ServedStore(people: 5000)
    let json = await served.send("/api/space").json
    let total = try #require(json["total"] as? Int)
    let cell = try #require(json["cell"] as? Int)
    let map = try #require(json["map"] as? String)
    let kinds = try #require(json["kinds"] as? [[String: Any]])
    #expect(map.count == (total + cell - 1) / cell)
    #expect(kinds.compactMap { $0["bytes"] as? Int }.reduce(0, +) == total)
    #expect(Set(map.compactMap { $0.wholeNumberValue }).isSubset(of: Set(0..<kinds.count)))
    #expect(map.contains { $0 != "0" })
  }
}
