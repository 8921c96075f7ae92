#if RADOS
  import ArgumentParser
  import CambiumCluster
  import CambiumCore
  import CambiumFile
  import CambiumRADOS
  import Foundation

  /// What the same work takes in a Ceph cluster, in a local file, and with plain operations of librados.
  @main
  struct BenchRADOS: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "bench-rados",
      abstract: "Measures a store in a Ceph cluster beside a local file and plain operations.")

    @Option(help: "The cluster's configuration; otherwise what librados finds.")
    var conf: String?

    @Option(help: "The pool.")
    var pool = "db"

    @Option(help: "How many rows the table has that is scanned.")
    var rows = 1_000_000

    @Option(help: "How many commits are measured one by one.")
    var commits = 300

    @Option(help: "The folder for the local file.")
    var folder = NSTemporaryDirectory()

    func run() throws {
      let place = folder + "/bench-rados-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: place) }
      let name = "bench-\(UUID().uuidString)"
      let options = conf.map { "?conf=\($0)" } ?? ""
      let location = try RadosLocation("\(pool)/\(name)\(options)")
      defer { _ = try? RADOSStore.delete(location) }

      let floor = try Floor(RadosLocation("\(pool)/\(name)-floor\(options)"))
      defer { floor.end() }
      let write = try floor.write(count: commits)
      let swap = try floor.swap(count: commits)
      Row.print("plain: one replicated write of 16 KiB", milliseconds: write)
      Row.print("plain: one compare-and-swap of 512 bytes", milliseconds: swap)
      Row.print(
        "plain: replicated writes of 12 KiB, 64 under way", perSecond: try floor.writes(seconds: 2))

      let openRemote = { try Database(store: RADOSStore.open(location)) }
      let openLocal = { try Database(store: FileStore(path: place + "/store")) }
      for (name, open) in [("file", openLocal), ("rados", openRemote)] {
        let database = try open()
        let seconds = try ContinuousClock().measure { try Work(database).fill(rows) }.seconds
        Row.print("\(name): rows loaded in one transaction", perSecond: Double(rows) / seconds)
        try database.close()
      }
      // One after the other, because what else the cluster does changes from second to second.
      var scans: [Scans.Result] = []
      var plain: [Double] = []
      for _ in 0..<5 {
        scans.append(try Scans.cold(openRemote))
        plain.append(try floor.readBlocks(of: RadosLocation("\(pool)/\(name)\(options)")))
      }
      let opened = scans.sorted { $0.first < $1.first }[2]
      let floorPerSecond = plain.sorted()[2]
      Row.print("plain: all blocks, 4 at a time", perSecond: floorPerSecond / 1e6, unit: "MB/s")
      let scanned = Double(opened.byteCount) / opened.first
      Row.print(
        "rados: first scan of all columns, nothing cached", perSecond: scanned / 1e6, unit: "MB/s",
        note: String(format: "%.0f %% of plain", 100 * scanned / floorPerSecond))
      Row.print("rados: second scan", milliseconds: opened.second * 1e3)
      let kept = try Scans.cold(openLocal)
      Row.print("file: second scan", milliseconds: kept.second * 1e3)
      Row.print("rados: point reads after a scan", perSecond: opened.points)
      Row.print("file: point reads", perSecond: kept.points)

      let remote = try openRemote()
      let local = try openLocal()
      // What is measured are commits, not the reads of what they change.
      for database in [local, remote] { _ = try Scans.run(database) }
      let file = try Work(local).change(count: commits)
      let small = try Work(remote).change(count: commits)
      Row.print("file: one row changed, durable", milliseconds: file)
      Row.print(
        "rados: one row changed, durable", milliseconds: small,
        note: String(format: "%.2f × (write + swap)", small / (write + swap)))
      let one = try Work(remote).together(threads: 1, seconds: 3)
      let many = try Work(remote).together(threads: 64, seconds: 3)
      Row.print("rados: one committer", perSecond: one)
      Row.print("file: 64 tasks", perSecond: try Work(local).together(tasks: 64, seconds: 3))
      let tasks = try Work(remote).together(tasks: 64, seconds: 3)
      Row.print(
        "rados: 64 tasks, each with commits of its own", perSecond: tasks,
        note: String(format: "%.0f × one", tasks / one))
      Row.print("file: 64 committers", perSecond: try Work(local).together(threads: 64, seconds: 3))
      Row.print(
        "rados: 64 committers that wait together", perSecond: many,
        note: String(format: "%.0f × one", many / one))

      let objectPlace = "\(pool)/\(name)-objects\(options)"
      defer { _ = try? RADOSStore.delete(RadosLocation(objectPlace)) }
      let objects = "rados:" + objectPlace
      let alone = try TaskWrites(.init(location: objects)).perSecond(tasks: 1, seconds: 3)
      let shared = try TaskWrites(.init(location: objects)).perSecond(tasks: 64, seconds: 3)
      let grouped = try TaskWrites(.init(location: objects), allowGrouping: true)
        .perSecond(tasks: 64, seconds: 3)
      let localObjects = place + "/objects"
      Row.print("rados: one task that changes objects, RealmDatabase", perSecond: alone)
      Row.print(
        "file: 64 tasks that change objects, RealmDatabase",
        perSecond: try TaskWrites(.init(location: localObjects)).perSecond(tasks: 64, seconds: 3))
      Row.print(
        "file: the same, allowGrouping",
        perSecond: try TaskWrites(.init(location: localObjects), allowGrouping: true)
          .perSecond(tasks: 64, seconds: 3))
      Row.print(
        "rados: 64 tasks that change objects, RealmDatabase", perSecond: shared,
        note: String(format: "%.0f × one", shared / alone))
      Row.print(
        "rados: the same, allowGrouping", perSecond: grouped,
        note: String(format: "%.0f × one", grouped / alone))

      Row.print(
        "file: 2,000 rows changed, durable",
        milliseconds: try Work(local).changeMany(count: commits / 4))
      let large = try Work(remote).changeMany(count: commits / 4)
      Row.print(
        "rados: 2,000 rows changed, durable", milliseconds: large,
        note: String(format: "%.2f × (write + swap)", large / (write + swap)))

      let seen = try Seeing(location).run(remote, count: commits)
      Row.print("rados: from a commit's return until others see it", milliseconds: seen)

      try local.close()
      try remote.close()
      let opening = try median(count: 20) { _ in try openRemote().close() }
      Row.print("rados: opening and closing", milliseconds: opening)
      let parts = try floor.parts(of: location)
      Row.print("rados: objects with pages", count: parts.blocks)
      Row.print("rados: the root with its log", count: parts.rootByteCount, unit: "bytes")
      Row.print("rados: what is kept of the space", count: parts.spaceByteCount, unit: "bytes")

      let aged = try Scans.cold(openRemote)
      Row.print(
        "rados: first scan after these changes, nothing cached",
        perSecond: Double(aged.byteCount) / aged.first / 1e6, unit: "MB/s")
      let cached = try RadosLocation(
        "\(pool)/\(name)?cache=\(place)/pages" + (conf.map { "&conf=\($0)" } ?? ""))
      let openCached = { try Database(store: RADOSStore.open(cached)) }
      for run in ["first scan, which fills a local cache", "first scan after a restart, from it"] {
        let scans = try Scans.cold(openCached)
        Row.print(
          "rados: \(run)", perSecond: Double(scans.byteCount) / scans.first / 1e6, unit: "MB/s")
      }
    }
  }

  /// Lines of a table.
  enum Row {
    static func print(_ what: String, milliseconds: Double, note: String = "") {
      line(what, String(format: "%.2f ms", milliseconds), note)
    }

    static func print(
      _ what: String, perSecond: Double, unit: String = "a second", note: String = ""
    ) {
      line(what, String(format: "%.0f %@", perSecond, unit), note)
    }

    static func print(_ what: String, count: Int, unit: String = "") {
      line(what, unit.isEmpty ? "\(count)" : "\(count) \(unit)", "")
    }

    private static func line(_ what: String, _ value: String, _ note: String) {
      Swift.print("| \(what) | \(value) | \(note) |")
      fflush(nil)
    }
  }

  /// The median of what `body` takes, in milliseconds.
  func median(count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
    var times: [Double] = []
    let clock = ContinuousClock()
    for index in 0..<count {
      let duration = try clock.measure { try body(index) }
      times.append(
        Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) / 1e15)
    }
    return times.sorted()[times.count / 2]
  }

  /// Plain operations of the cluster.
  struct Floor {
    private let objects: RadosObjects

    init(_ location: RadosLocation) throws { objects = try RadosObjects(location) }

    func write(count: Int) throws -> Double {
      let bytes = [UInt8](repeating: 7, count: 16 << 10)
      return try median(count: count) { index in
        _ = try objects.perform(
          .write(name: "w\(index / 200)", offset: index % 200 * bytes.count, bytes: bytes))
      }
    }

    /// How many small writes a second the cluster takes when it always has 64.
    func writes(seconds: Double) throws -> Double {
      let bytes = [UInt8](repeating: 7, count: 12 << 10)
      let clock = ContinuousClock()
      let begin = clock.now
      var count = 0
      while (clock.now - begin).seconds < seconds {
        let requests = (0..<64).map { index in
          ObjectRequest.write(
            name: "m\(index)", offset: count / 64 % 300 * bytes.count, bytes: bytes)
        }
        for result in objects.perform(requests) { _ = try result.get() }
        count += requests.count
      }
      return Double(count) / (clock.now - begin).seconds
    }

    func swap(count: Int) throws -> Double {
      let state = { (index: Int) in [UInt8](repeating: UInt8(index % 200), count: 512) }
      _ = try objects.perform(.create(name: "swapped", bytes: state(0)))
      return try median(count: count) { index in
        _ = try objects.perform(
          .swap(
            name: "swapped",
            ObjectSwap(
              offset: 0, expected: Array(state(index).prefix(24)),
              change: .write([(0, state(index + 1))]))))
      }
    }

    /// How many bytes of a store's blocks are read a second, four blocks at a time.
    func readBlocks(of location: RadosLocation) throws -> Double {
      let objects = try RadosObjects(location)
      defer { objects.close() }
      guard case .names(let names) = try objects.perform(.list) else { return 0 }
      let blocks = names.filter { $0.hasPrefix("b.") }
      var byteCount = 0
      let duration = try ContinuousClock().measure {
        var rest = blocks[...]
        while !rest.isEmpty {
          for result in objects.perform(
            rest.prefix(4).map { .read(name: $0, ranges: [0..<4 << 20]) })
          {
            if case .bytes(let buffers) = try result.get() { byteCount += buffers[0].byteCount }
          }
          rest = rest.dropFirst(4)
        }
      }
      return Double(byteCount) / duration.seconds
    }

    /// What a store consists of.
    func parts(
      of location: RadosLocation
    ) throws -> (blocks: Int, rootByteCount: Int, spaceByteCount: Int) {
      let objects = try RadosObjects(location)
      defer { objects.close() }
      guard case .names(let names) = try objects.perform(.list) else { return (0, 0, 0) }
      func byteCount(_ name: String) throws -> Int {
        guard
          case .bytes(let buffers) = try objects.perform(.read(name: name, ranges: [0..<64 << 20]))
        else { return 0 }
        return buffers[0].byteCount
      }
      return (
        names.count { $0.hasPrefix("b.") }, try byteCount("root"),
        try names.filter { $0.hasPrefix("s.") }.reduce(0) { try $0 + byteCount($1) }
      )
    }

    func end() {
      if case .names(let names)? = try? objects.perform(.list) {
        for name in names { _ = try? objects.perform(.remove(name: name)) }
      }
      objects.close()
    }
  }

  extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
  }
#else
  @main
  struct BenchRADOS {
    static func main() { print("This was built without the trait 'RADOS'.") }
  }
#endif
