#if RADOS
  import CambiumCore
  import CambiumRADOS
  import Foundation
  import Testing
  import TestSupport

  /// A network of its own for a process, which can be cut off.
  struct CutNetwork {
    /// The namespace's name.
    let name = "cambium-\(getpid())"
    /// The address at which a cluster is to listen so that it is seen from there.
    let address: String
    /// What tells it from others on this machine.
    private let number = Int(getpid()) % 250 + 1

    init() throws {
      address = "10.201.\(number).5"
      try ask("make")
    }

    /// Loses, or no longer loses, what is sent; or removes the network.
    func ask(_ command: String) throws {
      try TestCluster.run(TestCluster.tools + "cut-network", [command, name, "\(number)"])
    }

    /// Whether this process may make one.
    static let isPossible: Bool = {
      guard TestCluster.isWanted, let network = try? CutNetwork() else { return false }
      try? network.ask("remove")
      return true
    }()

    /// Goes into the namespace with this thread, and all that it starts.
    static func enter(_ name: String) throws {
      // The C library declares it for GNU's language only.
      typealias SetNamespace = @convention(c) (Int32, Int32) -> Int32
      let function = try #require(dlsym(nil, "setns"))
      let setNamespace = unsafeBitCast(function, to: SetNamespace.self)
      let descriptor = Foundation.open("/run/netns/\(name)", O_RDONLY)
      guard descriptor >= 0, setNamespace(descriptor, 0) == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      }
    }
  }

  /// A process that the network has lost, while it owns the writer lock.
  @Suite(.serialized, .enabled(if: CutNetwork.isPossible)) struct RadosCutTests {
    @Test func `a process that is cut off loses its turn, and changes nothing when it is back`()
      async throws
    {
      let network = try CutNetwork()
      defer { try? network.ask("remove") }
      let cluster = TestCluster(address: network.address)
      let location = try cluster.location("cut-\(UUID().uuidString)")
      let folder = try TemporaryFolder()
      let log = folder.file("acknowledged")
      let database = try RadosStoreTests.open(location)
      try RadosStoreTests.make(database)
      try database.close()

      let (name, namespace, configuration) = (
        location.name, network.name, cluster.configuration
      )
      let other = Task {
        _ = await #expect(processExitsWith: .success) {
          [
            name = name as String, namespace = namespace as String,
            configuration = configuration as String, log = log as String
          ] in
          // The test has failed when it takes so long.
          Thread {
            sleep(600)
            exit(9)
          }.start()
          try CutNetwork.enter(namespace)
          let location = try RadosLocation("db/\(name)?conf=\(configuration)&timeout=300")
          let database = try RadosStoreTests.open(location)
          let descriptor = Foundation.open(log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
          func say(_ text: String) {
            let line = Array((text + "\n").utf8)
            _ = line.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
          }
          for value in Int64(1)... {
            do throws(StoreError) {
              // The commit that was under way may have been the last of its turn.
              if value > 1, try RadosStoreTests.isTaken(database) {
                throw .ownershipLost(path: name)
              }
              try RadosStoreTests.commit(value, database)
            } catch {
              if case .ownershipLost = error { say("lost") } else { say("\(error)") }
              break
            }
            say("\(value)")
          }
          // It can write again, on top of what others have written.
          let again = try RadosStoreTests.open(location)
          try RadosStoreTests.increment(again)
          try again.close()
        }
      }
      func lines() -> [Substring] {
        ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n")
      }
      let deadline = Date() + 300
      while lines().count < 20, Date() < deadline { usleep(5_000) }
      try network.ask("cut")
      // What had been acknowledged may still be on its way to the log.
      usleep(1_000_000)
      let acknowledged = try #require(lines().last.flatMap { Int64($0) })

      let here = try RadosStoreTests.open(location)
      // Waits until the lease has ended.
      try RadosStoreTests.commit(1_000_000, here)
      #expect(lines().last.flatMap { Int64($0) } == acknowledged)
      let changes = try RadosStoreTests.largestValue(below: 1_000_000, here)
      // The commit that was under way may be there.
      #expect(changes == acknowledged || changes == acknowledged + 1)
      try network.ask("mend")
      await other.value
      #expect(lines().last == "lost")
      let found = Date() + 30
      while try RadosStoreTests.value(here) == 1_000_000, Date() < found { usleep(20_000) }
      #expect(try RadosStoreTests.value(here) == 1_000_001)
      #expect(try RadosStoreTests.largestValue(below: 1_000_000, here) == changes)
      #expect(try here.verify().findings.isEmpty)
      try here.close()
    }
  }
#endif
