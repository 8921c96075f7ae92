import Cambium
import CambiumWeb
import Foundation
import TestSupport
import Testing

/// What a page is told of commits.
@Suite struct WebEventTests {
  private func stream(_ served: ServedStore) async throws -> AsyncStream<[UInt8]> {
    let response = await served.service.respond(
      to: WebRequest(method: "GET", target: "/api/events", headers: served.headers)
    ) { [] }
    guard case .stream(let stream) = response.body else {
      throw CancellationError()
    }
    return stream
  }

  /// The next event that tells something, as JSON.
  private func next(
    _ iterator: inout AsyncStream<[UInt8]>.Iterator
  ) async -> [String: Any]? {
    while let bytes = await iterator.next() {
      let text = String(decoding: bytes, as: UTF8.self)
      guard text.hasPrefix("data: ") else { continue }
      return try? JSONSerialization.jsonObject(with: Data(text.dropFirst(6).utf8)) as? [String: Any]
    }
    return nil
  }

  @Test func `commits of others are told by class, those that come fast together`() async throws {
    let served = try await ServedStore(people: 10)
    var iterator = try await stream(served).makeAsyncIterator()
    // What was before is not known.
    let first = await next(&iterator)
    #expect(first?["unknown"] as? Bool == true)
    for id in 100..<110 {
      try served.write { $0.create(ServedPerson.self, value: ["id": id]) }
    }
    try served.write { $0.objects(ServedPerson.self).first?.age = 77 }
    try served.write { $0.create(ServedNote.self) }
    // The note was committed last, and ends what is told.
    var (inserted, modified, isOver) = (0, 0, false)
    while !isOver {
      let event = try #require(await next(&iterator))
      let classes = event["classes"] as? [String: [String: Int]] ?? [:]
      inserted += classes["ServedPerson"]?["inserted"] ?? 0
      modified += classes["ServedPerson"]?["modified"] ?? 0
      isOver = classes["ServedNote"] != nil
    }
    #expect(inserted == 10 && modified == 1)
  }

  @Test func `closing ends the streams`() async throws {
    let served = try await ServedStore()
    let stream = try await stream(served)
    let reader = Task {
      for await _ in stream {}
      return true
    }
    await served.service.close()
    #expect(await reader.value)
    #expect(await served.send("/api/store").status == 500)
    await #expect(throws: CancellationError.self) { try await self.stream(served) }
  }

  @Test func `only so many pages are told, and those that went make room`() async throws {
    let served = try await ServedStore()
    do {
      var streams: [AsyncStream<[UInt8]>] = []
      for _ in 0..<32 { streams.append(try await stream(served)) }
      let more = await served.send("/api/events")
      #expect(more.status == 503)
      withExtendedLifetime(streams) {}
    }
    _ = try await stream(served)
  }

  @Test func `a schema that somebody else changes is followed`() async throws {
    let served = try await ServedStore(people: 2)
    #expect(await served.rows().status == 200)
    do {
      let other = Realm.Configuration(
        fileURL: URL(fileURLWithPath: served.path), schemaVersion: 1,
        objectTypes: [ServedNote.self])
      try await RealmDatabase(other).close()
    }
    // Rows first: whatever finds it opens the store anew.
    let rows = await served.rows()
    #expect(rows.status == 200, "\(rows.text)")
    #expect(await served.send("/api/store").status == 200)
  }

  @Test func `a store that cannot be opened anew just then is opened by the next request`()
    async throws
  {
    let served = try await ServedStore(people: 2)
    await #expect(processExitsWith: .success) { [path = served.path as String] in
      let other = Realm.Configuration(
        fileURL: URL(fileURLWithPath: path), schemaVersion: 1,
        objectTypes: [ChangedModels.ServedNote.self])
      _ = try Realm(configuration: other)
    }
    let away = served.path + ".away"
    try FileManager.default.moveItem(atPath: served.path, toPath: away)
    try "no store".write(toFile: served.path, atomically: true, encoding: .utf8)
    let refused = await served.rows()
    #expect(refused.status == 500, "\(refused.text)")
    #expect(refused.error.contains("people.cambium"), "\(refused.error)")
    try FileManager.default.removeItem(atPath: served.path)
    try FileManager.default.moveItem(atPath: away, toPath: served.path)
    for target in ["/api/store", "/api/rows?class=ServedPerson"] {
      let answer = await served.send(target)
      #expect(answer.status == 200, "\(answer.text)")
    }
  }
}
