#if RADOS
  import CambiumCluster
  import CambiumCore
  import CambiumRADOS
  import Foundation
  import Synchronization
  import Testing
  import TestSupport

  /// A store while the cluster's daemons and its own processes end.
  @Suite(.serialized, .enabled(if: TestCluster.isWanted)) struct RadosStoreTests {
    private static let table = "class/Counter"

    static func options() -> ClusterOptions {
      var options = ClusterOptions()
      options.writerLeaseSeconds = 2
      options.inlineByteCount = 4 << 10
      options.logByteCount = 64 << 10
      options.blockByteCount = 256 << 10
      return options
    }

    static func open(
      _ location: RadosLocation, leaseSeconds: Int = 2
    ) throws(StoreError) -> Database {
      var options = options()
      options.writerLeaseSeconds = leaseSeconds
      return try Database(store: RADOSStore.open(location, options: options))
    }

    /// Makes the rows, of which each commit changes a part.
    static func make(_ database: Database) throws(StoreError) {
      let transaction = try database.beginWrite()
      let column = ColumnDescriptor(type: .int, isNullable: false, name: "value")
      let table = try transaction.createTable(table, columns: [column])
      for key in 0..<Int64(2000) { _ = try table.insert(key: key, values: [(1, .int(0))]) }
      _ = try transaction.commit(durability: .full)
    }

    /// Sets the first row, and some others, to `value`.
    static func commit(_ value: Int64, _ database: Database) throws(StoreError) {
      let transaction = try database.beginWrite()
      guard let table = try transaction.editTable(table) else { return }
      _ = try table.update(key: 0, column: 1, value: .int(value))
      for step in 1..<Int64(20) {
        _ = try table.update(
          key: (value &* 97 &+ step &* 101) % 1999 + 1, column: 1, value: .int(value))
      }
      _ = try transaction.commit(durability: .full)
    }

    /// The value of the first row, which is the newest one; every other is older.
    static func value(_ database: Database) throws -> Int64 {
      let snapshot = try database.snapshot()
      let tree = try #require(try snapshot.table(table)).groups[0]
      let first = try #require(try tree.seek(0))
      let newest = first.number
      for key in 1..<Int64(2000) {
        let position = try #require(try tree.seek(key))
        #expect(position.number <= newest)
      }
      return newest
    }

    /// Whether somebody else has set the first row meanwhile, to a million.
    static func isTaken(_ database: Database) throws(StoreError) -> Bool {
      let transaction = try database.beginWrite()
      defer { transaction.rollback() }
      return try transaction.table(table)?.groups[0].seek(0)?.number ?? 0 >= 1_000_000
    }

    /// The largest value of a row that is below a limit.
    static func largestValue(below limit: Int64, _ database: Database) throws -> Int64 {
      let snapshot = try database.snapshot()
      let tree = try #require(try snapshot.table(table)).groups[0]
      return try (0..<Int64(2000)).reduce(0) { largest, key in
        let number = try #require(try tree.seek(key)).number
        return number < limit ? max(largest, number) : largest
      }
    }

    @Test func `commits wait while the only disk is gone, and none that was acknowledged is lost`()
      throws
    {
      let cluster = TestCluster.shared
      let location = try cluster.location(timeoutSeconds: 3)
      let database = try Self.open(location)
      try Self.make(database)
      let acknowledged = Atomic<Int64>(0)
      let isOver = Atomic(false)
      let ended = DispatchSemaphore(value: 0)
      let failure = Mutex<StoreError?>(nil)
      Thread {
        while !isOver.load(ordering: .relaxed) {
          let next = acknowledged.load(ordering: .relaxed) + 1
          do throws(StoreError) { try Self.commit(next, database) } catch {
            failure.withLock { $0 = error }
            break
          }
          acknowledged.store(next, ordering: .releasing)
        }
        ended.signal()
      }.start()
      for event in [TestCluster.Event.kill, .kill, .pause] {
        let before = acknowledged.load(ordering: .acquiring)
        while acknowledged.load(ordering: .acquiring) < before + 20,
          failure.withLock({ $0 == nil })
        {
          usleep(10_000)
        }
        try cluster.osd(event)
        usleep(1_500_000)
        try cluster.osd(event == .pause ? .resume : .restart)
      }
      let before = acknowledged.load(ordering: .acquiring)
      while acknowledged.load(ordering: .acquiring) < before + 20, failure.withLock({ $0 == nil }) {
        usleep(10_000)
      }
      isOver.store(true, ordering: .relaxed)
      ended.wait()
      #expect(failure.withLock { $0 } == nil)
      let last = acknowledged.load(ordering: .acquiring)
      #expect(try Self.value(database) == last)
      try database.close()
      let again = try Self.open(location)
      #expect(try Self.value(again) == last)
      #expect(try again.verify().findings.isEmpty)
      try again.close()
    }

    @Test func `commits go on while the monitor is gone, and who opens the store waits for it`()
      async throws
    {
      let cluster = TestCluster.shared
      let location = try cluster.location(timeoutSeconds: 20)
      let database = try Self.open(location)
      try Self.make(database)
      try cluster.monitor(.kill)
      for value in Int64(1)...40 { try Self.commit(value, database) }
      let other = Task {
        let other = try Self.open(location)
        defer { try? other.close() }
        return try Self.value(other)
      }
      try await Task.sleep(nanoseconds: 1_000_000_000)
      for value in Int64(41)...60 { try Self.commit(value, database) }
      try cluster.monitor(.restart)
      #expect(try await other.value == 60)
      try Self.commit(61, database)
      #expect(try database.verify().findings.isEmpty)
      try database.close()
    }

    @Test(arguments: 0..<4)
    func `a process that is killed while it commits loses nothing, and another one goes on`(
      round: Int
    ) async throws {
      let location = try TestCluster.shared.location("killed-\(UUID().uuidString)")
      let folder = try TemporaryFolder()
      let log = folder.file("acknowledged")
      let first = try Self.open(location)
      try Self.make(first)
      try first.close()
      let name = location.name
      let configuration = TestCluster.shared.configuration
      let delay = useconds_t(150_000 + round * 170_000)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          name = name as String, configuration = configuration as String, log = log as String,
          delay = delay as useconds_t
        ] in
        let location = try RadosLocation("db/\(name)?conf=\(configuration)")
        let database = try RadosStoreTests.open(location)
        let descriptor = Foundation.open(log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        Thread {
          usleep(delay)
          kill(getpid(), SIGKILL)
        }.start()
        var value: Int64 = 0
        while true {
          value += 1
          try RadosStoreTests.commit(value, database)
          let line = Array("\(value)\n".utf8)
          _ = line.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        }
      }
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      let last = text.split(separator: "\n").last.flatMap { Int64($0) } ?? 0
      let database = try Self.open(location)
      let found = try Self.value(database)
      // The commit that was under way may be there.
      #expect(found == last || found == last + 1)
      #expect(try database.verify().findings.isEmpty)
      // The lock of the process that is gone ends.
      try Self.commit(found + 1, database)
      #expect(try Self.value(database) == found + 1)
      try database.close()
    }

    @Test func `two processes write in turns, and each sees the other's commits`() async throws {
      let location = try TestCluster.shared.location("turns-\(UUID().uuidString)")
      // Long enough that nobody loses the lock while the machine is busy.
      let database = try Self.open(location, leaseSeconds: 60)
      try Self.make(database)
      let name = location.name
      let configuration = TestCluster.shared.configuration
      let other = Task {
        _ = await #expect(processExitsWith: .success) {
          [name = name as String, configuration = configuration as String] in
          let database = try RadosStoreTests.open(
            RadosLocation("db/\(name)?conf=\(configuration)&timeout=60"), leaseSeconds: 60)
          for _ in 0..<30 { try RadosStoreTests.increment(database) }
          try database.close()
        }
      }
      for _ in 0..<30 { try Self.increment(database) }
      await other.value
      let deadline = Date() + 30
      while try Self.value(database) < 60, Date() < deadline { usleep(20_000) }
      #expect(try Self.value(database) == 60)
      try database.close()
    }

    /// Adds one to the first row.
    static func increment(_ database: Database) throws(StoreError) {
      let transaction = try database.beginWrite()
      guard let table = try transaction.editTable(table),
        let old = try transaction.table(Self.table)?.groups[0].seek(0)?.number
      else { return }
      _ = try table.update(key: 0, column: 1, value: .int(old + 1))
      _ = try transaction.commit(durability: .full)
    }
  }

  extension RowPosition {
    /// The number in the first column, which is not there while all are zero.
    fileprivate var number: Int64 { column(1)?.int(row) ?? 0 }
  }
#endif
