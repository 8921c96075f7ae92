import Cambium
import TestSupport
import Testing

/// Writes in the blocks of observers, of which others are not told.
@Suite struct SkippedWriteTests {
  /// A desk at which two observe the dogs, of which there is one; the first calls were made.
  private func observed(_ first: @escaping (Desk, Realm) throws -> Void) async throws -> Desk {
    let desk = try Desk(specConfiguration())
    try desk.run { realm in
      try realm.addDogs("Ben")
      let dogs = realm.objects(SpecDog.self)
      desk.tokens = [
        dogs.observe { change in
          desk.note("first", change)
          guard Self.isSecondDog(change) else { return }
          #expect(throws: Never.self) { try first(desk, realm) }
        },
        dogs.observe { desk.note("second of \(dogs.count)", $0) },
      ]
    }
    #expect(await [desk.next(), desk.next()] == ["first initial 1", "second of 1 initial 1"])
    return desk
  }

  private static func isSecondDog(_ change: RealmCollectionChange<Results<SpecDog>>) -> Bool {
    if case .update(_, _, [1], _) = change { true } else { false }
  }

  /// What is told when a second dog has come.
  private func told(_ desk: Desk) async throws -> [String] {
    try await desk.told { try $0.addDogs("Lita") }
  }

  @Test func `whom a write in a block passes over is told first what came before`() async throws {
    let desk = try await observed { desk, realm in
      try realm.write(withoutNotifying: [desk.tokens[1]]) { realm.add(SpecDog()) }
      desk.note("written")
    }
    #expect(
      try await told(desk) == [
        "first -[] +[1] ~[]", "second of 2 -[] +[1] ~[]", "written",
      ])
    #expect(await desk.told() == ["first -[] +[2] ~[]"])
    try desk.run { realm in
      try realm.write { realm.objects(SpecDog.self)[2].age = 7 }
    }
    #expect(await desk.told() == ["first -[] +[] ~[2]", "second of 3 -[] +[] ~[2]"])
  }

  @Test func `who is told before a write in a block may write`() async throws {
    let desk = try await observed { desk, realm in
      try realm.write(withoutNotifying: [desk.tokens[2]]) { realm.add(SpecDog()) }
    }
    desk.run { realm in
      desk.tokens.append(
        realm.objects(SpecDog.self).observe { change in
          desk.note("third", change)
          guard Self.isSecondDog(change) else { return }
          #expect(throws: Never.self) {
            try realm.write { realm.objects(SpecDog.self)[0].age = 7 }
          }
        })
    }
    #expect(await desk.next() == "third initial 1")
    #expect(
      try await told(desk) == [
        "first -[] +[1] ~[]", "third -[] +[1] ~[]", "third -[] +[] ~[0]",
        "second of 3 -[] +[1, 2] ~[0]",
      ])
    #expect(await desk.told() == ["first -[] +[2] ~[0]"])
  }

  @Test func `a commit in a block does not pass over who was not told what came before`()
    async throws
  {
    let desk = try await observed { desk, realm in
      realm.beginWrite()
      realm.add(SpecDog())
      try realm.commitWrite(withoutNotifying: [desk.tokens[1]])
    }
    #expect(
      try await told(desk) == ["first -[] +[1] ~[]", "second of 3 -[] +[1, 2] ~[]"])
  }

  @Test func `a write in the block of a Realm's observer passes over its own commit only`()
    async throws
  {
    let desk = try await observed { _, _ in }
    try desk.run { realm in
      var token: NotificationToken?
      token = realm.observe { _, realm in
        token?.invalidate()
        #expect(throws: Never.self) {
          try realm.write(withoutNotifying: [desk.tokens[1]]) { realm.add(SpecDog()) }
        }
      }
      try realm.addDogs("Lita")
      withExtendedLifetime(token) {}
    }
    #expect(await desk.told() == ["second of 2 -[] +[1] ~[]", "first -[] +[1, 2] ~[]"])
  }
}

extension Desk {
  fileprivate func note(_ name: String, _ change: RealmCollectionChange<Results<SpecDog>>) {
    switch change {
    case .initial(let dogs): note("\(name) initial \(dogs.count)")
    case .update(_, let deletions, let insertions, let modifications):
      note("\(name) -\(deletions) +\(insertions) ~\(modifications)")
    case .error: note("error")
    }
  }
}
