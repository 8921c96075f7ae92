@testable import CambiumCore
@testable import CambiumFile

/// Opens a file whose log of small commits was changed, reads, verifies and writes it.
enum LoggedFile {
  /// A file whose newest versions are in its log alone, as after a crash, and what that log has.
  static let original = try? makeFile()

  /// Each five bytes are a change: which record, what is done to it, where (two bytes), and with what.
  ///
  /// Checksums and links are put right afterwards, so that the engine sees the records.
  static func run(_ bytes: UnsafeRawBufferPointer) {
    guard let original else { preconditionFailure("A file with a log could not be made.") }
    var supply = ByteSupply(bytes)
    var contents = original.contents
    while !supply.isEmpty {
      let record = supply.number(below: contents.count)
      apply(&supply, to: &contents[record])
    }
    DamagedFile.use(original.bytes(with: contents))
  }

  /// Changes something in a record: a byte, its length, or what lies where.
  private static func apply(_ supply: inout ByteSupply, to content: inout [UInt8]) {
    let operation = supply.byte()
    let place = supply.number(below: 65_535)
    let argument = supply.byte()
    guard !content.isEmpty else { return }
    let position = place % content.count
    switch operation % 8 {
    case 0: content.removeSubrange(position...)
    case 1: content.insert(contentsOf: repeatElement(argument, count: 4), at: position)
    case 2:
      let count = min(Int(argument), content.count - position)
      content.removeSubrange(position..<position + count)
    case 3:
      let source = position &* 31 % content.count
      let count = min(Int(argument), content.count - max(position, source))
      content.replaceSubrange(
        position..<position + count, with: Array(content[source..<source + count]))
    default: content[position] ^= argument
    }
  }

  // MARK: The file

  /// Small commits that change, remove and add rows, and set keys, in a file with pages of all kinds.
  private static func makeFile() throws(StoreError) -> Original {
    let device = MemoryDevice(try DamagedFile.makeFile(rowCount: 250))
    let store = try DamagedFile.store(device) { $0.unloggedCommitCount = 0 }
    let database = try Database(store: store)
    // Now and then all pages are stored, and the log begins anew.
    for step in 0..<1_000 as Range<Int64> {
      let transaction = try database.beginWrite()
      try DamagedFile.change(transaction, key: step % 40)
      _ = try transaction.commit(metadata: [UInt8](repeating: 7, count: Int(step % 8)))
      if let original = try Original(device.bytes, store), original.contents.count >= 5 {
        return original
      }
    }
    preconditionFailure("Small commits left no log.")
  }

  /// A file, where its log lies, and what the records of that are.
  struct Original: Sendable {
    private let file: [UInt8]
    private let identity: IdentitySector
    private let log: StoredLog
    /// Where the log begins.
    let start: StoredLog.Tail
    /// Of each record what its commit was given, and what it changed.
    let contents: [[UInt8]]

    init?(_ file: [UInt8], _ store: FileStore) throws(StoreError) {
      let head = store.state.withLock { $0.newest }
      guard let extent = head.log,
        let content = try StoredLog.content(
          following: head, identity: store.sector, codec: nil, device: MemoryDevice(file),
          path: "fuzz")
      else { return nil }
      self.file = file
      identity = store.sector
      log = StoredLog(extent)
      start = StoredLog.Tail(following: head)
      let memory = SharedMemory()
      let records = SharedLog(memory: memory)
      _ = records.put(content.records, at: 0)
      var contents: [[UInt8]] = []
      var end = 0
      while let next = records.record(
        of: start.version + UInt64(contents.count) + 1, after: start.base, at: end)
      {
        contents.append(next.record)
        end = next.end
      }
      self.contents = contents
    }

    /// The file with other records, each in a batch of its own, as far as there is room for them.
    func bytes(with contents: [[UInt8]]) -> [UInt8] {
      var changed = file
      var tail = start
      for content in contents {
        let version = tail.version + 1
        let record = Self.record(of: version, after: start.base, content)
        let offset = log.byteOffset(behind: tail)
        let (stored, next) = StoredLog.batch(
          record, making: version, epoch: 1, behind: tail, in: identity)
        guard next.blockCount <= log.blocks.count, offset + stored.count <= changed.count else {
          break
        }
        changed.replaceSubrange(offset..<offset + stored.count, with: stored)
        tail = next
      }
      return changed
    }

    /// A record whose content is `content`, the length of what its commit was given included.
    private static func record(
      of version: Version, after base: Version, _ content: [UInt8]
    ) -> [UInt8] {
      let content = content + [UInt8](repeating: 0, count: max(0, 4 - content.count))
      var record = SharedLog.record(
        of: version, after: base, behind: 0, sealedBy: nil, metadata: [],
        byteLimit: content.count
      ) { $0.append(copying: Array(content.dropFirst(4))) }
      let start = SharedLog.headerByteCount
      record.replaceSubrange(start..<start + 4, with: content.prefix(4))
      let end = record.count - 8
      let checksum = StoredBytes(record).checksum(before: end)
      withUnsafeBytes(of: checksum.littleEndian) { record.replaceSubrange(end..., with: $0) }
      return record
    }
  }
}
