import CambiumCore

/// What a closed store still does.
extension StoreContract {
  static let closing: [ContractCase<StoreSubject>] = [
    ContractCase("a closed store refuses everything, and closing twice is allowed") { run in
      let store = try run.open()
      try StoreModel(store, seed: 1).commit()
      try store.close()
      try store.close()
      let expected = StoreError.closed(path: store.identity.path)
      func expectClosed(_ what: String, _ body: () throws(StoreError) -> Void) {
        run.expectError(what, { $0 == expected }, body)
      }
      expectClosed("the newest head") { () throws(StoreError) in _ = try store.newestHead() }
      expectClosed("a pin") { () throws(StoreError) in _ = try store.pin() }
      expectClosed("a write") { () throws(StoreError) in try store.beginWrite().abort() }
      expectClosed("sync") { () throws(StoreError) in try store.sync() }
      expectClosed("making a version durable") { () throws(StoreError) in
        try store.makeDurable(.max)
      }
      expectClosed("statistics") { () throws(StoreError) in _ = try store.statistics() }
      expectClosed("a check") { () throws(StoreError) in _ = try store.check(reachable: []) }
    },

    ContractCase("pages of pins stay readable when the store is closed") { run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 2)
      for _ in 0..<5 { try model.commit() }
      let pin = try store.pin()
      let content = model.content
      try model.commit()
      try store.close()
      let reading = try FakeTree.read(pin, store)
      run.expect(reading.content == content, "the pinned version differs")
      if let base = unsafe pin.base {
        for child in reading.children
        where child.byteOffset + child.byteCount <= pin.readableByteCount {
          unsafe run.expect(
            Checksum.hash(base + child.byteOffset, child.byteCount) == child.checksum,
            "the lent page at byte \(child.byteOffset) differs")
        }
      }
    },

    ContractCase("who waits to write when the store is closed is refused") { run in
      let store = try run.open()
      // Only one thread uses it.
      nonisolated(unsafe) let writer = try store.beginWrite()
      // The turn of the others comes when the store is closed, whether they wait already or not.
      run.inThreads(4) { index in
        if index == 0 {
          try store.close()
          unsafe writer.abort()
          return
        }
        run.expectError("a write", { $0 == .closed(path: store.identity.path) }) {
          () throws(StoreError) in try store.beginWrite().abort()
        }
      }
    },

    ContractCase("what is published when the store is closed is refused, or there for good") {
      run in
      for durability in Durability.allCases {
        let name = "\(durability)"
        let store = try run.open(name)
        let model = try StoreModel(store, seed: 4)
        try model.commit()
        var content = model.content
        var generator = SeededGenerator(seed: 5)
        let writer = try store.beginWrite()
        let (root, changed) = try FakeTree.change(
          writer, store, changeCount: 3, generator: &generator)
        try store.close()
        do throws(StoreError) {
          _ = try writer.publish(root: root, durability: durability, metadata: [])
          content = changed
        } catch {
          run.expect(
            error == .closed(path: store.identity.path), "\(name): publishing threw \(error)")
        }
        if run.subject.isPersistent { try run.expectContent(run.open(name), content, name) }
      }
    },

    ContractCase("many threads may close at once") { run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 3, durabilities: [.relaxed])
      for _ in 0..<3 { try model.commit() }
      run.inThreads(6) { _ in try store.close() }
    },
  ]
}
