import CambiumCore
import Synchronization

/// What the engine over a store does, with the subject's codec in between.
extension StoreContract {
  /// The promises of the engine over a store; they are among ``cases``.
  public static let engine: [ContractCase<StoreSubject>] =
    (1...3 as ClosedRange<UInt64>).map { seed in
      ContractCase("the engine agrees with a model over kept versions and spilling, seed \(seed)") {
        run in
        var model = EngineModel(seed: seed)
        for _ in 0..<(run.subject.isPersistent ? 3 : 1) {
          let store = try run.open()
          try model.work(run, on: run.database(store, options: EngineModel.options))
          try store.close()
        }
      }
    } + [
      ContractCase("the engine refuses a store of another codec") { run in
        let store = try run.open()
        let known = store.identity.codec.isEmpty ? "none" : store.identity.codec
        run.expectError(
          "another codec",
          { error in
            if case .codecMismatch(_, known, "another") = error { true } else { false }
          }
        ) { () throws(StoreError) in _ = try Database(store: store, codec: OtherCodec()) }
      },

      ContractCase("snapshots stay readable when their database is closed") { run in
        let store = try run.open()
        let database = try run.database(store)
        let transaction = try database.beginWrite()
        let bytes = FakeTree.bytes(seed: 1) + FakeTree.bytes(seed: 2)
        try transaction.setValue("value", bytes)
        let tree = try transaction.editKeyTree("keys")
        for key in 0..<2000 { try tree.set(Array("key \(key)".utf8), Array("\(key)".utf8)) }
        let snapshot = try transaction.commit()
        try database.close()
        run.expect(try snapshot.value("value") == bytes, "another value")
        for key in stride(from: 0, to: 2000, by: 37) {
          let value = try snapshot.keyTree("keys")?.value(for: Array("key \(key)".utf8))
          run.expect(value == Array("\(key)".utf8), "another value under key \(key)")
        }
      },

      ContractCase("a ring of keys stays whole under writers and readers") { run in
        let store = try run.open()
        let database = try run.database(store)
        let keyCount = 48
        let whole = keyCount * 1000
        let filling = try database.beginWrite()
        for key in 0..<keyCount { try filling.setValue("key/\(key)", Array("1000".utf8)) }
        _ = try filling.commit()
        @Sendable func value(_ key: Int, _ view: any ReadTransaction) throws(StoreError) -> Int {
          try view.value("key/\(key)").flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? -1
        }
        @Sendable func check(_ snapshot: Snapshot) throws(StoreError) {
          var sum = 0
          for key in 0..<keyCount { sum += try value(key, snapshot) }
          run.expect(sum == whole, "version \(snapshot.version) is torn: \(sum)")
        }
        run.inThreads(4) { index in
          var generator = SeededGenerator(seed: UInt64(index))
          var kept: [Snapshot] = []
          for _ in 0..<25 {
            if index < 2 {
              let transaction = try database.beginWrite()
              let from = Int.random(in: 0..<keyCount, using: &generator)
              let to = (from + Int.random(in: 1..<keyCount, using: &generator)) % keyCount
              let amount = Int.random(in: 1...100, using: &generator)
              let (less, more) = (
                try value(from, transaction) - amount, try value(to, transaction) + amount
              )
              try transaction.setValue("key/\(from)", Array("\(less)".utf8))
              try transaction.setValue("key/\(to)", Array("\(more)".utf8))
              kept.append(try transaction.commit(durability: .relaxed))
            } else {
              kept.append(try database.snapshot())
            }
            if kept.count > 4 { kept.remove(at: Int.random(in: kept.indices, using: &generator)) }
            for snapshot in kept { try check(snapshot) }
          }
        }
        run.note(try database.verify().findings)
      },

      ContractCase("a copy holds the same, and verifies") { run in
        var model = EngineModel(seed: 9)
        let source = try run.database(run.open("source"), options: EngineModel.options)
        try model.work(run, on: source)
        let destination = try run.database(run.open("destination"))
        try source.copy(to: destination)
        run.expect(
          try EngineModel.read(destination.snapshot()) == model.content,
          "the copy holds another content")
        run.note(try destination.verify().findings)
      },

      ContractCase("pages that were changed on their way are noticed") { run in
        let store = TamperingStore(try run.open())
        let options = EngineModel.options
        var model = EngineModel(seed: 10)
        try model.work(run, on: run.database(store, options: options))
        for seed in 0..<60 as Range<UInt64> {
          store.tamper(seed: seed)
          do throws(StoreError) {
            // Nothing is cached in a new database.
            let database = try run.database(store, options: options)
            let content = try EngineModel.read(database.snapshot())
            run.expect(content == model.content, "tampering \(seed) shows another content")
          } catch {
            switch error {
            case .damaged, .codecFailure: break
            default: run.note("tampering \(seed) threw \(error)")
            }
          }
        }
        run.expect(store.tamperedCount > 20, "only \(store.tamperedCount) pages were changed")
      },
    ]
}
