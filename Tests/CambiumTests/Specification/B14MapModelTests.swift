import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

/// Section B14: maps against dictionaries, and what their observers are told.
@Suite struct B14MapModelTests {
  private let file: SpecFile

  init() throws { file = try SpecFile(B14MapTests.types) }

  /// What an observer of the members is told of a change: the keys that went, came and were modified.
  private func tell(
    _ keyPaths: [String]? = nil, _ change: @Sendable @escaping (SpecMaps) -> Void
  ) async throws -> String {
    let desk = try Desk(specConfiguration(B14MapTests.types))
    desk.run { realm in
      let maps = SpecMaps()
      realm.beginWrite()
      realm.add(maps)
      for key in ["a", "b", "c"] { maps.members[key] = SpecMapMember(key.uppercased()) }
      #expect(throws: Never.self) { try realm.commitWrite() }
      desk.tokens = [
        maps.members.observe(keyPaths: keyPaths) { [unowned desk] change in
          switch change {
          case .initial(let map): desk.note("\(map.keys)")
          case .update(_, let deletions, let insertions, let modifications):
            desk.note("-\(deletions) +\(insertions) ~\(modifications)")
          case .error: desk.note("error")
          }
        }
      ]
    }
    #expect(await desk.next() == #"["a", "b", "c"]"#)
    desk.run { realm in
      guard let maps = realm.objects(SpecMaps.self).first else { return }
      realm.beginWrite()
      change(maps)
      // Whatever was told, the last note is told, too.
      if !maps.isInvalidated { maps.members["z"] = SpecMapMember("Z") }
      #expect(throws: Never.self) { try realm.commitWrite() }
    }
    return await desk.next().replacing(#", "z"]"#, with: "]").replacing(#"["z"]"#, with: "[]")
  }

  @Test func `observers are told the keys`() async throws {
    let told = try await tell { maps in
      maps.members["a"] = nil
      maps.members["d"] = SpecMapMember("D")
      (maps.members["b"] ?? nil)?.age = 9
    }
    #expect(told == #"-["a"] +["d"] ~["b"]"#)
    let equal = try await tell { maps in
      let same = maps.members["c"] ?? nil
      maps.members["c"] = same
    }
    #expect(equal == #"-[] +[] ~["c"]"#)
    let deleted = try await tell { maps in
      if let gone = maps.members["b"] ?? nil { maps.realm?.delete(gone) }
    }
    #expect(deleted == #"-[] +[] ~["b"]"#)
    let other = try await tell(["friend.name"]) { maps in
      (maps.members["b"] ?? nil)?.age = 9
      (maps.members["c"] ?? nil)?.friend = maps.members["a"] ?? nil
    }
    #expect(other == #"-[] +[] ~["c"]"#)
    let cleared = try await tell { $0.members.removeAll() }
    #expect(cleared == #"-["a", "b", "c"] +[] ~[]"#)
  }

  @Test(arguments: 0..<8) func `random changes leave what a dictionary would hold`(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let limit = seed % 2 == 0 ? 12 : 600
    try autoreleasepool {
      let realm = try Realm(configuration: file.configuration)
      let maps = SpecMaps()
      try realm.write { realm.add(maps) }
      var model: [String: String] = [:]
      var members: [String: String?] = [:]
      var alive: Set<String> = []
      for step in 0..<(seed % 2 == 0 ? 60 : 20) {
        realm.beginWrite()
        let (before, membersBefore, aliveBefore) = (model, members, alive)
        for _ in 0..<Int.random(in: 1...(limit / 4), using: &random) {
          let key = "key \(Int.random(in: 0..<limit, using: &random))"
          switch Int.random(in: 0..<20, using: &random) {
          case 0..<12:
            let value = String(repeating: "v", count: Int.random(in: 0..<40, using: &random))
            maps.strings[key] = value
            model[key] = value
          case 12..<16:
            maps.strings[key] = nil
            model[key] = nil
          case 16:
            let name = "\(step) \(key)"
            guard !alive.contains(name) else { continue }
            maps.members[key] = SpecMapMember(name)
            members[key] = name
            alive.insert(name)
          case 17:
            maps.members[key] = nil
            members[key] = nil
          case 18:
            guard let name = alive.sorted().first,
              let object = realm.object(ofType: SpecMapMember.self, forPrimaryKey: name)
            else { continue }
            realm.delete(object)
            alive.remove(name)
            for (key, value) in members where value == name { members[key] = .some(nil) }
          default:
            let pairs = (0..<limit / 3).map { (key: "key \($0 * 2)", value: "bulk \(step)") }
            maps.strings.merge(pairs) { $1 }
            for (key, value) in pairs { model[key] = value }
          }
        }
        if Int.random(in: 0..<5, using: &random) == 0 {
          realm.cancelWrite()
          (model, members, alive) = (before, membersBefore, aliveBefore)
        } else {
          try realm.commitWrite()
        }
        let keys = model.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(maps.strings.keys == keys, "seed \(seed), step \(step)")
        #expect(maps.strings.values == keys.map { model[$0] }, "seed \(seed), step \(step)")
        for key in keys.prefix(20) { #expect(maps.strings[key] == model[key]) }
        #expect(
          Dictionary(uniqueKeysWithValues: maps.members.map { ($0.key, $0.value?.name) })
            == members, "seed \(seed), step \(step)")
      }
    }
    try file.expectSound()
  }

  @Test func `verification finds keys out of order`() throws {
    let configuration = Realm.Configuration(
      fileURL: URL(filePath: file.folder.file("plain.realm")), objectTypes: B14MapTests.types)
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.create(SpecMaps.self, value: ["ints": ["a": 1, "b": 2]]) }
    }
    let store = try configuration.store.open(
      Realm.StoreRequest(path: file.folder.file("plain.realm"), isReadOnly: false, codec: nil))
    let database = try Database(store: store)
    let transaction = try database.beginWrite()
    let table = try #require(try transaction.editTable("class/SpecMaps"))
    let column = try #require(table.record.columns.first { $0.name == "ints" })
    let keys: [StaticString] = ["b", "a"]
    let form = try #require(
      StoredList.form(
        [.int(1), .int(2)],
        keys: keys.map { .bytes(UnsafeRawBufferPointer(start: $0.utf8Start, count: 1)) }, .int))
    try form.withUnsafeBytes { bytes in
      _ = try table.update(key: 0, column: column.id, value: .bytes(bytes))
    }
    _ = try transaction.commit()
    var verifier = ObjectVerifier(snapshot: try database.snapshot())
    #expect(
      try verifier.run() == ["SpecMaps.ints: the keys of the map of object 0 are not in order"])
    try database.close()
  }
}
