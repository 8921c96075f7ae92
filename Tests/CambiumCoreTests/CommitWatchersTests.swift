import Synchronization
import Testing

@testable import CambiumCore

/// Who is told of commits.
struct CommitWatchersTests {
  private final class Told: Sendable {
    private let state = Mutex<[Version]>([])

    func note(_ version: Version) { state.withLock { $0.append(version) } }
    var versions: [Version] { state.withLock { $0 } }
  }

  @Test func `a watcher that comes between a commit and its news takes these from nobody`() {
    let watchers = CommitWatchers()
    let (first, second) = (Told(), Told())
    _ = watchers.add(after: 9) { first.note($0) }
    // It has seen version 10 in the store, and nobody was told of that yet.
    _ = watchers.add(after: 10) { second.note($0) }
    watchers.tell(10)
    #expect(first.versions == [10])
    #expect(second.versions == [])
    watchers.tell(11)
    watchers.tell(11)
    #expect(first.versions == [10, 11])
    #expect(second.versions == [11])
  }
}
