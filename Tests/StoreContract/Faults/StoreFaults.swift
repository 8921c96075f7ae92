import CambiumCore
import Synchronization

/// Which operations of a store fail, and when: for tests of programs that want to see what they do then.
///
/// ```swift
/// let faults = StoreFaults()
/// configuration.store = Realm.Store.file.failing(by: faults)
/// let realm = try Realm(configuration: configuration)
/// faults.fail(.writing, .mediumFull)
/// // From here on writing throws .outOfDiskSpace, and the objects stay as they were.
/// faults.clear()
/// ```
///
/// The store behind it is a real one: a fault stands in for its answer, before it is asked. Every call may
/// come from any thread, also while the store is in use.
public final class StoreFaults: Sendable {
  /// What a store is asked to do.
  public enum Operation: Hashable, Sendable, CaseIterable {
    /// To open.
    case opening
    /// To begin a write, once it holds the writer lock.
    case beginning
    /// To take a page of the running write, which happens in large transactions and in each commit.
    case writing
    /// To make what was written the newest version.
    case publishing
    /// To make a version durable: in each commit of durability `.full`, and after those that others
    /// share.
    case syncing
  }

  /// How an operation fails.
  public enum Fault: Hashable, Sendable {
    /// The medium is full.
    case mediumFull
    /// The medium fails. After a failed publication or sync nobody knows what it holds, and the store
    /// takes no more writes until all have closed it.
    case broken
  }

  /// A fault of the operations from number `first` up to `end`.
  private struct Plan {
    var fault: Fault
    var first: Int
    var end: Int
  }

  private struct State {
    var counts: [Operation: Int] = [:]
    var plans: [Operation: Plan] = [:]

    /// The fault of the next operation.
    func due(_ operation: Operation) -> Fault? {
      let count = counts[operation, default: 0]
      guard let plan = plans[operation], count >= plan.first, count < plan.end else { return nil }
      return plan.fault
    }
  }

  private let state = Mutex(State())

  /// No faults yet.
  public init() {}

  /// Lets an operation fail from now on: each of its kind but the next `count` ones, and no more than
  /// `times` of them.
  ///
  /// Takes the place of what was said of that operation before.
  public func fail(
    _ operation: Operation, _ fault: Fault, after count: Int = 0, times: Int = .max
  ) {
    precondition(count >= 0 && times >= 0, "No number of operations is negative.")
    state.withLock { state in
      let first = state.counts[operation, default: 0] + count
      let (end, isOver) = first.addingReportingOverflow(times)
      state.plans[operation] = Plan(fault: fault, first: first, end: isOver ? .max : end)
    }
  }

  /// Nothing fails from now on.
  ///
  /// A store that takes no more writes stays so until it is closed.
  public func clear() { state.withLock { $0.plans = [:] } }

  /// How often the operation was asked for, by all stores with these faults; failed ones count.
  ///
  /// Who lets each of a program's operations fail in turn finds here how many there are.
  public func count(of operation: Operation) -> Int {
    state.withLock { $0.counts[operation, default: 0] }
  }

  /// Whether the next operation of this kind is to fail.
  func isDue(_ operation: Operation) -> Bool { state.withLock { $0.due(operation) != nil } }

  /// Counts an operation, and throws if it is to fail.
  func note(_ operation: Operation, _ path: String) throws(StoreError) {
    let fault = state.withLock { state in
      defer { state.counts[operation, default: 0] += 1 }
      return state.due(operation)
    }
    switch fault {
    case nil: return
    case .mediumFull: throw .mediumFull(path: path)
    case .broken: throw .system(operation: operation.verb, path: path, code: Self.inputOutputError)
    }
  }

  /// The number of `EIO`, the same on all systems.
  private static let inputOutputError: Int32 = 5
}

extension StoreFaults.Operation {
  /// What the system would have been asked to do, for messages.
  fileprivate var verb: String {
    switch self {
    case .opening: "open"
    case .beginning: "lock"
    case .writing, .publishing: "write"
    case .syncing: "sync"
    }
  }
}

extension StoreChoice {
  /// The same kind of store, of which operations fail as `faults` says.
  ///
  /// Counts for who opens a database first in the process: others share what that one has opened.
  public func failing(by faults: StoreFaults) -> StoreChoice {
    StoreChoice(kind: kind, isVolatile: isVolatile, delete: delete) {
      [open] request throws(StoreError) in
      try faults.note(.opening, request.path)
      return FaultyStore(try open(request), faults)
    }
  }
}
