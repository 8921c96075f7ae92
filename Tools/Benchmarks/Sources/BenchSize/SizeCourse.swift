import CambiumCore
import CambiumFile
import Foundation

/// What a small commit takes in a file of one size.
struct SizeReport: Codable {
  var gibibytes: Int
  var bytesPerCommit: Double
  var microsecondsPerCommit: Double
  var memoryMebibytes: Double
  var openingMilliseconds: Double
  var firstWriteMilliseconds: Double

  static let heading = """
        GiB   KB/commit   µs/commit    MiB memory   opening ms   first write ms
    """

  var line: String {
    String(
      format: "%7d %11.2f %11.1f %13.1f %12.2f %16.2f", gibibytes, bytesPerCommit / 1e3,
      microsecondsPerCommit, memoryMebibytes, openingMilliseconds, firstWriteMilliseconds)
  }
}

/// One file from the first page to the last commit.
struct SizeCourse {
  private let path: String
  private let gibibytes: Int
  private let commitCount: Int
  private let device: SparseDevice
  private var random = RandomNumbers(seed: 4711)
  /// The blocks at which the pages begin that fill the file.
  private let places: [UInt32]
  /// Pages that are in use, one block each: those that commits have written.
  private var pages: [(extent: Extent, born: Version)] = []
  private var taken: Set<UInt64> = []
  private let content = [UInt8](repeating: 7, count: 4_096)

  /// How many pages a commit gives up and writes.
  private static let pageCount = 3

  init(path: String, gibibytes: Int, commitCount: Int) throws {
    self.path = path
    self.gibibytes = gibibytes
    self.commitCount = commitCount
    device = try SparseDevice(path: path)
    places = try Data(contentsOf: Self.places(of: path)).withUnsafeBytes {
      Array($0.bindMemory(to: UInt32.self))
    }
  }

  /// Makes a file of that size, and one beside it that says where its pages begin.
  static func fill(path: String, gibibytes: Int) throws {
    let store = try open(SparseDevice(path: path), path)
    let extents = try PageWork.fill(store, byteCount: gibibytes << 30)
    try store.close()
    let places = extents.map { UInt32($0.address / 64) }
    try places.withUnsafeBytes { try Data($0).write(to: Self.places(of: path)) }
  }

  private static func places(of path: String) -> URL { URL(fileURLWithPath: path + ".places") }

  private static func open(_ device: SparseDevice, _ path: String) throws -> FileStore {
    var options = FileStoreOptions(access: .buffered)
    options.device = { _ in device }
    return try FileStore(path: path, options: options)
  }

  mutating func run() throws -> SizeReport {
    var store = try Self.open(device, path)
    // The map is as scattered as it gets, and the books as full.
    for _ in 0..<commitCount / 4 { try change(store) }
    try store.close()
    let clock = ContinuousClock()
    let opening = try clock.measure { store = try Self.open(device, path) }
    let firstWrite = try clock.measure { try change(store) }
    for _ in 0..<commitCount / 4 { try change(store) }
    let before = device.writtenByteCount
    var times: [Double] = []
    for _ in 0..<commitCount {
      times.append(try clock.measure { try change(store) } / .microseconds(1))
    }
    let bytes = device.writtenByteCount - before
    let memory = try Self.residentByteCount()
    try store.close()
    // Folds of the map are part of what a commit takes on average.
    let mean = times.reduce(0, +) / Double(times.count)
    return SizeReport(
      gibibytes: gibibytes, bytesPerCommit: Double(bytes) / Double(commitCount),
      microsecondsPerCommit: mean, memoryMebibytes: Double(memory) / 1_048_576,
      openingMilliseconds: opening / .milliseconds(1),
      firstWriteMilliseconds: firstWrite / .milliseconds(1))
  }

  /// Gives up pages at random and writes as many new ones.
  private mutating func change(_ store: FileStore) throws {
    let writer = try store.beginWrite()
    for index in 0..<Self.pageCount {
      // One of them is young, as the upper pages of a tree are.
      if index == 0, !pages.isEmpty {
        let page = pages.remove(at: Int(random.next() % UInt64(pages.count)))
        writer.free(PageWork.reference(page.extent, born: page.born))
      } else {
        writer.free(PageWork.reference(oldPage(), born: 1))
      }
    }
    for _ in 0..<Self.pageCount {
      let extent = try writer.allocate(byteCount: content.count)
      try writer.write(content.span, to: extent)
      pages.append((extent, writer.version))
    }
    if pages.count > 64 { pages.removeFirst(pages.count - 64) }
    _ = try writer.publish(root: .empty(.key), durability: .relaxed, metadata: [])
  }

  /// A block anywhere in the file that was in use from the beginning and is no more.
  private mutating func oldPage() -> Extent {
    while true {
      // Each of these pages has 1,024 blocks but for the last unit.
      let place = places[Int(random.next() % UInt64(places.count))]
      let block = UInt64(place) + random.next() % 1_023
      if taken.insert(block).inserted { return Extent(address: block * 64, unitCount: 64) }
    }
  }

  /// How much memory the process has.
  private static func residentByteCount() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
