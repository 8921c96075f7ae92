import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import Cambium

/// The turns of tasks that write.
@Suite struct AsyncWritesWhiteBoxTests {
  private actor Writer {
    private var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
      realm = try await Realm(configuration: configuration, actor: self)
    }

    private var count: Int { realm.objects(SpecDog.self).count }

    /// Loses the turn while another task waits; how many objects there were when it came again.
    func loseTurn() async throws -> Int {
      let instance = realm.instance
      let writes = instance.asyncWrites
      let turn = try #require(
        await writes.waitForTurn(instance, isAgain: false, isolation: self))
      let other = Task {
        try await realm.asyncWrite { _ = realm.create(SpecDog.self, value: ["name": "Lita"]) }
      }
      while writes.entries.isEmpty { await Task.yield() }
      // As it is given back when the actor is away for long.
      turn.giveBack()
      #expect(try turn.take() == nil)
      var found: Int
      var transaction: Transaction?
      repeat {
        // On a machine that is busy it may be lost again.
        let again = try #require(
          await writes.waitForTurn(instance, isAgain: true, isolation: self))
        found = count
        transaction = try again.take()
      } while transaction == nil
      transaction?.rollback()
      writes.endTask(instance)
      try await other.value
      #expect(count == 1)
      return found
    }
  }

  @Test func `a task that has lost its turn comes before those that wait behind it`() async throws {
    let writer = try await Writer(specConfiguration())
    #expect(try await writer.loseTurn() == 0)
  }
}
