import CambiumCluster
import CambiumCore
import Synchronization

/// A machine's connection to a simulated cluster, whose operations happen when a ``Schedule`` says so: late, in
/// any order, or without an answer.
///
/// Used by the machine's thread, which runs when the schedule lets it.
public final class ScheduledObjects: ObjectStorage {
  /// The kind's name.
  public var kind: String { "simulated" }
  /// What users call it.
  public var path: String { "simulated:db" }
  private let schedule: Schedule
  let machine: Int
  private let watches = Mutex<[Int]>([])

  init(_ schedule: Schedule, machine: Int) {
    self.schedule = schedule
    self.machine = machine
  }

  /// Notes the operation; it happens later.
  public func start(_ request: ObjectRequest, _ call: ObjectCall) {
    schedule.start(request, call, machine)
  }

  /// Lets others run until there is an answer.
  public func wait(for call: ObjectCall) {
    if !call.isAnswered { schedule.park(machine) { call.isAnswered } }
  }

  /// Lets others run until the cluster's time is that of its end.
  public func sleep(nanoseconds: Int64) {
    // Who only finds out that the machine has ended keeps nobody.
    if schedule.isDead(machine) { return schedule.pass(nanoseconds) }
    let end = schedule.now + nanoseconds
    schedule.park(machine, until: end) { self.schedule.now >= end }
  }

  /// Calls `body` from the schedule, while the machine does not run.
  public func watch(_ body: @escaping @Sendable (ObjectHint?) -> Void) {
    let number = schedule.cluster.watch(body)
    watches.withLock { $0.append(number) }
  }

  /// Gives hints no more.
  public func close() {
    for number in watches.withLock({ $0 }) { schedule.cluster.unwatch(number) }
  }
}
