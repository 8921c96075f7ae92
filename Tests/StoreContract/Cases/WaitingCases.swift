import CambiumCore
import Foundation
import Synchronization

/// What happens without a thread that waits for it: writes that begin, versions that become durable,
/// commits that are told.
extension StoreContract {
  static let waiting: [ContractCase<StoreSubject>] = [
    ContractCase("a write begins without a waiting thread") { run in
      let store = try run.open()
      let database = try run.database(store)
      // The first has the turn, and the others wait for it on no thread.
      nonisolated(unsafe) let first = try database.beginWrite()
      let order = Order()
      for index in 0..<8 {
        database.beginWrite { result in
          do throws(StoreError) {
            let transaction = try result.get()
            order.note("\(index)")
            try transaction.setValue("value \(index)", [UInt8(index)])
            _ = try transaction.commit(durability: .relaxed)
          } catch {
            run.note("write \(index): \(error)")
          }
          order.end()
        }
      }
      run.expect(order.all.isEmpty, "\(order.all) began while another one wrote")
      _ = try unsafe first.commit(durability: .relaxed)
      order.wait(for: 8)
      run.expect(order.all == (0..<8).map { "\($0)" }, "they began in the order \(order.all)")
      let snapshot = try database.snapshot()
      for index in 0..<8 {
        run.expect(try snapshot.value("value \(index)") == [UInt8(index)], "value \(index)")
      }
      try database.close()
    },

    ContractCase("those who wait on threads and those who do not take turns") { run in
      let store = try run.open()
      let database = try run.database(store)
      let isWriting = Atomic(false)
      let order = Order()
      @Sendable func count(_ transaction: Transaction) throws(StoreError) {
        if isWriting.exchange(true, ordering: .sequentiallyConsistent) {
          run.note("two write at a time")
        }
        let old = try transaction.value("count")?.first ?? 0
        try transaction.setValue("count", [old + 1])
        isWriting.store(false, ordering: .sequentiallyConsistent)
        _ = try transaction.commit(durability: .relaxed)
      }
      run.inThreads(4) { index in
        for _ in 0..<20 {
          if index.isMultiple(of: 2) {
            try count(try database.beginWrite())
            order.end()
          } else {
            database.beginWrite { result in
              do throws(StoreError) { try count(try result.get()) } catch {
                run.note("a write: \(error)")
              }
              order.end()
            }
          }
        }
      }
      order.wait(for: 80)
      let value = try database.snapshot().value("count")
      run.expect(value == [80], "\(String(describing: value)) instead of 80")
      try database.close()
    },

    ContractCase("who waits on no thread when the store is closed is refused") { run in
      let store = try run.open()
      // Only one thread uses it.
      nonisolated(unsafe) let writer = try store.beginWrite()
      let order = Order()
      for _ in 0..<3 {
        store.beginWrite { result in
          switch result {
          case .success(let writer):
            run.note("a write began in a closed store")
            writer.abort()
          case .failure(let error):
            run.expect(error == .closed(path: store.identity.path), "\(error)")
          }
          order.end()
        }
      }
      try store.close()
      unsafe writer.abort()
      order.wait(for: 3)
    },

    ContractCase("calls come in the order of versions, one at a time") { run in
      let store = try run.open()
      let database = try run.database(store)
      let order = Order()
      let isBusy = Atomic(false)
      run.inThreads(4) { index in
        for _ in 0..<25 {
          let transaction = try database.beginWrite()
          let version = transaction.version
          try transaction.setValue("value \(index)", [1])
          let snapshot = try transaction.commitTogether { failure in
            if isBusy.exchange(true, ordering: .sequentiallyConsistent) {
              run.note("two are called at a time")
            }
            if let failure { run.note("version \(version): \(failure)") }
            order.note("\(version)")
            isBusy.store(false, ordering: .sequentiallyConsistent)
            order.end()
          }
          run.expect(snapshot.version == version, "\(snapshot.version) instead of \(version)")
        }
      }
      order.wait(for: 100)
      run.expect(
        order.all == (1...100).map { "\($0)" }, "the calls came in the order \(order.all)")
      try database.close()
    },

    ContractCase("a commit that is not durable yet is the version that was made") { run in
      let store = try run.open()
      let database = try run.database(store)
      let order = Order()
      run.inThreads(3) { index in
        for round in 0..<10 {
          let transaction = try database.beginWrite()
          try transaction.setValue("value", [UInt8(index), UInt8(round)])
          let snapshot = try transaction.commitTogether { _ in order.end() }
          run.expect(
            try snapshot.value("value") == [UInt8(index), UInt8(round)], "another version")
        }
      }
      order.wait(for: 30)
      try database.close()
    },

    ContractCase("each commit is told, in order, until the watch ends") { run in
      let store = try run.open()
      let database = try run.database(store)
      let order = Order()
      let watch = database.watchCommits { version in
        order.note("\(version)")
        order.end()
      }
      for _ in 0..<5 { _ = try database.beginWrite().commit(durability: .relaxed) }
      // Versions that come fast may be told as one.
      while order.all.last != "5" { order.wait(for: 1) }
      let told = order.all.compactMap(Int.init)
      run.expect(told == told.sorted() && Set(told).count == told.count, "\(told)")
      watch.end()
      let count = order.all.count
      for _ in 0..<3 { _ = try database.beginWrite().commit(durability: .relaxed) }
      try database.close()
      run.expect(order.all.count == count, "\(order.all) after the end")
    },

    ContractCase("commits of another database over the same store are told") { run in
      let store = try run.open()
      let (database, other) = (try run.database(store), try run.database(store))
      let order = Order()
      let watch = database.watchCommits { version in
        order.note("\(version)")
        order.end()
      }
      _ = try other.beginWrite().commit(durability: .relaxed)
      order.wait(for: 1)
      run.expect(order.all == ["1"], "\(order.all)")
      watch.end()
      try database.close()
    },
  ]
}

/// Notes what happens, and waits for it.
private final class Order: Sendable {
  private let texts = Mutex<[String]>([])
  private let ended = DispatchSemaphore(value: 0)

  var all: [String] { texts.withLock { $0 } }

  func note(_ text: String) { texts.withLock { $0.append(text) } }

  /// Says that one has ended.
  func end() { ended.signal() }

  func wait(for count: Int) { for _ in 0..<count { ended.wait() } }
}
