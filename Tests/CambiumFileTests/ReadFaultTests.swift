import CambiumCore
import TestSupport
import Testing

@testable import CambiumFile

/// Lets every read of the device fail in turn, once: whoever needed it is told and nothing is lost, so
/// that the same works when it is tried again.
struct ReadFaultTests {
  /// How the file of a sample was left.
  enum Ending: CaseIterable {
    case closed, crashed
    /// By a crash that has left small commits in the log.
    case logged
    /// Most of it was deleted, so that it is to become shorter.
    case emptied
  }

  /// A file and what it holds.
  private struct Sample {
    var bytes: [UInt8] = []
    var content = DatabaseContent()
    var version: Version = 0

    init(_ ending: Ending) throws {
      let device = SimulatedDevice()
      let database = try ReadFaultTests.open(device, hasLog: ending == .logged)
      var random = SeededGenerator(seed: 1)
      for step in 0..<11 {
        let transaction = try database.beginWrite()
        if step == 6 { try content.fill(DatabaseContent.rowKeys, transaction) }
        for _ in 0..<(step > 6 ? 4 : 20) { try content.change(transaction, &random) }
        // Several versions wait for the last sync, so that several records are verified.
        if step == 9 {
          try transaction.commitTogether()
        } else {
          _ = try transaction.commit(durability: step > 6 ? .relaxed : .full)
        }
      }
      let transaction = try database.beginWrite()
      if ending == .emptied { try content.thinOut(transaction) }
      version = try transaction.commit().version
      // Some of them leave what they change in the log, whatever the others do.
      for _ in 0..<(ending == .logged ? 6 : 0) {
        let transaction = try database.beginWrite()
        try content.changeRow(transaction, &random)
        version = try transaction.commit().version
      }
      if ending != .crashed, ending != .logged { try database.close() }
      bytes = device.bytes
    }
  }

  private static let path = "simulated"
  private static let failure = StoreError.system(operation: "read", path: path, code: 5)

  private static func open(
    _ device: SimulatedDevice, memory: SharedMemory? = nil, moved: Int = 0, hasLog: Bool = true
  ) throws -> Database {
    var options = CrashSettings.options(device)
    options.access = .buffered
    options.memory = memory
    if !hasLog { options.storedLogByteCount = 0 }
    // What is read is up to the tests.
    options.storesUnasked = false
    var databaseOptions = DatabaseOptions()
    databaseOptions.relocatedByteCountPerCommit = moved
    return try Database(
      store: FileStore(path: path, options: options), options: databaseOptions)
  }

  /// Lets each read fail that `body` does with what `prepare` makes of a device with `bytes`; how many
  /// there are.
  ///
  /// Everything is done anew for each of them, and `examine` sees what came of it.
  private static func failEachRead<Subject>(
    of bytes: [UInt8], _ prepare: (SimulatedDevice) throws -> Subject,
    _ body: (Subject) throws -> Void,
    examine: (Subject, Result<Void, any Error>, _ place: Comment) throws -> Void
  ) throws -> Int {
    var index = 0
    while true {
      let device = SimulatedDevice(bytes)
      let subject = try prepare(device)
      let number = device.readCount + index
      device.failRead(number)
      let result = Result { try body(subject) }
      guard device.readCount > number else {
        try result.get()
        return index
      }
      try examine(subject, result, "read \(index)")
      index += 1
    }
  }

  private static func expect(
    _ database: Database, _ content: DatabaseContent, _ version: Version, _ place: Comment
  ) throws {
    let snapshot = try database.snapshot()
    #expect(snapshot.version == version, place)
    #expect(try DatabaseContent(of: snapshot) == content, place)
    #expect(try database.verify().findings == [], place)
  }

  /// Commits the same change whenever it is called; what there is then.
  private static func change(
    _ database: Database, _ before: DatabaseContent
  ) throws -> DatabaseContent {
    var random = SeededGenerator(seed: 2)
    var content = before
    let transaction = try database.beginWrite()
    for _ in 0..<12 { try content.change(transaction, &random) }
    _ = try transaction.commit()
    return content
  }

  // MARK: Opening

  @Test(arguments: [Ending.closed, .crashed, .logged])
  func `opening throws, and opens at the same version when it is tried again`(
    ending: Ending
  ) throws {
    let sample = try Sample(ending)
    let count = try Self.failEachRead(of: sample.bytes) { device in
      device
    } _: { device in
      _ = try Self.open(device)
    } examine: { device, result, place in
      #expect(throws: Self.failure, place) { try result.get() }
      #expect(device.operationCount == 0, place)
      try Self.expect(Self.open(device), sample.content, sample.version, place)
    }
    // The identity and two heads; of the crashed file records and pages of several versions, or a log.
    #expect(count >= (ending == .closed ? 3 : ending == .crashed ? 12 : 6))
  }

  // MARK: Writing

  @Test(arguments: [Ending.closed, .crashed, .logged])
  func `the first write throws and takes place when it is tried again, unless the page was dropped`(
    ending: Ending
  ) throws {
    let sample = try Sample(ending)
    let changed = try Self.change(Self.open(SimulatedDevice(sample.bytes)), sample.content)
    var throwCount = 0
    let count = try Self.failEachRead(of: sample.bytes) { device in
      (device, try Self.open(device))
    } _: { _, database in
      _ = try Self.change(database, sample.content)
    } examine: { subject, result, place in
      let (device, database) = subject
      if case .failure = result {
        throwCount += 1
        #expect(throws: Self.failure, place) { try result.get() }
        try Self.expect(database, sample.content, sample.version, place)
        _ = try Self.change(database, sample.content)
      }
      try Self.expect(database, changed, sample.version + 1, place)
      try database.close()
      try Self.expect(Self.open(device), changed, sample.version + 1, place)
    }
    #expect(count > 10)
    #expect(throwCount > count / 2)
  }

