import CambiumCore
import CambiumFile
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Cambium

/// What a Realm waits for before a synchronous write goes on.
struct AsyncCommitsWhiteBoxTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [false, true])
  func `what follows a commit is told behind it how that has ended, whoever asks meanwhile`(
    fails: Bool
  ) {
    let commits = AsyncCommits()
    var told: [String] = []
    func note(_ name: String) -> (Error?) -> Void {
      { error in
        told.append(error == nil ? name : name + " failed")
        // A completion may end others.
        commits.complete(path: "path")
      }
    }
    commits.add(1, isBarrier: false, note("first"))
    commits.add(2, isBarrier: false, note("second"))
    commits.addEnd(3, follows: true, note("follower"))
    commits.addEnd(4, follows: false, note("end"))
    commits.noteEnd(of: 2, fails ? .poisoned(path: "path") : nil)
    commits.complete(path: "path")
    #expect(told == [])
    commits.noteEnd(of: 1, nil)
    commits.complete(path: "path")
    let outcome = fails ? " failed" : ""
    #expect(told == ["first", "second" + outcome, "follower" + outcome, "end"])
    #expect(commits.isEmpty)
  }

  @Test func `commits are settled while somebody writes, whatever lies in memory`() throws {
    let path = folder.file("a.cambium")
    var options = FileStoreOptions()
    options.relaxedDelayNanoseconds = 3_600_000_000_000
    let database = try Database(store: FileStore(path: path, options: options))
    let first = try database.beginWrite()
    try first.setValue("a", [1])
    let commit = try first.commitUnsynced(metadata: []) { _ in }
    let commits = AsyncCommits()
    let outcomes = Mutex<[Bool]>([])
    commits.add(1, isBarrier: false) { error in outcomes.withLock { $0.append(error == nil) } }
    commits.note(commit.snapshot.version, of: 1)
    var number: UInt8 = 0
    repeat {
      number += 1
      let small = try database.beginWrite(expecting: .relaxed)
      try small.setValue("b", [number])
      _ = try small.commit(durability: .relaxed)
    } while try database.snapshot().areAllPagesStored && number < 100
    #expect(number < 100)
    // The turn that the Realm was given.
    let transaction = try database.beginWrite()
    let settling = WatchedThread { commits.settle(database, path: path) }
    #expect(!settling.waitsForSomebody())
    #expect(outcomes.withLock { $0 } == [true])
    #expect(commits.isEmpty)
    transaction.rollback()
    commit.sync()
    try database.close()
  }
}
