import CPlatform
import CambiumCore
import Foundation
import Synchronization

/// One thread, by its token: handles are used again after a thread has ended, tokens are not.
///
/// Unchecked: run loops take timers from any thread, and say from any thread whether they run.
final class ThreadContext: RealmContext, @unchecked Sendable {
  private let token: UInt64
  private let thread: UInt
  private let loop: RunLoop
  private let hasEnded = Atomic<Bool>(false)

  private init() {
    token = cambium_thread_token()
    thread = cambium_thread_pointer()
    loop = .current
  }

  /// The calling thread.
  static var current: ThreadContext { ThreadResidents.current.context }

  var identity: ContextIdentity { ContextIdentity(kind: "thread", number: token) }

  var isCurrent: Bool { cambium_thread_token() == token }

  var ownThread: UInt? { hasEnded.load(ordering: .acquiring) ? nil : thread }

  var isAlive: Bool { !hasEnded.load(ordering: .acquiring) }

  var canBeWoken: Bool { !hasEnded.load(ordering: .acquiring) && loop.currentMode != nil }

  // `RunLoop.perform` would not wake a loop that sleeps.
  func run(_ job: @escaping @Sendable () -> Void) {
    loop.add(Timer(timeInterval: 0, repeats: false) { _ in job() }, forMode: .common)
  }

  /// What a thread leaves behind when it ends: its Realms must not pass for those of a thread that
  /// later gets the same control block.
  fileprivate final class ThreadResidents {
    let context = ThreadContext()
    private var instances: [InstanceTable.Entry] = []
    private static let name = "cambium.thread"

    /// The calling thread's, made at first use and released when the thread ends.
    static var current: ThreadResidents {
      let dictionary = Thread.current.threadDictionary
      if let residents = dictionary[name] as? ThreadResidents { return residents }
      let residents = ThreadResidents()
      dictionary[name] = residents
      return residents
    }

    func insert(_ instance: RealmInstance) {
      instances.removeAll { $0.isGone }
      instances.append(InstanceTable.Entry(instance))
    }

    deinit {
      context.hasEnded.store(true, ordering: .releasing)
      for instance in instances { instance.value?.threadHasEnded() }
    }
  }

  /// Remembers a Realm of the calling thread, which hears of the thread's end.
  static func insert(_ instance: RealmInstance) { ThreadResidents.current.insert(instance) }
}
