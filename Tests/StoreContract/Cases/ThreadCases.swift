import CambiumCore
import Synchronization

/// What many threads at once may do.
extension StoreContract {
  static let threads: [ContractCase<StoreSubject>] = [
    ContractCase("writers take turns") { run in
      let store = try run.open()
      run.inThreads(4) { index in
        var generator = SeededGenerator(seed: UInt64(index))
        for _ in 0..<12 {
          let writer = try store.beginWrite()
          let (root, _) = try FakeTree.change(writer, store, changeCount: 2, generator: &generator)
          if Int.random(in: 0..<4, using: &generator) == 0 {
            writer.abort()
            let next = try store.beginWrite()
            _ = try next.publish(root: next.base.root, durability: .relaxed, metadata: [])
          } else {
            _ = try writer.publish(root: root, durability: .relaxed, metadata: [])
          }
        }
      }
      let version = try store.newestHead().version
      run.expect(version == 48, "version \(version) after 48 commits")
      let reading = try FakeTree.read(store)
      run.note(try store.check(reachable: reading.extents))
    },

    ContractCase("what is done with a new head is done before another writer begins") { run in
      let store = try run.open()
      // The version whose writer has been told of it.
      let told = Atomic<Version>(0)
      run.inThreads(3) { _ in
        for round in 0..<12 {
          let writer = try store.beginWrite()
          run.expect(
            told.load(ordering: .acquiring) == writer.base.version,
            "version \(writer.version) began before \(writer.base.version) was told of")
          let pin = try writer.publish(
            root: writer.base.root, durability: round == 0 ? .full : .relaxed, metadata: []
          ) { head in
            run.expect(head.version == writer.version, "told of \(head.version)")
            let newest = try? store.newestHead().version
            run.expect(
              newest == head.version, "told of \(head.version) while \(newest ?? 0) is newest")
            // Whoever waits could begin meanwhile.
            _ = store.waitForCommit(after: head.version, timeoutNanoseconds: 100_000)
            told.store(head.version, ordering: .releasing)
          }
          run.expect(pin.head.version == writer.version, "the pin holds \(pin.head.version)")
        }
      }
      run.expect(told.load(ordering: .acquiring) == 36, "not every writer was told")
    },

    ContractCase("readers see whole versions beside a writer") { run in
      let store = try run.open()
      // What each version holds, noted before it is published.
      let contents = Contents()
      let isDone = Atomic(false)
      run.inThreads(4) { index in
        var generator = SeededGenerator(seed: UInt64(index))
        if index == 0 {
          defer { isDone.store(true, ordering: .releasing) }
          for _ in 0..<80 {
            let writer = try store.beginWrite()
            let (root, content) = try FakeTree.change(
              writer, store, changeCount: 4, generator: &generator)
            contents[writer.version] = content
            let durability: Durability = writer.version.isMultiple(of: 16) ? .full : .relaxed
            _ = try writer.publish(root: root, durability: durability, metadata: [])
          }
          return
        }
        var held: [Pin] = []
        var newest: Version = 0
        var rounds = 0
        repeat {
          rounds += 1
          let pin = try store.pin()
          run.expect(pin.head.version >= newest, "the newest version fell to \(pin.head.version)")
          newest = pin.head.version
          let head = try store.newestHead()
          run.expect(head.version >= newest, "the newest head fell to \(head.version)")
          held.append(pin)
          if held.count > 6 { held.remove(at: Int.random(in: held.indices, using: &generator)) }
          guard let old = held.randomElement(using: &generator) else { continue }
          let reading = try FakeTree.read(old, store)
          run.expect(
            reading.content == contents[old.head.version],
            "version \(old.head.version) is not what was committed")
          _ = try store.statistics()
        } while !isDone.load(ordering: .acquiring) || rounds < 20
      }
      run.expect(try store.newestHead().version == 80, "not all commits took place")
      try run.expectPinned(store, [])
      let reading = try FakeTree.read(store)
      run.note(try store.check(reachable: reading.extents))
    },

    ContractCase("syncs beside commits lose and block nothing") { run in
      let store = try run.open()
      run.inThreads(4) { index in
        for round in 0..<15 as Range<UInt64> {
          if index == 0 {
            let writer = try store.beginWrite()
            let durability: Durability = round.isMultiple(of: 5) ? .full : .relaxed
            _ = try writer.publish(
              root: writer.base.root, durability: durability, metadata: [UInt8(index)])
          } else if index == 1 {
            try store.makeDurable(try store.newestHead().version)
          } else {
            try store.sync()
          }
        }
      }
      try store.sync()
      let statistics = try store.statistics()
      run.expect(
        statistics.newestVersion == 15 && statistics.durableVersion == 15,
        "newest \(statistics.newestVersion), durable \(statistics.durableVersion)")
    },
  ]

  /// What versions hold, for all threads.
  private final class Contents: Sendable {
    private let contents = Mutex<[Version: FakeTree.Content]>([0: []])

    subscript(version: Version) -> FakeTree.Content? {
      get { contents.withLock { $0[version] } }
      set { contents.withLock { $0[version] = newValue } }
    }
  }
}
