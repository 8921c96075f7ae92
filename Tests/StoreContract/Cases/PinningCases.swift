import CambiumCore
import Synchronization

/// What a pin keeps, and what it does not.
extension StoreContract {
  static let pinning: [ContractCase<StoreSubject>] =
    (1...4 as ClosedRange<UInt64>).map { seed in
      ContractCase("every held version reads as committed through random work, seed \(seed)") {
        run in
        let store = try run.open()
        let model = try StoreModel(store, seed: seed)
        try model.run(60)
        model.releaseAll()
        try model.check("at the end")
        run.note(model.findings)
        try run.expectPinned(store, [])
      }
    } + [
      ContractCase("statistics list what is pinned") { run in
        let store = try run.open()
        let model = try StoreModel(store, seed: 7)
        var pins: [Pin] = []
        for _ in 0..<6 {
          try model.commit()
          pins.append(try store.pin())
          pins.append(try store.pin())
        }
        try run.expectPinned(store, [1, 2, 3, 4, 5, 6])
        pins.removeAll { $0.head.version == 2 }
        pins.removeFirst()
        try run.expectPinned(store, [1, 3, 4, 5, 6])
        pins.removeAll { $0.head.version != 3 }
        try run.expectPinned(store, [3])
        pins = []
        try run.expectPinned(store, [])
      },

      ContractCase("room of dropped pages is used again") { run in
        let store = try run.open()
        let model = try StoreModel(store, seed: 8, durabilities: [.relaxed])
        for _ in 0..<300 { try model.commit() }
        let reachable = try run.reachableByteCount(store)
        let total = try store.statistics().totalByteCount
        run.expect(
          total < reachable * 2 + run.subject.slackByteCount,
          "\(total) bytes for \(reachable) that are reached")
      },

      ContractCase("a pin holds only what it can reach, and its end gives that back") { run in
        let store = try run.open()
        let model = try StoreModel(store, seed: 9, durabilities: [.relaxed])
        for _ in 0..<20 { try model.commit() }
        var pin: Pin? = try store.pin()
        let reachable = try run.reachableByteCount(store)
        for _ in 0..<200 { try model.commit() }
        let slack = run.subject.slackByteCount
        let pending = try store.statistics().pendingByteCount
        run.expect(
          pending <= reachable + slack, "\(pending) bytes wait for a version of \(reachable)")
        try withExtendedLifetime(pin) {
          if let pin { _ = try FakeTree.read(pin, store) }
        }
        pin = nil
        try model.commit()
        try store.sync()
        let rest = try store.statistics().pendingByteCount
        run.expect(rest <= min(slack, pending), "\(rest) bytes wait for nobody")
        try model.check("at the end")
        run.note(model.findings)
      },

      ContractCase("pins end on other threads and in any order") { run in
        let store = try run.open()
        let model = try StoreModel(store, seed: 10, durabilities: [.relaxed])
        for round in 0..<10 {
          try model.commit()
          run.inThreads(4) { index in
            var generator = SeededGenerator(seed: UInt64(round * 4 + index))
            var pins: [Pin] = []
            for _ in 0..<50 {
              pins.append(try store.pin())
              pins.shuffle(using: &generator)
              if pins.count > 5 { pins.removeLast(Int.random(in: 1...5, using: &generator)) }
            }
            // What is left ends on yet another thread.
            let rest = PinBox(pins)
            pins = []
            run.inThreads(1) { _ in rest.empty() }
          }
        }
        try run.expectPinned(store, [])
        try model.check("at the end")
        run.note(model.findings)
      },
    ]
}

/// Hands pins to another thread.
private final class PinBox: Sendable {
  private let pins: Mutex<[Pin]>

  init(_ pins: [Pin]) { self.pins = Mutex(pins) }

  /// Lets all of them go.
  func empty() { pins.withLock { $0 = [] } }
}