  @Test func `a store that follows others reads the free map where it cannot read their records`()
    throws
  {
    let sample = try Sample(.closed)
    var kinds: Set<Bool> = []
    let count = try Self.failEachRead(of: sample.bytes) { device in
      let memory = SharedMemory()
      let database = try Self.open(device, memory: memory)
      // From now on it knows what is free.
      try database.beginWrite().rollback()
      // Another user, who has a shared memory of its own here.
      var options = CrashSettings.options(device)
      // It leaves the free map as it is.
      options.checkpointAfterRecordCount = 64
      let other = try FileStore(path: Self.path, options: options)
      var content = sample.content
      for _ in 0..<2 { content = try Self.change(Database(store: other), content) }
      try other.close()
      let (head, mark) = other.state.withLock { ($0.newest, $0.mark) }
      memory.publish(mark)
      memory.publish(head, other.sector)
      return (database, content)
    } _: { database, content in
      _ = try Self.change(database, content)
    } examine: { subject, result, place in
      let (database, before) = subject
      if case .failure = result {
        kinds.insert(false)
        #expect(throws: Self.failure, place) { try result.get() }
        try Self.expect(database, before, sample.version + 2, place)
        _ = try Self.change(database, before)
      } else {
        kinds.insert(true)
      }
      let version = try database.snapshot().version
      #expect(version == sample.version + 3, place)
      #expect(try database.verify().findings == [], place)
      try database.close()
    }
    #expect(count > 5)
    #expect(kinds == [true, false])
  }

  @Test func `a commit that moves pages throws, and takes place when it is tried again`() throws {
    let sample = try Sample(.emptied)
    func commit(_ database: Database, _ number: Int) throws {
      let transaction = try database.beginWrite()
      try transaction.setValue("counter", [UInt8(number)])
      _ = try transaction.commit(durability: number % 3 == 2 ? .full : .relaxed)
    }
    let commitCount = 6
    func open(_ device: SimulatedDevice) throws -> Database {
      let database = try Self.open(device, moved: 4 << 10)
      // From now on it knows what is free.
      try database.beginWrite().rollback()
      return database
    }
    let count = try Self.failEachRead(of: sample.bytes) { device in
      (device, try open(device))
    } _: { _, database in
      for number in 0..<commitCount { try commit(database, number) }
    } examine: { subject, result, place in
      let (device, database) = subject
      #expect(throws: Self.failure, place) { try result.get() }
      let version = try database.snapshot().version
      try Self.expect(database, sample.content, version, place)
      for number in 0..<commitCount { try commit(database, number) }
      try Self.expect(database, sample.content, version + Version(commitCount), place)
      try database.close()
      try Self.expect(
        Self.open(device), sample.content, version + Version(commitCount), place)
    }
    #expect(count > 10)
    // This is what these commits do.
    let device = SimulatedDevice(sample.bytes)
    let database = try open(device)
    let before = PagePlaces(try database.snapshot(), of: database, on: device)
    for number in 0..<commitCount { try commit(database, number) }
    let after = PagePlaces(try database.snapshot(), of: database, on: device)
    #expect(after.movedCount(since: before, before: sample.bytes.count / 2) > 3)
  }

  // MARK: Reading

  @Test func `reading a snapshot throws, and reads the same when it is tried again`() throws {
    let sample = try Sample(.closed)
    let count = try Self.failEachRead(of: sample.bytes) { device in
      try Self.open(device).snapshot()
    } _: { snapshot in
      _ = try DatabaseContent(of: snapshot)
    } examine: { snapshot, result, place in
      #expect(throws: Self.failure, place) { try result.get() }
      let content = try DatabaseContent(of: snapshot)
      #expect(content == sample.content, place)
    }
    #expect(count > 10)
  }

  @Test(arguments: [Ending.closed, .crashed, .logged])
  func `verifying reports a failed read or throws, and finds nothing when it is tried again`(
    ending: Ending
  ) throws {
    let sample = try Sample(ending)
    let count = try Self.failEachRead(of: sample.bytes) { device in
      try Self.open(device)
    } _: { database in
      if let finding = try database.verify().findings.first { throw Finding(text: finding) }
    } examine: { database, result, place in
      switch result {
      case .success: Issue.record(place)
      case .failure(let error as Finding):
        #expect(error.text.contains("\(Self.failure)"), place)
      case .failure: #expect(throws: Self.failure, place) { try result.get() }
      }
      try Self.expect(database, sample.content, sample.version, place)
    }
    #expect(count > 10)
  }

  private struct Finding: Error { let text: String }

  @Test func `copying throws and leaves the copy empty, and copies when it is tried again`() throws
  {
    let sample = try Sample(.closed)
    let count = try Self.failEachRead(of: sample.bytes) { device in
      (try Self.open(device), try Self.open(SimulatedDevice()))
    } _: { database, copy in
      try database.copy(to: copy)
    } examine: { subject, result, place in
      let (database, copy) = subject
      #expect(throws: Self.failure, place) { try result.get() }
      #expect(try copy.snapshot().names(withPrefix: "") == [], place)
      try database.copy(to: copy)
      try Self.expect(copy, sample.content, 1, place)
      try Self.expect(database, sample.content, sample.version, place)
    }
    #expect(count > 10)
  }
}
