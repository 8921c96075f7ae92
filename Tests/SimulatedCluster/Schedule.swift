import CambiumCluster
import CambiumCore
import Dispatch
import Foundation
import Synchronization

/// Runs machines over a simulated cluster, one at a time, in an order that a seed decides.
///
/// A machine is a thread that runs until it waits: for the answer of an operation, for a time, or for its next
/// step. Between two machines' turns the schedule lets operations happen, answers them, loses answers, moves
/// the clock or ends machines. Equal seeds give equal histories.
///
/// Unchecked: what changes is changed by the one thread whose turn it is; semaphores hand it over.
@safe public final class Schedule: @unchecked Sendable {
  /// How often what goes wrong.
  public struct Odds: Sendable {
    /// One in so many operations has no answer.
    public var unknown = 40
    /// One in so many turns ends a machine.
    public var crash = 400
    /// One in so many turns moves the clock by many seconds.
    public var jump = 60
    /// One in so many operations that write finds the cluster full.
    public var full = 200

    /// The defaults.
    public init() {}
  }

  /// The cluster.
  public let cluster: SimulatedCluster
  /// The cluster's time, in nanoseconds.
  public private(set) var now: Int64 = 1_000_000_000_000
  private let odds: Odds
  private var generator: SimulationGenerator
  private var machines: [Machine] = []
  private var operations: [Operation] = []
  /// Operations without an answer, which may happen later.
  private var late: [Operation] = []
  /// Whether answers may be lost, machines end and clocks jump.
  public var isRough = true

  private struct Operation {
    var request: ObjectRequest
    var call: ObjectCall
    var machine: Int
    /// The result, when it has happened and was not answered.
    var result: Result<ObjectAnswer, ObjectFailure>?
  }

  /// Unchecked: used by the schedule and by the machine's thread in turns, which semaphores hand over.
  private final class Machine: @unchecked Sendable {
    let turn = DispatchSemaphore(value: 0)
    let parked = DispatchSemaphore(value: 0)
    var isReady: () -> Bool = { true }
    /// When it is ready at the latest, if it waits for a time.
    var wakeTime: Int64?
    var isDead = false
    var hasEnded = false
    /// How far its clock is ahead of the cluster's.
    var skew: Int64 = 0
  }

  /// A schedule over an empty cluster.
  public init(seed: UInt64, odds: Odds = Odds(), cluster: SimulatedCluster = SimulatedCluster()) {
    self.odds = odds
    self.cluster = cluster
    generator = SimulationGenerator(seed: seed)
  }

  // MARK: Called by machines

  func start(_ request: ObjectRequest, _ call: ObjectCall, _ machine: Int) {
    if isDead(machine) { return call.end(.failure(.refused("the machine has ended"))) }
    operations.append(Operation(request: request, call: call, machine: machine))
  }

  /// Time passes while the machine has its turn.
  func pass(_ nanoseconds: Int64) { now += nanoseconds }

  /// Whether the machine was ended, and only finds out.
  public func isDead(_ machine: Int) -> Bool { machines[machine].isDead }

  /// The machine's own time, which may be wrong.
  public func time(of machine: Int) -> Int64 { now + machines[machine].skew }

  func park(_ machine: Int, until wakeTime: Int64? = nil, _ isReady: @escaping () -> Bool) {
    let machine = machines[machine]
    machine.isReady = isReady
    machine.wakeTime = wakeTime
    machine.parked.signal()
    machine.turn.wait()
    machine.wakeTime = nil
  }

  /// Lets others run; a machine calls it between its steps.
  public func yield(_ machine: Int) { park(machine) { true } }

  // MARK: Called by the test

  /// Adds a machine; `body` runs on a thread of its own, in turns.
  public func add(_ body: @escaping @Sendable (_ machine: Int, ScheduledObjects) -> Void) {
    let machine = Machine()
    let number = machines.count
    machines.append(machine)
    let objects = ScheduledObjects(self, machine: number)
    WorkerThreads.run {
      machine.turn.wait()
      body(number, objects)
      machine.hasEnded = true
      machine.parked.signal()
    }
  }

  /// Another connection of a machine.
  public func connection(of machine: Int) -> ScheduledObjects {
    ScheduledObjects(self, machine: machine)
  }

