import CambiumWeb
import Foundation
import TestSupport
import Testing

/// Who is answered, and how much may be asked.
@Suite struct WebGuardTests {
  @Test func `only who has the token is told anything of the store`() async throws {
    let served = try await ServedStore(people: 1)
    #expect(await served.send("/api/store").status == 200)
    for path in ["store", "rows?class=ServedPerson", "object", "space", "events", "save", "none"] {
      for token in [nil, "", "Bearer ", "Bearer 0", "bearer", "Basic \(path)"] {
        let answer = await served.send("/api/\(path)", headers: ["authorization": token])
        #expect(answer.status == 401, "\(path) \(token ?? "none")")
        #expect(!answer.text.contains("ServedPerson"))
      }
    }
    let right = try #require(served.headers["authorization"])
    for wrong in [right + "0", String(right.dropLast()), right.uppercased(), " " + right] {
      let answer = await served.send("/api/store", headers: ["authorization": wrong])
      #expect(answer.status == 401)
    }
  }

  @Test(
    arguments: [
      ["host": "evil.example:8000"], ["host": "127.0.0.1"], ["host": "127.0.0.1:80"], ["host": nil],
      ["host": "localhost.evil.example:8000"], ["origin": "http://evil.example"],
      ["origin": "null"],
      ["origin": "http://127.0.0.1:9000"], ["origin": "https://127.0.0.1:8000"],
      ["sec-fetch-site": "cross-site"], ["sec-fetch-site": "same-site"],
    ] as [[String: String?]])
  func `other sites and names that lead here are refused`(headers: [String: String?]) async throws {
    let served = try await ServedStore()
    #expect(await served.send("/api/store", headers: headers).status == 403)
  }

  @Test func `the page itself is let in`() async throws {
    let served = try await ServedStore()
    for host in ["127.0.0.1", "localhost", "[::1]"] {
      let headers = [
        "host": "\(host):8000", "origin": "http://\(host):8000", "sec-fetch-site": "same-origin",
      ]
      #expect(await served.send("/api/store", headers: headers).status == 200)
    }
  }

  @Test func `the files of the page are all there, and nothing else is`() async throws {
    let served = try await ServedStore()
    let site = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Tools/Web/Site").standardizedFileURL
    let names = try FileManager.default.contentsOfDirectory(atPath: site.path)
    #expect(names.contains("index.html"))
    for name in names {
      let answer = await served.send("/\(name)", headers: ["authorization": nil])
      #expect(answer.status == 200, "\(name)")
      let content = try String(contentsOf: site.appendingPathComponent(name), encoding: .utf8)
      #expect(answer.text == content, "\(name)")
    }
    #expect(await served.send("/").text == served.send("/index.html").text)
    for path in [
      "/../Package.swift", "/%2e%2e/Package.swift", "/index.html/", "//", "/Site/main.js",
    ] {
      #expect(await served.send(path).status == 404, "\(path)")
    }
    #expect(await served.send("/", method: "POST").status == 405)
  }

  @Test func `enormous and impossible requests are refused in a sentence`() async throws {
    let served = try await ServedStore(people: 10)
    let long = String(repeating: "a", count: 30_000)
    #expect(await served.send("/api/store?\(long)").status == 414)
    #expect(await served.rows(["query": String(repeating: "a", count: 9000)]).status == 413)
    #expect(await served.rows(["query": String(repeating: "NOT ", count: 2000)]).status == 400)
    #expect(await served.rows(["query": String(repeating: "(", count: 8000)]).status == 400)
    #expect(await served.rows(["from": "-1"]).status == 400)
    #expect(await served.rows(["from": "99999999999999999999"]).status == 400)
    #expect(await served.rows(["count": "x"]).status == 400)
    #expect(
      await served.rows(["from": "281474976710656", "count": "281474976710656"]).rows.isEmpty)
    #expect(await served.send("/api/rows").status == 400)
    #expect(await served.send("/api/rows?class=Nobody").status == 400)
    #expect(await served.send("/api/object?class=Nobody&row=1").status == 404)
    #expect(await served.send("/api/object?class=ServedPerson&row=99").status == 404)
    #expect(await served.send("/api/object?class=ServedPerson&row=one").status == 400)
    #expect(await served.send("/api/object?class=ServedPerson&row=1&property=no").status == 404)
    #expect(await served.send("/api/none").status == 404)
    #expect(await served.send("/api/store", method: "PUT").status == 405)
    #expect(await served.send("/api/save", method: "GET").status == 405)
    #expect(await served.rows(["count": "100000"]).rows.count == 10)
  }

  @Test func `a request that takes too long ends, and says what helps`() async throws {
    let served = try await ServedStore(people: 20_000, timeLimit: 0.000_001)
    let answer = await served.rows(["query": "SUBQUERY(friends, $f, $f.age > 3).@count == 0"])
    #expect(answer.status == 504)
    #expect(answer.error.contains("was not done"))
    #expect(await served.rows(["sort": "name"]).status == 504)
  }

  @Test func `32 requests are answered at the same time, and one more is refused`() async throws {
    let served = try await ServedStore()
    let (waiting, isWaiting) = AsyncStream.makeStream(of: Void.self)
    let (gate, opened) = AsyncStream.makeStream(of: Void.self)
    let held = (0..<32).map { _ in
      Task {
        let response = await served.service.respond(
          to: WebRequest(method: "POST", target: "/api/save", headers: served.headers)
        ) {
          isWaiting.yield()
          for await _ in gate {}
          return Array("{\"edits\": []}".utf8)
        }
        return response.status
      }
    }
    var iterator = waiting.makeAsyncIterator()
    for _ in 0..<32 { await iterator.next() }
    #expect(await served.send("/api/store").status == 503)
    // Who only wants the page itself is let in.
    #expect(await served.send("/").status == 200)
    opened.finish()
    for task in held { #expect(await task.value == 200) }
    #expect(await served.send("/api/store").status == 200)
  }

  @Test func `a store that is only shown takes no edits`() async throws {
    let served = try await ServedStore(people: 1, isWritable: false)
    let answer = try await served.save([
      [
        "change": "delete", "class": "ServedPerson", "row": "0", "key": "0",
        "old": [String: String](),
      ]
    ])
    #expect(answer.status == 403)
    #expect(answer.error.contains("--write"))
    #expect(await served.rows().json["total"] as? Int == 1)
  }

  @Test(arguments: [false, true])
  func `what is not there is said before anything is served, and not made`(
    isWritable: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("none")
    await #expect {
      _ = try await WebService(WebSettings(store: path, isWritable: isWritable)) { _ in }
    } throws: { WebService.text(of: $0).contains("No store at") }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `settings go through an argument as they are`() throws {
    let settings = WebSettings(
      store: "rocksdb:/a \"b\"", keyFile: "k", isWritable: true, port: 1, timeLimit: 2.5,
      rowLimit: 3, printsJSON: true)
    let read = try WebSettings(argument: settings.argument)
    #expect(read.store == settings.store && read.keyFile == "k" && read.isWritable)
    #expect(read.port == 1 && read.timeLimit == 2.5 && read.rowLimit == 3 && read.printsJSON)
  }
}
