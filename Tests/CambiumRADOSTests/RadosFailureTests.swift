#if RADOS
  import CambiumCluster
  import CambiumRADOS
  import Foundation
  import Testing

  extension RadosTests {
    /// What happens to operations when the cluster does not do its part.
    struct FailureTests {
      private let cluster = TestCluster.shared

      /// One of each kind that the OSD has a part in.
      private let requests: [ObjectRequest] = [
        .read(name: "a", ranges: [0..<1]), .write(name: "w", offset: 0, bytes: [2]),
        .create(name: "c", bytes: [3]), .remove(name: "r"), .list,
        .swap(name: "a", ObjectSwap(offset: 0, expected: [1], change: .replace([1]))),
        .lock(name: "l", holder: "h", isShared: false, seconds: 1), .hint(.committed),
      ]

      private func waitUntilWell(_ objects: RadosObjects) throws {
        for _ in 0..<60 where objects.failure(.write(name: "well", offset: 0, bytes: [1])) != nil {}
        _ = try objects.perform(.write(name: "well", offset: 0, bytes: [1]))
      }

      @Test func `operations come back within the timeout while an OSD hangs`() throws {
        let objects = try cluster.objects(timeoutSeconds: 2)
        _ = try objects.perform(.create(name: "a", bytes: [1]))
        _ = try objects.perform(.create(name: "r", bytes: [1]))
        let begin = ContinuousClock.now
        do {
          try cluster.osd(.pause)
          defer { try? cluster.osd(.resume) }
          let results = objects.perform(requests)
          for result in results { #expect(result.failure?.isUnknown == true) }
          #expect(ContinuousClock.now - begin < .seconds(60))
        }
        try waitUntilWell(objects)
        #expect(try objects.read("a", 0..<9) == [[1]])
      }

      @Test
      func `what was answered survives an OSD that is killed, and what was not is whole or absent`()
        throws
      {
        let objects = try cluster.objects(timeoutSeconds: 3)
        var answered: [Int] = []
        for index in 0..<50 {
          _ = try objects.perform(.create(name: "\(index)", bytes: [UInt8(index)]))
          answered.append(index)
        }
        let calls = (50..<250).map { index in
          let call = ObjectCall()
          let bytes = [UInt8](repeating: UInt8(index), count: 20_000)
          objects.start(.create(name: "\(index)", bytes: bytes), call)
          return (index, call)
        }
        try cluster.osd(.kill)
        let begin = ContinuousClock.now
        for (index, call) in calls {
          call.waitForAnswer()
          if let failure = call.result.failure {
            #expect(failure.isUnknown)
          } else {
            answered.append(index)
          }
        }
        #expect(objects.failure(.read(name: "0", ranges: [0..<1]))?.isUnknown == true)
        #expect(ContinuousClock.now - begin < .seconds(60))
        try cluster.osd(.restart)
        try waitUntilWell(objects)
        for index in answered {
          #expect(try objects.read("\(index)", 0..<1) == [[UInt8(index)]])
        }
        for index in 50..<250 {
          let read = try? objects.read("\(index)", 0..<30_000)
          #expect(read == nil || read == [Array(repeating: UInt8(index), count: 20_000)])
        }
      }

      @Test func `whoever watches hears again after an OSD was gone`() throws {
        let objects = try cluster.objects(timeoutSeconds: 2)
        let heard = Heard()
        objects.watch(heard.note)
        _ = try objects.perform(.hint(.committed))
        #expect(heard.comes(.committed, withinSeconds: 60))
        try cluster.osd(.kill)
        objects.sleep(nanoseconds: 4_000_000_000)
        try cluster.osd(.restart)
        try waitUntilWell(objects)
        heard.forget()
        for _ in 0..<30 {
          _ = objects.failure(.hint(.wanted))
          if heard.comes(.wanted, withinSeconds: 1) { break }
        }
        #expect(heard.comes(.wanted, withinSeconds: 0))
      }

      @Test func `who begins to watch while an OSD hangs is told so, and hears later`() throws {
        let objects = try cluster.objects(timeoutSeconds: 1)
        let heard = Heard()
        do {
          try cluster.osd(.pause)
          defer { try? cluster.osd(.resume) }
          objects.watch(heard.note)
          #expect(heard.comes(nil, withinSeconds: 0))
        }
        for _ in 0..<30 {
          _ = objects.failure(.hint(.wanted))
          if heard.comes(.wanted, withinSeconds: 1) { break }
        }
        #expect(heard.comes(.wanted, withinSeconds: 0))
      }

      @Test func `a watch that was lost is made again, and tells that hints were missed`() throws {
        let objects = try cluster.objects(timeoutSeconds: 5)
        let heard = Heard()
        objects.watch(heard.note)
        // The object is gone, and all who watch it with it.
        _ = try objects.perform(.remove(name: "hints"))
        #expect(heard.comes(nil, withinSeconds: 30))
        for _ in 0..<30 {
          _ = objects.failure(.hint(.wanted))
          if heard.comes(.wanted, withinSeconds: 1) { break }
        }
        #expect(heard.comes(.wanted, withinSeconds: 0))
      }

      @Test func `closing does not wait for longer than the timeout while an OSD hangs`() throws {
        let objects = try cluster.objects(timeoutSeconds: 2)
        objects.watch { _ in }
        try cluster.osd(.pause)
        defer { try? cluster.osd(.resume) }
        let calls = requests.map { request in
          let call = ObjectCall()
          objects.start(request, call)
          return call
        }
        let begin = ContinuousClock.now
        objects.close()
        #expect(calls.allSatisfy { $0.isAnswered })
        #expect(ContinuousClock.now - begin < .seconds(60))
      }

      @Test func `a full cluster takes nothing that makes it fuller, and still removes`() throws {
        let objects = try cluster.objects(timeoutSeconds: 5)
        _ = try objects.perform(.create(name: "a", bytes: Array(repeating: 1, count: 100_000)))
        _ = try objects.perform(.create(name: "b", bytes: [1]))
        do {
          try cluster.setFullRatios(["0.0000001", "0.0000002", "0.0000003"])
          defer { try? cluster.setFullRatios(["0.85", "0.9", "0.95"]) }
          var failure: ObjectFailure?
          for index in 0..<600 where failure != .full {
            failure = objects.failure(.write(name: "more.\(index)", offset: 0, bytes: [1]))
            usleep(100_000)
          }
          #expect(failure == .full)
          let begin = ContinuousClock.now
          #expect(objects.failure(.create(name: "c", bytes: [1])) == .full)
          #expect(objects.failure(.write(name: "b", offset: 1 << 20, bytes: [1])) == .full)
          let growing = ObjectSwap(
            offset: 0, expected: [1], change: .replace(Array(repeating: 1, count: 200_000)))
          #expect(objects.failure(.swap(name: "b", growing)) == .full)
          #expect(
            objects.failure(.lock(name: "l", holder: "h", isShared: false, seconds: 9)) == .full)
          #expect(try objects.read("b", 0..<9) == [[1]])
          _ = try objects.perform(.remove(name: "a"))
          #expect(objects.failure(.remove(name: "a")) == .missing)
          #expect(ContinuousClock.now - begin < .seconds(60))
        }
        for _ in 0..<100 where objects.failure(.create(name: "c", bytes: [1])) == .full {
          usleep(100_000)
        }
        #expect(try objects.read("c", 0..<9) == [[1]])
      }

      @Test func `objects of a pool that was deleted are not missing but refused`() throws {
        try cluster.ceph("osd", "pool", "create", "short", "1", "1")
        let objects = try cluster.objects(pool: "short", timeoutSeconds: 5)
        _ = try objects.perform(.create(name: "a", bytes: [1]))
        try cluster.ceph(
          "osd", "pool", "rm", "short", "short", "--yes-i-really-really-mean-it")
        let gone = ObjectFailure.refused("the pool 'short' is no longer there")
        for _ in 0..<600 where objects.failure(.read(name: "a", ranges: [0..<1])) == nil {
          usleep(100_000)
        }
        #expect(objects.failure(.read(name: "a", ranges: [0..<1])) == gone)
        #expect(objects.failure(.holders(name: "l")) == gone)
      }
    }
  }
#endif
