/// The least a durable commit can cost: one 4 KiB write and one sync.
///
/// It overwrites a file that was written before, because blocks that were never written double the
/// cost of a sync.
final class FloorEngine: Engine {
  static let name = "floor"

  private static let blockCount = 16 * 1024
  private let path: String
  private var file: RawFile?
  private var next = 0

  init(folder: String) {
    path = folder + "/floor"
  }

  func open() throws {
    let file = try RawFile(creating: path, blockByteCount: 4096)
    for index in 0..<Self.blockCount { try file.write(blockAt: index) }
    try file.synchronize()
    self.file = file
  }

  func close() {
    file = nil
  }
}

extension FloorEngine: SmallCommitting {
  func commitAppend(_ person: Person, isDurable: Bool) throws {
    try overwrite()
  }

  func commitUpdate(key: Int64, age: Int64, isDurable: Bool) throws {
    try overwrite()
  }

  private func overwrite() throws {
    guard let file else { return }
    try file.write(blockAt: next)
    try file.synchronize()
    next = (next + 1) % Self.blockCount
  }
}
