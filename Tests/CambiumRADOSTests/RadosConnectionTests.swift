#if RADOS
  import CambiumCluster
  import CambiumCore
  import CambiumRADOS
  import Foundation
  import Testing

  extension RadosTests {
    /// What goes wrong before there is a connection, and closing one.
    struct ConnectionTests {
      private let cluster = TestCluster.shared

      @Test func `a pool that is not there is named, with the way to make it`() throws {
        let error = #expect(throws: StoreError.self) { try cluster.objects("x", pool: "nowhere") }
        #expect("\(error!)".contains("rados:nowhere/x"))
        #expect("\(error!)".contains("ceph osd pool create nowhere"))
      }

      @Test func `a configuration that is not there is named`() throws {
        let error = #expect(throws: StoreError.self) {
          try RadosObjects(RadosLocation("db/x?conf=/nowhere/ceph.conf"))
        }
        #expect("\(error!)".contains("'/nowhere/ceph.conf'"))
        #expect("\(error!)".contains("conf=PATH"))
      }

      @Test(arguments: [("mon host = [v2:127.0.0.1:1]", "reach a monitor"), ("", "no monitor")])
      func `a monitor that cannot be reached is told of within the timeout`(
        line: String, words: String
      ) throws {
        let file = NSTemporaryDirectory() + "cambium-\(UUID().uuidString).conf"
        try "[global]\n\(line)\nauth client required = none\n"
          .write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let begin = ContinuousClock.now
        let error = #expect(throws: StoreError.self) {
          try RadosObjects(RadosLocation("db/x?conf=\(file)&timeout=2"))
        }
        #expect("\(error!)".contains(words))
        #expect("\(error!)".contains("rados:db/x"))
        #expect(ContinuousClock.now - begin < .seconds(60))
      }

      @Test func `a closed connection refuses, and may be closed again from everywhere`() throws {
        let objects = try cluster.objects()
        _ = try objects.perform(.create(name: "a", bytes: [1]))
        let threads = (0..<4).map { _ in
          let thread = Thread { objects.close() }
          thread.start()
          return thread
        }
        objects.close()
        objects.close()
        let requests: [ObjectRequest] = [
          .read(name: "a", ranges: [0..<1]), .write(name: "a", offset: 0, bytes: [2]),
          .create(name: "b", bytes: []), .remove(name: "a"), .list,
          .swap(name: "a", ObjectSwap(offset: 0, expected: [1], change: .replace([]))),
          .lock(name: "l", holder: "h", isShared: false, seconds: 1),
          .unlock(name: "l", holder: "h"), .holders(name: "l"), .hint(.committed),
        ]
        for request in requests { #expect(objects.failure(request) == .refused("closed")) }
        while !threads.allSatisfy(\.isFinished) { usleep(1_000) }
      }

      @Test func `closing answers all that is under way`() throws {
        for round in 0..<5 {
          let objects = try cluster.objects()
          objects.watch { _ in }
          var calls: [ObjectCall] = []
          func start(_ request: ObjectRequest) {
            let call = ObjectCall()
            objects.start(request, call)
            calls.append(call)
          }
          for index in 0..<20 {
            start(.write(name: "\(index)", offset: 0, bytes: Array(repeating: 1, count: 100_000)))
            start(.lock(name: "\(index)", holder: "h", isShared: false, seconds: 9))
            start(.read(name: "0", ranges: [0..<100_000]))
            start(.hint(.wanted))
            start(.list)
          }
          if round % 2 == 1 { Thread { objects.close() }.start() }
          objects.close()
          #expect(calls.allSatisfy { $0.isAnswered })
        }
      }

      @Test func `a process ends in order with connections open and operations under way`() async {
        for _ in 0..<8 {
          await #expect(processExitsWith: .success) {
            [configuration = cluster.configuration as String] in
            let objects = try RadosObjects(RadosLocation("db/ending?conf=\(configuration)"))
            objects.watch { _ in }
            for index in 0..<50 {
              let bytes = [UInt8](repeating: 1, count: 50_000)
              objects.start(.write(name: "\(index)", offset: 0, bytes: bytes), ObjectCall())
            }
            exit(EXIT_SUCCESS)
          }
        }
      }

      @Test func `a connection that is let go of in an answer ends without its thread`() throws {
        for _ in 0..<5 {
          weak var gone: RadosObjects?
          do {
            let objects = try cluster.objects()
            gone = objects
            objects.start(
              .write(name: "a", offset: 0, bytes: [1]),
              ObjectCall { _ in withExtendedLifetime(objects) { _ = usleep(50_000) } })
          }
          for _ in 0..<6_000 where gone != nil { usleep(10_000) }
          #expect(gone == nil)
        }
      }
    }
  }
#endif
