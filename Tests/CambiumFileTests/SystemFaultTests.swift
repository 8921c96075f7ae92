import CambiumCore
import CambiumFile
import Foundation
import Synchronization
import TestSupport
import Testing

/// What the operating system does wrong itself: writes that it cuts short, calls that signals
/// interrupt.
struct SystemFaultTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  @Test func `a write that is cut short is an error that leaves the old version`() async throws {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let database = try Database(store: FileStore(path: path))
      let first = try database.beginWrite()
      try first.setValue("a", [1])
      _ = try first.commit()
      // Writes stop in the middle of a sector; the one that comes after is refused.
      signal(SIGXFSZ, SIG_IGN)
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      let before = limit.rlim_cur
      limit.rlim_cur = UInt(try #require(attributes[.size] as? Int) + 70_001)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      for durability in Durability.allCases {
        let error = #expect(throws: StoreError.self) {
          let transaction = try database.beginWrite()
          for index in 0..<40 {
            try transaction.setValue("\(index)", [UInt8](repeating: 3, count: 50_000))
          }
          _ = try transaction.commit(durability: durability)
        }
        try #require("\(String(describing: error))".contains(path))
        try #require(try database.snapshot().value("0") == nil)
        try #require(try database.verify().findings == [])
      }
      limit.rlim_cur = before
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let last = try database.beginWrite()
      try last.setValue("b", [UInt8](repeating: 4, count: 500_000))
      _ = try last.commit()
      try database.close()
    }
    let database = try Database(store: FileStore(path: path))
    let snapshot = try database.snapshot()
    #expect(try snapshot.value("a") == [1])
    #expect(try snapshot.value("b")?.count == 500_000)
    #expect(try snapshot.names(withPrefix: "") == ["a", "b"])
    #expect(try database.verify().findings == [])
  }

  @Test func `signals disturb neither writers nor who waits for them`() async throws {
    try Ring(Database(store: FileStore(path: path))).make()
    await #expect(processExitsWith: .success) { [path = path as String] in
      // Whoever waits for ever fails.
      Killing.after(microseconds: 900_000_000)
      // Calls are interrupted, not restarted.
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in }
      try #require(sigaction(SIGALRM, &action, nil) == 0)
      let pause = timeval(tv_sec: 0, tv_usec: 100)
      var storm = itimerval(it_interval: pause, it_value: pause)
      try #require(setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &storm, nil) == 0)
      let failures = Mutex<[String]>([])
      let ended = DispatchSemaphore(value: 0)
      for seed in 0..<4 as Range<UInt64> {
        Thread {
          do {
            try Ring.work(path, seed: seed, count: 40)
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
          ended.signal()
        }.start()
      }
      for _ in 0..<4 { ended.wait() }
      storm = itimerval()
      setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &storm, nil)
      try #require(failures.withLock { $0 } == [])
    }
    let database = try Database(store: FileStore(path: path))
    try Ring(database).check()
    #expect(try database.snapshot().version == 161)
  }
}
