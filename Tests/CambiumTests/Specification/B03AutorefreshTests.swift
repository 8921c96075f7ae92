import Cambium
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Section B3: Realms that move by themselves.
@Suite struct B03AutorefreshTests {
  init() { TemporaryFolder.prepareForChildren() }

  /// A serial queue with a Realm that notes what it is told.
  private final class Desk: @unchecked Sendable {
    // Unchecked: everything but the notes is used on the queue alone.
    let queue = DispatchQueue(label: "desk")
    var realm: Realm!
    var tokens: [NotificationToken] = []
    private let notes = Mutex<[String]>([])
    private let noted = DispatchSemaphore(value: 0)

    init(_ configuration: Realm.Configuration, autorefresh: Bool = true) throws {
      try queue.sync {
        realm = try Realm(configuration: configuration, queue: queue)
        realm.autorefresh = autorefresh
        _ = realm.isEmpty
        tokens = [
          realm.observe { [unowned self] notification, realm in
            note("\(notification) \(realm.objects(SpecDog.self).count)")
          }
        ]
      }
    }

    func note(_ text: String) {
      notes.withLock { $0.append(text) }
      noted.signal()
    }

    /// The next note.
    func next() async -> String {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async { [self] in
          noted.wait()
          continuation.resume(returning: notes.withLock { $0.removeFirst() })
        }
      }
    }

    func run<Value>(_ body: (Realm) throws -> Value) rethrows -> Value {
      try queue.sync { try body(realm) }
    }
  }

  @Test func `a queue's Realm moves when another context commits`() async throws {
    let configuration = specConfiguration()
    let (desk, other) = (try Desk(configuration), try Desk(configuration))
    _ = try other.run { try $0.addDogs("Ben") }
    #expect(await desk.next() == "didChange 1")
    #expect(desk.run { $0.objects(SpecDog.self).count } == 1)
    #expect(desk.run { $0.refresh() } == false)
  }

  @Test func `a Realm without autorefresh is told once that it could move`() async throws {
    let configuration = specConfiguration()
    let (desk, other) = (try Desk(configuration, autorefresh: false), try Desk(configuration))
    _ = try other.run { try $0.addDogs("Ben") }
    #expect(await desk.next() == "refreshRequired 0")
    #expect(desk.run { $0.objects(SpecDog.self).count } == 0)
    #expect(desk.run { $0.refresh() })
    #expect(await desk.next() == "didChange 1")
  }

  @Test func `who is told that a Realm could move may move it`() async throws {
    let configuration = specConfiguration()
    let (desk, other) = (try Desk(configuration, autorefresh: false), try Desk(configuration))
    desk.run { realm in
      desk.tokens.append(
        realm.observe { [unowned desk] notification, realm in
          if notification == .refreshRequired { desk.note("moved \(realm.refresh())") }
        })
    }
    for count in 1...3 {
      _ = try other.run { try $0.addDogs("Ben") }
      #expect(await desk.next() == "refreshRequired \(count - 1)")
      #expect(await desk.next() == "didChange \(count)")
      #expect(await desk.next() == "moved true")
    }
  }

  @Test func `a local commit is told before it returns`() async throws {
    let desk = try Desk(specConfiguration(), autorefresh: false)
    try desk.run { realm in
      try realm.addDogs("Ben")
      desk.note("returned")
    }
    #expect(await desk.next() == "didChange 1")
    #expect(await desk.next() == "returned")
  }

  @Test func `a write that begins at a newer version tells of it first`() async throws {
    let configuration = specConfiguration()
    let (desk, other) = (try Desk(configuration, autorefresh: false), try Desk(configuration))
    try desk.run { realm in
      try onAnotherThread { [other] in _ = try other.run { try $0.addDogs("Ben") } }
      realm.beginWrite()
      desk.note("begun")
      realm.cancelWrite()
    }
    var notes: [String] = []
    for _ in 0..<2 { notes.append(await desk.next()) }
    #expect(notes == ["didChange 1", "begun"])
  }

  @Test func `an empty commit is a version, and a cancelled write is none`() async throws {
    let configuration = specConfiguration()
    let (desk, other) = (try Desk(configuration), try Desk(configuration))
    try other.run { realm in
      realm.beginWrite()
      realm.create(SpecDog.self)
      realm.cancelWrite()
      try realm.write {}
    }
    #expect(await desk.next() == "didChange 0")
  }

  @Test func `commits that come fast are told together`() async throws {
    let configuration = specConfiguration()
    let (desk, other) = (try Desk(configuration), try Desk(configuration))
    try desk.queue.sync {
      for number in 0..<20 { _ = try other.run { try $0.addDogs("\(number)") } }
    }
    #expect(await desk.next() == "didChange 20")
  }

  @Test func `a thread with a run loop follows`() async throws {
    let configuration = specConfiguration()
    let other = try Desk(configuration)
    let (seen, isOver) = (DispatchSemaphore(value: 0), SharedFlag())
    let isReady = DispatchSemaphore(value: 0)
    let thread = Thread {
      guard let realm = try? Realm(configuration: configuration, queue: nil) else { return }
      _ = realm.isEmpty
      // The loop runs until the Realm has followed.
      let mine = Smuggled(value: realm)
      let timer = Timer(timeInterval: 0.01, repeats: true) { _ in
        if mine.value.objects(SpecDog.self).count == 1 { isOver.set() }
      }
      RunLoop.current.add(timer, forMode: .default)
      isReady.signal()
      while !isOver.isSet { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.05)) }
      timer.invalidate()
      seen.signal()
    }
    thread.start()
    await Self.wait(isReady)
    _ = try other.run { try $0.addDogs("Ben") }
    await Self.wait(seen)
  }

  @Test func `all Realms of a context move before the first is told`() async throws {
    let configuration = specConfiguration()
    let desk = try Desk(configuration)
    var few = configuration
    few.objectTypes = [SpecDog.self, SpecPerson.self]
    try desk.queue.sync {
      let second = try Realm(configuration: few, queue: desk.queue)
      _ = second.isEmpty
      desk.tokens.append(
        desk.realm.observe { [unowned desk] _, _ in
          desk.note("second \(second.objects(SpecDog.self).count)")
        })
    }
    let other = try Desk(configuration)
    _ = try other.run { try $0.addDogs("Ben") }
    #expect(await desk.next() == "didChange 1")
    #expect(await desk.next() == "second 1")
    desk.queue.sync { desk.tokens.removeAll() }
  }

  @Test func `a commit of another process moves a Realm`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("shared.realm")
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: [SpecDog.self, SpecPerson.self])
    let desk = try Desk(configuration)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), objectTypes: [SpecDog.self, SpecPerson.self]),
        queue: nil)
      try realm.addDogs("Ben")
    }
    var note = await desk.next()
    while note != "didChange 1" { note = await desk.next() }
    #expect(desk.run { $0.objects(SpecDog.self).first?.name } == "Ben")
  }

  private static func wait(_ semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      DispatchQueue.global().async {
        semaphore.wait()
        continuation.resume()
      }
    }
  }
}

/// A flag that closures share.
private final class SharedFlag: Sendable {
  private let value = Atomic(false)
  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}
