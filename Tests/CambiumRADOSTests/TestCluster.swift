#if RADOS
  import CambiumCluster
  import CambiumRADOS
  import Foundation

  /// The cluster of this test process: one monitor and one OSD, made at its first use.
  ///
  /// It ends with the process, however that ends: a shell waits for a pipe to close that the process alone
  /// can write to.
  final class TestCluster: Sendable {
    static let shared = TestCluster()

    /// Whether there may be one.
    static var isWanted: Bool { ProcessInfo.processInfo.environment["CAMBIUM_RADOS"] == "1" }

    /// The path of its configuration.
    let configuration: String
    private let folder: String
    private let guardian: Pipe

    /// A cluster that listens at an address of this machine.
    init(address: String = "127.0.0.1") {
      folder = NSTemporaryDirectory() + "cambium-rados-\(getpid())-\(address)"
      configuration = folder + "/ceph.conf"
      guardian = Pipe()
      _ = fcntl(guardian.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
      let shell = Process()
      shell.executableURL = URL(fileURLWithPath: "/bin/sh")
      shell.arguments = [
        "-c", "trap '' INT TERM HUP; read line; exec \"$0\" stop \"$1\"", Self.script, folder,
      ]
      shell.standardInput = guardian
      shell.standardOutput = FileHandle.nullDevice
      shell.standardError = FileHandle.nullDevice
      do {
        try shell.run()
        try Self.run(
          "/usr/bin/env",
          ["RADOS_ADDRESS=\(address)", Self.script, "start", folder, "1", "bluestore"])
      } catch {
        fatalError("The cluster did not start: \(error). Its logs are in \(folder).")
      }
    }

    /// The folder of tools: beside the tests in the package.
    static let tools: String = {
      let place = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path
      return place + "/Tools/"
    }()

    /// The script that starts and stops clusters.
    private static let script = tools + "rados-cluster"

    /// Runs a program, and throws when it fails.
    static func run(_ program: String, _ arguments: [String]) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
      process.standardOutput = FileHandle.nullDevice
      // The program 'ceph' says what went well here.
      if program != script { process.standardError = FileHandle.nullDevice }
      try process.run()
      process.waitUntilExit()
      if process.terminationStatus != 0 {
        throw Failure(call: "\(program) \(arguments)", status: process.terminationStatus)
      }
    }

    struct Failure: Error {
      var call: String
      var status: Int32
    }

    // MARK: What happens to it

    /// What can be done to a daemon.
    enum Event: String {
      case kill, pause, resume
      case restart = "daemon"
    }

    /// Does that to the OSD.
    func osd(_ event: Event) throws {
      try Self.run(Self.script, [event.rawValue, folder, "osd.0"])
    }

    /// Does that to the monitor.
    func monitor(_ event: Event) throws {
      try Self.run(Self.script, [event.rawValue, folder, "mon.a"])
    }

    /// Asks the monitor.
    func ceph(_ arguments: String...) throws {
      try Self.run("/usr/bin/ceph", ["-c", configuration] + arguments)
    }

    /// Sets which parts of the OSD must be used for it to be nearly full, too full to be filled by others, and
    /// full.
    func setFullRatios(_ ratios: [String]) throws {
      for (name, ratio) in zip(["nearfull", "backfillfull", "full"], ratios) {
        try ceph("osd", "set-\(name)-ratio", ratio)
      }
    }

    // MARK: Stores

    /// A location of a store that is used nowhere else.
    func location(
      _ name: String = UUID().uuidString, pool: String = "db", timeoutSeconds: Int = 60
    ) throws -> RadosLocation {
      try RadosLocation("\(pool)/\(name)?conf=\(configuration)&timeout=\(timeoutSeconds)")
    }

    /// A connection to it.
    func objects(
      _ name: String = UUID().uuidString, pool: String = "db", timeoutSeconds: Int = 60
    ) throws -> RadosObjects {
      try RadosObjects(location(name, pool: pool, timeoutSeconds: timeoutSeconds))
    }
  }

  extension ObjectStorage {
    /// The bytes of the ranges of an object.
    func read(_ name: String, _ ranges: Range<Int>...) throws(ObjectFailure) -> [[UInt8]] {
      guard case .bytes(let buffers) = try perform(.read(name: name, ranges: ranges)) else {
        throw .refused("a read answered without bytes")
      }
      return buffers.map { $0.withBytes { [UInt8](copying: $0) } }
    }

    /// The names that a request answers with, in order.
    func names(_ request: ObjectRequest) throws(ObjectFailure) -> [String] {
      guard case .names(let names) = try perform(request) else {
        throw .refused("a request for names answered without names")
      }
      return names.sorted()
    }

    /// Why a request fails; nil if it does not.
    func failure(_ request: ObjectRequest) -> ObjectFailure? {
      do throws(ObjectFailure) {
        _ = try perform(request)
        return nil
      } catch {
        return error
      }
    }
  }

  extension ObjectFailure {
    /// Whether the operation may have happened.
    var isUnknown: Bool { if case .unknown = self { true } else { false } }
  }
#endif
