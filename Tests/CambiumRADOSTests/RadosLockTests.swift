#if RADOS
  import CambiumCluster
  import CambiumRADOS
  import Foundation
  import Testing

  extension RadosTests {
    /// Locks, over two connections.
    struct LockTests {
      private let objects: RadosObjects
      private let other: RadosObjects

      init() throws {
        objects = try TestCluster.shared.objects()
        other = try TestCluster.shared.objects(objects.name)
      }

      private func lock(
        _ holder: String, isShared: Bool = false, seconds: Int = 30
      ) -> ObjectRequest {
        .lock(name: "l", holder: holder, isShared: isShared, seconds: seconds)
      }

      @Test func `one alone has a lock until it gives it back`() throws {
        _ = try objects.perform(lock("a"))
        #expect(objects.failure(lock("b")) == .busy)
        #expect(other.failure(lock("c")) == .busy)
        #expect(other.failure(lock("c", isShared: true)) == .busy)
        #expect(try other.names(.holders(name: "l")) == ["a"])
        #expect(try other.names(.holders(name: "another")) == [])
        _ = try objects.perform(.unlock(name: "l", holder: "a"))
        #expect(try other.names(.holders(name: "l")) == [])
        _ = try other.perform(lock("c"))
      }

      @Test func `many share a lock, and none has it alone meanwhile`() throws {
        let holders = (0..<200).map { "holder-\($0)-" + String(repeating: "x", count: $0 % 20) }
        for (index, holder) in holders.enumerated() {
          _ = try (index % 2 == 0 ? objects : other).perform(lock(holder, isShared: true))
        }
        #expect(try objects.names(.holders(name: "l")) == holders.sorted())
        #expect(objects.failure(lock("alone")) == .busy)
        for (index, holder) in holders.enumerated() {
          _ = try (index % 2 == 0 ? objects : other).perform(.unlock(name: "l", holder: holder))
        }
        _ = try objects.perform(lock("alone"))
      }

      @Test func `a lock that nobody has is not given back`() throws {
        #expect(objects.failure(.unlock(name: "l", holder: "a")) == .missing)
        _ = try objects.perform(lock("a"))
        #expect(objects.failure(.unlock(name: "l", holder: "b")) == .missing)
        _ = try objects.perform(.unlock(name: "l", holder: "a"))
        #expect(objects.failure(.unlock(name: "l", holder: "a")) == .missing)
      }

      @Test func `a holder gives its lock back over another connection`() throws {
        _ = try objects.perform(lock("a"))
        #expect(other.failure(.unlock(name: "l", holder: "b")) == .missing)
        _ = try other.perform(.unlock(name: "l", holder: "a"))
        _ = try other.perform(lock("b"))
      }

      @Test func `a lock ends by itself`() throws {
        _ = try objects.perform(lock("a", seconds: 5))
        #expect(other.failure(lock("b")) == .busy)
        objects.sleep(nanoseconds: 5_300_000_000)
        #expect(try other.names(.holders(name: "l")) == [])
        #expect(objects.failure(.unlock(name: "l", holder: "a")) == .missing)
        _ = try other.perform(lock("b"))
        #expect(objects.failure(lock("a")) == .busy)
      }

      @Test func `a lock that is renewed goes on`() throws {
        for _ in 0..<3 {
          _ = try objects.perform(lock("a", seconds: 10))
          objects.sleep(nanoseconds: 4_000_000_000)
          #expect(other.failure(lock("b")) == .busy)
        }
        #expect(try other.names(.holders(name: "l")) == ["a"])
      }

      @Test func `of those who want a lock at a time one gets it`() throws {
        for round in 0..<10 {
          let calls = (0..<10).map { index in
            let call = ObjectCall()
            (index % 2 == 0 ? objects : other).start(
              .lock(name: "\(round)", holder: "\(index)", isShared: false, seconds: 30), call)
            return call
          }
          calls.forEach { $0.waitForAnswer() }
          #expect(calls.filter { $0.result.failure == nil }.count == 1)
          #expect(calls.filter { $0.result.failure == .busy }.count == 9)
        }
      }
    }
  }
#endif
