import CambiumCore
import Foundation

/// What is durable when, and who waits for what.
extension StoreContract {
  static let durability: [ContractCase<StoreSubject>] = [
    ContractCase("a full commit is durable when it returns, everything before it too") { run in
      let store = try run.open()
      for durability in [Durability.full, .relaxed, .full] {
        try StoreModel(store, seed: 1, durabilities: [durability]).commit()
        guard durability == .full else { continue }
        let statistics = try store.statistics()
        run.expect(
          statistics.durableVersion == statistics.newestVersion,
          "durable is \(statistics.durableVersion), newest \(statistics.newestVersion)")
      }
    },

    ContractCase("a commit of any durability is seen at once") { run in
      let store = try run.open()
      let model = try StoreModel(store, seed: 2)
      for durability in Durability.allCases + Durability.allCases {
        let writer = try store.beginWrite()
        let pin = try writer.publish(root: .empty(.key), durability: durability, metadata: [])
        run.expect(try store.newestHead() == pin.head, "\(durability): not seen")
        let statistics = try store.statistics()
        run.expect(
          statistics.durableVersion <= statistics.newestVersion,
          "\(durability): what is durable is newer than the newest version")
      }
      run.expect(model.findings == [], "\(model.findings)")
    },

    ContractCase("syncing makes everything durable") { run in
      let store = try run.open()
      try store.sync()
      try store.makeDurable(0)
      let model = try StoreModel(store, seed: 3, durabilities: [.relaxed])
      for round in 0..<6 as Range<Version> {
        try model.commit()
        try model.commit()
        if round.isMultiple(of: 2) {
          try store.sync()
        } else {
          try store.makeDurable(round * 2 + 1)
        }
        let durable = try store.statistics().durableVersion
        let least = round.isMultiple(of: 2) ? round * 2 + 2 : round * 2 + 1
        run.expect(durable >= least, "durable is \(durable), not \(least)")
        try store.sync()
        try store.sync()
      }
    },

    ContractCase("who waits for a commit returns with it, or when time is up") { run in
      let store = try run.open()
      run.expect(store.waitForCommit(after: 0, timeoutNanoseconds: 0) == 0, "not version 0")
      let model = try StoreModel(store, seed: 4)
      try model.commit()
      run.expect(store.waitForCommit(after: 0, timeoutNanoseconds: .max) == 1, "not version 1")
      run.expect(store.waitForCommit(after: 1, timeoutNanoseconds: 1_000_000) == 1, "not version 1")
      // Whoever comes late finds the version there; of ten rounds most are in time.
      for newest in 1...10 as ClosedRange<Version> {
        let arrived = DispatchSemaphore(value: 0)
        run.inThreads(4) { index in
          if index > 0 {
            arrived.signal()
            let version = store.waitForCommit(after: newest, timeoutNanoseconds: .max)
            return run.expect(version > newest, "a wait for a commit returned \(version)")
          }
          let writer = try store.beginWrite()
          for _ in 1..<4 { arrived.wait() }
          _ = try writer.publish(root: .empty(.key), durability: .relaxed, metadata: [])
        }
      }
    },

    ContractCase("closing wakes who waits for a commit") { run in
      let store = try run.open()
      run.inThreads(4) { index in
        if index == 0 { return try store.close() }
        let version = store.waitForCommit(after: 0, timeoutNanoseconds: .max)
        run.expect(version == 0, "a wait that closing ended returned \(version)")
      }
    },
  ]
}
