import CambiumCore
import Foundation

/// What outlives a store.
extension StoreContract {
  private static func isGone(_ subject: StoreSubject) -> String? {
    subject.isPersistent ? nil : "it keeps nothing"
  }

  private static func cannotBeReadOnly(_ subject: StoreSubject) -> String? {
    subject.isPersistent && subject.canBeReadOnly ? nil : "it cannot be opened for reading only"
  }

  /// The promises about what outlives a store; they are among ``cases``.
  public static let reopening: [ContractCase<StoreSubject>] = [
    ContractCase("a store opens again with all it held", unless: isGone) { run in
      var content: FakeTree.Content = []
      var last: Head?
      var identity: StoreIdentity?
      for round in 0..<5 as Range<UInt64> {
        let store = try run.open()
        let head = try store.newestHead()
        run.expect(head.version == last?.version ?? 0, "round \(round): \(head.version) is newest")
        run.expect(head.root == last?.root ?? head.root, "round \(round): another root")
        run.expect(head.epoch >= last?.epoch ?? 0, "round \(round): the epoch fell")
        run.expect(store.identity == identity ?? store.identity, "round \(round): another identity")
        identity = store.identity
        let model = try StoreModel(store, seed: round + 1)
        run.expect(model.content == content, "round \(round): another content")
        try model.run(20)
        content = model.content
        run.note(model.findings)
        model.releaseAll()
        last = try store.newestHead()
        // Whoever only lets go of a store closes it too.
        if round != 2 { try store.close() }
      }
    },

    ContractCase("commits of every durability outlive closing", unless: isGone) { run in
      for durability in Durability.allCases {
        let name = "\(durability)"
        let store = try run.open(name)
        let model = try StoreModel(store, seed: 5, durabilities: [durability])
        for _ in 0..<8 { try model.commit() }
        try store.close()
        let again = try run.open(name)
        try run.expectContent(again, model.content, name)
        let statistics = try again.statistics()
        run.expect(
          statistics.durableVersion == statistics.newestVersion, "\(name): \(statistics) is durable"
        )
      }
    },

    ContractCase("nothing waits for the pins of a store that was closed", unless: isGone) { run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 6, durabilities: [.relaxed])
      var pins: [Pin] = []
      for _ in 0..<30 {
        try model.commit()
        pins.append(try store.pin())
      }
      try store.close()
      pins = []
      let again = try run.open()
      try run.expectPinned(again, [])
      let next = try StoreModel(again, seed: 7)
      try next.commit()
      try next.check("after reopening")
      run.note(next.findings)
      let pending = try again.statistics().pendingByteCount
      run.expect(pending <= run.subject.slackByteCount, "\(pending) bytes wait for nobody")
    },

    ContractCase("a store remembers its codec", unless: isGone) { run in
      let store = try run.open()
      try StoreModel(store, seed: 8).commit()
      try store.close()
      var place = try run.place()
      let recorded = place.codecName
      place.codec = OtherCodec()
      do throws(StoreError) {
        let other = try run.subject.open(place)
        run.expect(
          other.identity.codec == recorded, "it says '\(other.identity.codec)' for '\(recorded)'")
      } catch {
        let known = recorded.isEmpty ? "none" : recorded
        guard case .codecMismatch(_, let found, _) = error else {
          return run.note("opening with another codec threw \(error)")
        }
        run.expect(found == known, "it names the codec '\(found)' for '\(known)'")
      }
      run.expect(try run.open().newestHead().version == 1, "it does not open with its own codec")
    },

    ContractCase("a store opened for reading only is not written", unless: cannotBeReadOnly) {
      run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 9)
      for _ in 0..<5 { try model.commit() }
      try store.close()
      for round in 0..<2 {
        let reader = try run.open(isReadOnly: true)
        run.expect(reader.identity.isReadOnly, "it does not say that it is only read")
        run.expectError("a write", { $0 == .readOnly(path: reader.identity.path) }) {
          () throws(StoreError) in try reader.beginWrite().abort()
        }
        try run.expectContent(reader, model.content, "round \(round)")
        let pin = try reader.pin()
        run.expect(pin.head.version == 5, "it opens at version \(pin.head.version)")
        run.expect(
          reader.waitForCommit(after: 5, timeoutNanoseconds: 0) == 5,
          "waiting names another version"
        )
        try reader.close()
      }
      try run.expectContent(run.open(), model.content, "at the end")
    },

    ContractCase("nothing is made where a store is only to be read", unless: cannotBeReadOnly) {
      run in
      let place = try run.place()
      run.expectError("opening", isNotFound) { () throws(StoreError) in
        try run.open(isReadOnly: true).close()
      }
      run.expect(!FileManager.default.fileExists(atPath: place.path), "something was made")
    },
  ]

  private static func isNotFound(_ error: StoreError) -> Bool {
    if case .notFound(let path) = error { !path.isEmpty } else { false }
  }
}
