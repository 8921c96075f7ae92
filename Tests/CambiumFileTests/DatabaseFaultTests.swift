import CambiumCore
import TestSupport
import Testing

@testable import CambiumFile

/// Lets every write, sync and cut of a short life of a whole database fail in turn.
struct DatabaseFaultTests {
  private static let path = "simulated"

  /// One deed of the work, which is the same in each run.
  private enum Deed {
    case change(Durability)
    case fill
    case thinOut(Durability)
    case changeTogether
    case sync
  }

  /// It grows, checkpoints the free map, shares syncs, moves pages from the end of the file, and
  /// cuts that off.
  private static let work: [Deed] = [
    .change(.full), .fill, .change(.relaxed), .sync, .thinOut(.full), .thinOut(.full),
    .changeTogether, .change(.full), .change(.relaxed), .changeTogether, .thinOut(.full),
  ]

  /// What a run did before something threw.
  private struct Outcome {
    /// What the versions hold, oldest first; the last one was acknowledged.
    var contents = [DatabaseContent()]
    /// The position of the newest one that was made durable.
    var durable = 0
    /// What was being committed.
    var begun: DatabaseContent?
    var isClosed = false
    var error: StoreError?

    var newest: DatabaseContent { contents[contents.count - 1] }

    mutating func isDurable() { durable = contents.count - 1 }

    mutating func commit(
      _ subject: Subject, _ durability: Durability, isTogether: Bool = false,
      _ change: (inout DatabaseContent, Transaction) throws(StoreError) -> Void
    ) throws(StoreError) {
      let transaction = try subject.database.beginWrite(expecting: durability)
      var content = newest
      try change(&content, transaction)
      begun = content
      let version = try transaction.commit(durability: durability).version
      // What was published stays, whatever becomes of the sync that others share.
      contents.append(content)
      begun = nil
      if isTogether { try subject.store.makeDurable(version) }
      if durability == .full || isTogether { isDurable() }
    }

    /// Changes several rows, keys and values.
    mutating func change(
      _ subject: Subject, _ durability: Durability, seed: UInt64, isTogether: Bool = false
    ) throws(StoreError) {
      try commit(
        subject, durability, isTogether: isTogether
      ) { content, transaction throws(StoreError) in
        var random = SeededGenerator(seed: seed)
        for _ in 0..<16 { try content.change(transaction, &random) }
      }
    }
  }

  private struct Subject {
    let store: FileStore
    let database: Database

    init(_ device: SimulatedDevice) throws(StoreError) {
      var storeOptions = CrashSettings.options(device)
      // The file shrinks sooner.
      storeOptions.spareByteCount = 0
      store = try FileStore(path: DatabaseFaultTests.path, options: storeOptions)
      var options = DatabaseOptions()
      options.relocatedByteCountPerCommit = 8 << 10
      database = try Database(store: store, options: options)
    }
  }

  /// Works until something throws, or all is done and the database is closed.
  private static func run(_ subject: Subject, _ work: [Deed]) -> Outcome {
    var outcome = Outcome()
    do throws(StoreError) {
      for (step, deed) in work.enumerated() {
        let seed = UInt64(step)
        switch deed {
        case .change(let durability): try outcome.change(subject, durability, seed: seed)
        case .changeTogether:
          try outcome.change(subject, .relaxed, seed: seed, isTogether: true)
        case .fill:
          try outcome.commit(subject, .full) { content, transaction throws(StoreError) in
            try content.fill(0..<60, transaction)
          }
        case .thinOut(let durability):
          try outcome.commit(subject, durability) { content, transaction throws(StoreError) in
            try content.thinOut(transaction)
          }
        case .sync:
          try subject.database.sync()
          outcome.isDurable()
        }
      }
      outcome.isClosed = true
      try subject.database.close()
      outcome.isDurable()
    } catch {
      outcome.error = error
    }
    return outcome
  }

  @Test(arguments: SimulatedDevice.Fault.allCases)
  func `a failed operation throws and leaves every acknowledged commit`(
    fault: SimulatedDevice.Fault
  ) throws {
    let work = Self.work
    let model = SimulatedDevice()
    let whole = Self.run(try Subject(model), work)
    #expect(whole.error == nil)
    #expect(whole.contents.count == work.count { if case .sync = $0 { false } else { true } } + 1)
    var kinds: Set<Kind> = []
    for (index, operation) in model.operations.enumerated().dropFirst(2) {
      let device = SimulatedDevice()
      let subject = try Subject(device)
      device.fail(index, fault)
      let outcome = Self.run(subject, work)
      #expect(device.endFault())
      let kind = Kind(operation)
      kinds.insert(kind)
      // Growing ahead of need gives in when the medium is full, and cutting can wait.
      if fault != .full, kind != .cut { #expect(outcome.error != nil, "operation \(index)") }
      try Self.examine(subject, device, outcome, "operation \(index), \(operation.summary)")
    }
    #expect(kinds == Set(Kind.allCases))
  }

  private enum Kind: CaseIterable {
    case write, sync, cut

    init(_ operation: SimulatedDevice.Operation) {
      switch operation {
      case .write: self = .write
      case .truncate: self = .cut
      case .sync, .failedSync: self = .sync
      }
    }
  }

  /// The database after the failure, the file opened again, and the file after a crash.
  private static func examine(
    _ subject: Subject, _ device: SimulatedDevice, _ outcome: Outcome, _ place: Comment
  ) throws {
    if !outcome.isClosed {
      let content = try DatabaseContent(of: subject.database.snapshot())
      #expect(content == outcome.newest, place)
      #expect(try subject.database.verify().findings == [], place)
      var next = outcome
      let isPoisoned =
        Result { try next.change(subject, .full, seed: 77) }
        .failure as? StoreError == .poisoned(path: path)
      if !isPoisoned {
        try subject.database.close()
        return try expect(device.bytes, [next.newest], place)
      }
    }
    var possible = Array(outcome.contents[outcome.durable...])
    if let begun = outcome.begun { possible.append(begun) }
    // Whoever opens the file now sees what the system kept in memory, on the medium or not.
    try expect(device.bytes, possible, place)
    var generator = SeededGenerator(seed: 9)
    let image = device.crashImage(
      afterOperations: device.operationCount, mood: 0.5, generator: &generator)
    try expect(image, possible, place)
  }

  /// A file with these bytes holds one of the contents, and can be written to.
  private static func expect(
    _ bytes: [UInt8], _ possible: [DatabaseContent], _ place: Comment
  ) throws {
    let subject = try Subject(SimulatedDevice(bytes))
    let database = subject.database
    let content = try DatabaseContent(of: database.snapshot())
    #expect(possible.contains(content), place)
    #expect(try database.verify().findings == [], place)
    var outcome = Outcome(contents: [content])
    try outcome.change(subject, .full, seed: 78)
    let next = try DatabaseContent(of: database.snapshot())
    #expect(next == outcome.newest, place)
    #expect(try database.verify().findings == [], place)
  }
}

extension SimulatedDevice.Operation {
  /// What it was, for people.
  fileprivate var summary: String {
    switch self {
    case .write(let bytes, let offset): "a write of \(bytes.count) bytes at \(offset)"
    case .truncate(let byteCount): "a cut to \(byteCount) bytes"
    case .sync, .failedSync: "a sync"
    }
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { return error }
    return nil
  }
}
