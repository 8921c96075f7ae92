import CambiumCore
import CambiumMemory
import CambiumRocksDB
import Foundation
import Synchronization
import TestSupport
import Testing

extension KnownFault {
  /// A store by its name; `folder` is where it may lie.
  private struct Kind: Sendable {
    var name: String
    var make: @Sendable (_ folder: TemporaryFolder) throws -> any PageStore

    static let all: [Kind] = {
      var all = [Kind(name: "a store in memory") { _ in MemoryStore() }]
      #if RocksDB
        all.append(
          Kind(name: "a RocksDB store") { try RocksDBStore(path: $0.file("store")) })
      #endif
      return all
    }()
  }

  private static let callbackPromise =
    "calls come in the order of versions, one at a time (`commitTogether(metadata:whenDurable:)`)"
  private static let callbackPlace =
    "the defaults of `PageStore.makeDurable(_:then:)` and `PageWriter.publish(…beforeNext:)`"

  /// The first committer loses its processor between publishing and its call, while another one commits.
  static let callbackOrder = Kind.all.map { kind in
    KnownFault(
      "\(kind.name) calls back a later version first", promise: callbackPromise,
      place: callbackPlace
    ) {
      let folder = try TemporaryFolder()
      let store = RelayStore(try kind.make(folder))
      let database = try Database(store: store)
      let calls = Calls()
      store.beforeCommitsAreTold([
        {
          let other = WatchedThread { calls.commit(database) }
          // Either it could commit, or it waits for its turn.
          _ = other.waitsForSomebody()
        }
      ])
      calls.commit(database)
      #expect(calls.wait(for: 2) == [1, 2])
      try database.close()
    }
  }

  /// Another one commits while somebody is being called.
  static let callbackOverlap = Kind.all.map { kind in
    KnownFault(
      "\(kind.name) calls two callers at the same time", promise: callbackPromise,
      place: callbackPlace
    ) {
      let folder = try TemporaryFolder()
      let database = try Database(store: kind.make(folder))
      let calls = Calls()
      let isBusy = Mutex(false)
      let overlapped = Mutex(false)
      calls.commit(database) {
        isBusy.withLock { $0 = true }
        let other = WatchedThread {
          calls.commit(database) {
            let isBusy = isBusy.withLock { $0 }
            overlapped.withLock { $0 = isBusy }
          }
        }
        _ = other.waitsForSomebody()
        isBusy.withLock { $0 = false }
      }
      #expect(calls.wait(for: 2) == [1, 2])
      #expect(!overlapped.withLock { $0 })
      try database.close()
    }
  }
}

/// Commits that do not wait, and the calls that they got.
private final class Calls: Sendable {
  private let versions = Mutex<[Version]>([])
  private let called = DispatchSemaphore(value: 0)

  /// Commits; `then` runs when the call comes, after it was noted.
  func commit(_ database: Database, _ then: @escaping @Sendable () -> Void = {}) {
    do throws(StoreError) {
      let transaction = try database.beginWrite()
      let version = transaction.version
      try transaction.commitTogether { [self] failure in
        if failure != nil { Issue.record("\(String(describing: failure))") }
        versions.withLock { $0.append(version) }
        then()
        called.signal()
      }
    } catch {
      Issue.record(error)
      called.signal()
    }
  }

  /// Waits for so many calls; the versions in the order in which the calls came.
  func wait(for count: Int) -> [Version] {
    for _ in 0..<count { called.wait() }
    return versions.withLock { $0 }
  }
}
