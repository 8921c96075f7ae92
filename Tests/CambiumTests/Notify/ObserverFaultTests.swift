import Cambium
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Observers that end, write, wait or go away at the wrong time.
@Suite struct ObserverFaultTests {
  private func desks() throws -> (Desk, Desk) {
    let desk = try Desk(specConfiguration())
    return (desk, try Desk(desk.configuration))
  }

  @Test func `a token that ends in its own block is told nothing more, and others are`()
    async throws
  {
    let (desk, other) = try desks()
    desk.run { realm in
      let dogs = realm.objects(SpecDog.self)
      desk.tokens = [
        dogs.observe { [unowned desk] change in
          desk.note("first")
          if case .update = change { desk.tokens[0].invalidate() }
        },
        dogs.observe { [unowned desk] change in
          guard case .update = change else { return }
          desk.note("second \(desk.realm.objects(SpecDog.self).count)")
          // The last reference to the token whose block this is.
          if desk.realm.objects(SpecDog.self).count == 2 { desk.tokens.removeLast() }
        },
      ]
    }
    #expect(await desk.next() == "first")
    _ = try other.run { try $0.addDogs("Ben") }
    #expect(await desk.next() == "first")
    #expect(await desk.next() == "second 1")
    _ = try other.run { try $0.addDogs("Rex") }
    #expect(await desk.next() == "second 2")
    desk.run { realm in
      desk.tokens.append(realm.objects(SpecDog.self).observe { [unowned desk] in desk.note($0) })
    }
    #expect(await desk.next() == "initial 2")
    _ = try other.run { try $0.addDogs("Lita") }
    // Whoever has ended would have been told before.
    #expect(await desk.next() == "-[] +[2] ~[]")
  }

  @Test func `a Realm that closes while changes are on their way is told nothing`() async throws {
    let (desk, other) = try desks()
    let isGone = Atomic(false)
    desk.run { realm in
      desk.tokens = [
        realm.objects(SpecDog.self).observe { [unowned desk] change in
          if isGone.load(ordering: .acquiring) { desk.note("told after the end") }
          desk.note(change)
        }
      ]
    }
    #expect(await desk.next() == "initial 0")
    for round in 0..<50 {
      // The queue is held while commits want to wake it.
      try desk.queue.sync {
        _ = try other.run { try $0.addDogs("Ben \(round)") }
        desk.tokens = []
        desk.realm = nil
        isGone.store(true, ordering: .releasing)
      }
      try desk.queue.sync {
        desk.realm = try Realm(configuration: desk.configuration, queue: desk.queue)
        isGone.store(false, ordering: .releasing)
        desk.tokens = [desk.realm.objects(SpecDog.self).observe { [unowned desk] in desk.note($0) }]
      }
      #expect(await desk.next() == "initial \(round + 1)")
    }
  }

  @Test func `an invalidated Realm tells its observers nothing more`() async throws {
    let (desk, other) = try desks()
    desk.run { realm in
      desk.tokens = [realm.objects(SpecDog.self).observe { [unowned desk] in desk.note($0) }]
    }
    #expect(await desk.next() == "initial 0")
    desk.run { $0.invalidate() }
    _ = try other.run { try $0.addDogs("Ben") }
    desk.run { realm in
      desk.tokens.append(realm.objects(SpecDog.self).observe { [unowned desk] in desk.note($0) })
    }
    #expect(await desk.next() == "initial 1")
  }

  @Test func `an observer may write, and is told of it after the block`() async throws {
    let (desk, other) = try desks()
    desk.run { realm in
      let dogs = realm.objects(SpecDog.self)
      desk.tokens = [
        dogs.observe { [unowned desk] change in
          desk.note(change)
          guard case .update(_, _, let insertions, _) = change, dogs.count < 4, !insertions.isEmpty
          else { return }
          do { try desk.realm.addDogs("Child") } catch { desk.note("\(error)") }
          desk.note("written \(dogs.count)")
        }
      ]
    }
    #expect(await desk.next() == "initial 0")
    _ = try other.run { try $0.addDogs("Ben") }
    for count in 1..<4 {
      #expect(await desk.next() == "-[] +[\(count - 1)] ~[]")
      #expect(await desk.next() == "written \(count + 1)")
    }
    #expect(await desk.next() == "-[] +[3] ~[]")
    #expect(other.run { $0.refresh() || true } && other.run { $0.objects(SpecDog.self).count } == 4)
  }

  @Test func `a suspended queue is told once what happened meanwhile, and holds up nobody`()
    async throws
  {
    let (desk, other) = try desks()
    let third = try Desk(desk.configuration)
    for observer in [desk, third] {
      observer.run { realm in
        observer.tokens = [
          realm.objects(SpecDog.self).observe { [unowned observer] in observer.note($0) }
        ]
      }
      #expect(await observer.next() == "initial 0")
    }
    desk.queue.suspend()
    for index in 0..<20 {
      _ = try other.run { try $0.addDogs("Dog \(index)") }
      #expect(await third.next() == "-[] +[\(index)] ~[]")
    }
    desk.queue.resume()
    let told = await desk.next()
    // Who is told first of the last commit is not said.
    if told == "-[] +\(Array(0..<19)) ~[]" {
      #expect(await desk.next() == "-[] +[19] ~[]")
    } else {
      #expect(told == "-[] +\(Array(0..<20)) ~[]")
    }
  }

  private actor Watcher {
    private var token: NotificationToken?

    func watch(_ configuration: Realm.Configuration, _ desk: Desk) async throws {
      let realm = try await Realm(configuration: configuration, actor: self)
      token = await realm.objects(SpecDog.self).observe(on: self) { _, change in
        desk.note(change)
      }
    }
  }

  @Test func `an actor that goes away takes its observers with it`() async throws {
    let (desk, other) = try desks()
    for round in 0..<10 {
      var watcher: Watcher? = Watcher()
      weak let gone = watcher
      try await watcher?.watch(desk.configuration, desk)
      #expect(await desk.next() == "initial \(2 * round)")
      _ = try other.run { try $0.addDogs("Ben") }
      #expect(await desk.next() == "-[] +[\(2 * round)] ~[]")
      watcher = nil
      // The last job of the actor may still hold it.
      while gone != nil { await Task.yield() }
      _ = try other.run { try $0.addDogs("Rex") }
    }
  }

  @Test func `a forked child is told nothing, and its parent is`() async throws {
    let folder = try TemporaryFolder()
    var configuration = Realm.Configuration(fileURL: URL(filePath: folder.file("forked.realm")))
    configuration.objectTypes = specConfiguration().objectTypes
    let (desk, other) = (try Desk(configuration), try Desk(configuration))
    desk.run { realm in
      desk.tokens = [realm.objects(SpecDog.self).observe { [unowned desk] in desk.note($0) }]
    }
    #expect(await desk.next() == "initial 0")
    let status = ForkedChild.status { 0 }
    #expect(status == 0)
    _ = try other.run { try $0.addDogs("Ben") }
    #expect(await desk.next() == "-[] +[0] ~[]")
    desk.queue.sync { (desk.tokens, desk.realm) = ([], nil) }
    other.queue.sync { other.realm = nil }
  }
}