  /// Runs everything until all machines have ended.
  public func run() {
    while true {
      let alive = machines.indices.filter { !machines[$0].hasEnded }
      if alive.isEmpty { break }
      if isRough { disturb(alive) }
      let ready = alive.filter { machines[$0].isReady() }
      let choices = ready.count + operations.count
      if choices == 0 {
        // Somebody waits for a time, or nothing can go on any more.
        let times = alive.compactMap { machines[$0].wakeTime }
        guard let next = times.min() else { fatalError("All machines wait for ever.") }
        now = max(now, next)
        continue
      }
      let choice = Int(generator.next(below: UInt64(choices)))
      if choice < ready.count {
        let machine = machines[ready[choice]]
        machine.turn.signal()
        machine.parked.wait()
      } else {
        advance(choice - ready.count)
      }
      now += Int64(generator.next(below: 400_000))
      if !late.isEmpty, generator.next(below: 20) == 0 { happenLate() }
    }
    // What is under way when all have ended may still happen.
    for operation in operations where operation.result == nil { late.append(operation) }
    operations = []
    while !late.isEmpty { happenLate() }
  }

  /// Lets one operation happen, or answers it.
  private func advance(_ index: Int) {
    if operations[index].result != nil {
      let operation = operations.remove(at: index)
      if let result = operation.result { operation.call.end(result) }
      return
    }
    if isRough, generator.next(below: UInt64(odds.unknown)) == 0 {
      let operation = operations.remove(at: index)
      // It may have happened, may happen later, or never.
      switch generator.next(below: 3) {
      case 0: _ = happen(operation.request)
      case 1: late.append(operation)
      default: break
      }
      now += 2_000_000_000
      return operation.call.end(.failure(.unknown("no answer")))
    }
    operations[index].result = happen(operations[index].request)
  }

  private func happen(_ request: ObjectRequest) -> Result<ObjectAnswer, ObjectFailure> {
    // A hint may be lost.
    if case .hint = request, isRough, generator.next(below: 4) == 0 { return .success(.done) }
    if isRough, request.needsRoom, generator.next(below: UInt64(odds.full)) == 0 {
      return .failure(.full)
    }
    return cluster.apply(request, now: now)
  }

  private func happenLate() {
    let operation = late.remove(at: Int(generator.next(below: UInt64(late.count))))
    if generator.next(below: 4) != 0 { _ = happen(operation.request) }
  }

  /// Ends a machine, or moves clocks.
  private func disturb(_ alive: [Int]) {
    let running = alive.filter { !machines[$0].isDead }
    if running.count > 1, generator.next(below: UInt64(odds.crash)) == 0 {
      end(running[Int(generator.next(below: UInt64(running.count)))])
    }
    if generator.next(below: UInt64(odds.jump)) == 0 {
      if generator.next(below: 2) == 0 {
        now += Int64(generator.next(below: 40)) * 1_000_000_000
      } else if let machine = alive.randomElement(using: &generator) {
        machines[machine].skew = Int64(generator.next(below: 80)) * 1_000_000_000 - 40_000_000_000
      }
    }
  }

  /// Ends a machine: nothing that it does has an effect any more, and what is under way may happen or not.
  public func end(_ number: Int) {
    machines[number].isDead = true
    for operation in operations where operation.machine == number && operation.result == nil {
      late.append(operation)
    }
    let mine = operations.filter { $0.machine == number }
    operations.removeAll { $0.machine == number }
    for operation in mine { operation.call.end(.failure(.refused("the machine has ended"))) }
    machines[number].isReady = { true }
  }
}

/// Random numbers that a seed decides (SplitMix64, Steele, Lea and Flood 2014).
public struct SimulationGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The numbers of a seed.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }

  /// The next number below `bound`.
  public mutating func next(below bound: UInt64) -> UInt64 { next() % bound }
}

/// Threads that are used again, because a history is shorter than it takes to make one.
private enum WorkerThreads {
  /// Unchecked: the semaphore hands the work over.
  private final class Worker: @unchecked Sendable {
    let wake = DispatchSemaphore(value: 0)
    var work: (@Sendable () -> Void)?
  }

  private static let idle = Mutex<[Worker]>([])

  static func run(_ work: @escaping @Sendable () -> Void) {
    let worker = idle.withLock { $0.popLast() } ?? make()
    worker.work = work
    worker.wake.signal()
  }

  private static func make() -> Worker {
    let worker = Worker()
    let thread = Thread {
      while true {
        worker.wake.wait()
        worker.work?()
        worker.work = nil
        idle.withLock { $0.append(worker) }
      }
    }
    thread.stackSize = 1 << 20
    thread.start()
    return worker
  }
}

extension ObjectRequest {
  fileprivate var needsRoom: Bool {
    switch self {
    case .write, .create, .swap: true
    default: false
    }
  }
}
