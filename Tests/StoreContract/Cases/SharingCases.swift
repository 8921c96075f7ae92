import CambiumCore

/// What several openings of one place see.
extension StoreContract {
  static let sharing: [ContractCase<StoreSubject>] = [
    ContractCase(
      "who opens a shared place sees what others commit",
      unless: { $0.sharing == .shared ? nil : "one opening does not see another" }
    ) { run in
      let first = try run.open()
      let second = try run.open()
      run.expect(first.identity.uuid == second.identity.uuid, "two identities")
      for round in 0..<6 {
        let (writing, reading) = round.isMultiple(of: 2) ? (first, second) : (second, first)
        let pin = try reading.pin()
        let before = try FakeTree.read(pin, reading).content
        let model = try StoreModel(writing, seed: UInt64(round), durabilities: [.relaxed])
        run.expect(model.content == before, "round \(round): not what the other one committed")
        for _ in 0..<4 { try model.commit() }
        try run.expectContent(reading, model.content, "round \(round)")
        run.expect(
          try FakeTree.read(pin, reading).content == before,
          "round \(round): the other one's pin did not hold")
        let version = reading.waitForCommit(after: pin.head.version, timeoutNanoseconds: .max)
        run.expect(version == pin.head.version + 4, "round \(round): waiting returned \(version)")
      }
      let content = try FakeTree.read(first).content
      try first.close()
      try run.expectContent(second, content, "after the other one was closed")
      try StoreModel(second, seed: 9).commit()
    },

    ContractCase(
      "who opens a shared place sees what others have made durable, a moment later",
      unless: { $0.sharing == .later ? nil : "nobody has to wait, or sees another" }
    ) { run in
      let first = try run.open()
      let second = try run.open()
      run.expect(first.identity.uuid == second.identity.uuid, "two identities")
      for round in 0..<8 {
        let (writing, reading) = round.isMultiple(of: 2) ? (first, second) : (second, first)
        let before = try writing.newestHead().version
        if before > 0 {
          run.expect(
            reading.waitForCommit(after: before - 1, timeoutNanoseconds: .max) == before,
            "round \(round): the last round's version did not come")
        }
        let pin = try reading.pin()
        let old = try FakeTree.read(pin, reading).content
        let model = try StoreModel(writing, seed: UInt64(round))
        run.expect(model.content == old, "round \(round): not what the other one committed")
        for _ in 0..<4 { try model.commit() }
        try writing.sync()
        while reading.waitForCommit(after: before + 3, timeoutNanoseconds: .max) < before + 4 {}
        try run.expectContent(reading, model.content, "round \(round)")
        run.expect(
          try FakeTree.read(pin, reading).content == old,
          "round \(round): the other one's pin did not hold")
      }
      let content = try FakeTree.read(first).content
      try first.close()
      try run.expectContent(second, content, "after the other one was closed")
      try StoreModel(second, seed: 9).commit()
    },

    ContractCase(
      "writers of several openings take turns",
      unless: { [.shared, .later].contains($0.sharing) ? nil : "one opening does not see another" }
    ) { run in
      let stores = try (0..<4).map { _ in try run.open() }
      run.inThreads(4) { index in
        for _ in 0..<10 {
          let writer = try stores[index].beginWrite()
          _ = try writer.publish(root: writer.base.root, durability: .relaxed, metadata: [])
        }
      }
      if run.subject.sharing == .later {
        for store in stores { try store.sync() }
      }
      for store in stores {
        let version =
          run.subject.sharing == .later
          ? store.waitForCommit(after: 39, timeoutNanoseconds: 100_000_000_000)
          : try store.newestHead().version
        run.expect(version == 40, "version \(version) after 40 commits")
      }
    },

    ContractCase(
      "a place in use is refused, and free when its store was closed",
      unless: { $0.sharing == .exclusive ? nil : "several may open a place" }
    ) { run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 1)
      try model.commit()
      for isReadOnly in run.subject.canBeReadOnly ? [false, true] : [false] {
        run.expectError("opening a place in use", isInUse) { () throws(StoreError) in
          try run.open(isReadOnly: isReadOnly).close()
        }
      }
      try model.commit()
      try model.check("after others were refused")
      run.note(model.findings)
      try store.close()
      let again = try run.open()
      try run.expectContent(again, model.content, "opened again")
    },
  ]

  private static func isInUse(_ error: StoreError) -> Bool {
    if case .inUse(_, let holder) = error { !holder.isEmpty } else { false }
  }
}
