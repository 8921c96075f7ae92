import CFloor
import Foundation

/// The least the machine needs: for a durable commit one write and one sync, for a scan a loop over
/// plain memory.
///
/// It overwrites a file that was written before, because blocks that were never written double the
/// cost of a sync.
final class FloorEngine: Engine {
  static let name = "floor"

  private static let blockCount = 16 * 1024
  private let path: String
  /// Bytes go through it from one process to another.
  private lazy var pipe: Int32 = {
    mkfifo(path + "-pipe", 0o600)
    return Foundation.open(path + "-pipe", O_RDWR | O_CLOEXEC)
  }()
  private var file: RawFile?
  private var next = 0
  private var ages: [Int64] = []
  private var scores: [Double] = []

  init(folder: String) {
    path = folder + "/floor"
  }

  func create() throws {
    let file = try RawFile(creating: path, blockByteCount: 4096)
    for index in 0..<Self.blockCount { try file.write(blockAt: index) }
    try file.synchronize()
    self.file = file
  }

  func open() throws {}

  func close() {
    file = nil
  }
}

extension FloorEngine: BulkLoading {
  func load(_ people: People, _ order: LoadOrder) {
    ages = (0..<order.count).map { order.person(at: $0, of: people).age }
    scores = (0..<order.count).map { order.person(at: $0, of: people).score }
  }
}

extension FloorEngine: ColumnScanning {
  func count(ofAgesIn range: Range<Int64>) -> Int {
    ages.withUnsafeBufferPointer { ages in
      floor_count(ages.baseAddress, ages.count, range.lowerBound, range.upperBound)
    }
  }

  func sumOfScores() -> Double {
    scores.withUnsafeBufferPointer { scores in floor_sum(scores.baseAddress, scores.count) }
  }
}

extension FloorEngine: SmallCommitting {
  func commitAppend(_ person: Person, isDurable: Bool) throws {
    try overwrite(pageCount: 1)
  }

  func commit(_ changes: [AgeChange], isDurable: Bool) throws {
    if isDurable { try overwrite(pageCount: 1) }
  }

  /// Overwrites some pages of 4 KiB with one write and syncs them.
  func overwrite(pageCount: Int) throws {
    guard let file else { return }
    if next + pageCount > Self.blockCount { next = 0 }
    try file.write(blockAt: next, count: pageCount)
    try file.synchronize()
    next += pageCount
  }
}

extension FloorEngine: CommitWaiting {
  func commit(stamp: UInt64) throws {
    let count = withUnsafeBytes(of: stamp) { write(pipe, $0.baseAddress, $0.count) }
    guard count == 8 else { throw SystemFailure(call: "write", path: path, code: errno) }
  }

  func beginWaiting() { _ = pipe }

  func waitForStamp() throws -> UInt64 {
    var stamp: UInt64 = 0
    let count = withUnsafeMutableBytes(of: &stamp) { read(pipe, $0.baseAddress, $0.count) }
    guard count == 8 else { throw SystemFailure(call: "read", path: path, code: errno) }
    return stamp
  }
}
