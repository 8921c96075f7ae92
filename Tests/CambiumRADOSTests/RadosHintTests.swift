#if RADOS
  import CambiumCluster
  import CambiumRADOS
  import Foundation
  import Synchronization
  import Testing

  extension RadosTests {
    struct HintTests {
      private let cluster = TestCluster.shared

      @Test func `a hint without anybody who watches is given`() throws {
        _ = try cluster.objects().perform(.hint(.committed))
      }

      @Test func `hints come to all who watch, the giver's too`() throws {
        let giver = try cluster.objects()
        let hearer = try cluster.objects(giver.name)
        let elsewhere = try cluster.objects()
        let heard = (0..<4).map { _ in Heard() }
        giver.watch(heard[0].note)
        hearer.watch(heard[1].note)
        hearer.watch(heard[2].note)
        elsewhere.watch(heard[3].note)
        for hint in [ObjectHint.committed, .wanted, .committed] {
          _ = try giver.perform(.hint(hint))
        }
        for each in heard.prefix(3) {
          #expect(each.wait(for: 3) == [.committed, .wanted, .committed])
        }
        #expect(heard[3].wait(for: 0) == [])
        hearer.close()
        _ = try giver.perform(.hint(.wanted))
        #expect(heard[0].wait(for: 4).count == 4)
        #expect(heard[1].wait(for: 3).count == 3)
      }
    }

    /// The hints that came.
    final class Heard: Sendable {
      private let hints = Mutex<[ObjectHint?]>([])

      func note(_ hint: ObjectHint?) { hints.withLock { $0.append(hint) } }

      /// All of them, once there are so many; waits for ten seconds at most.
      func wait(for count: Int) -> [ObjectHint?] {
        for _ in 0..<1_000 where hints.withLock({ $0.count < count }) { usleep(10_000) }
        return hints.withLock { $0 }
      }

      /// Waits until `hint` came, for so long.
      func comes(_ hint: ObjectHint?, withinSeconds seconds: Int) -> Bool {
        for _ in 0..<(seconds * 100) where hints.withLock({ !$0.contains(hint) }) { usleep(10_000) }
        return hints.withLock { $0.contains(hint) }
      }

      func forget() { hints.withLock { $0 = [] } }
    }
  }
#endif
