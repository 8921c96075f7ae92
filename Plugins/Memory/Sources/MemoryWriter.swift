import CambiumCore
import CambiumStoreKit

/// One write to a memory store.
///
/// Pointers: the content holds the memory. A page fills an extent that this write has allocated, which the log
/// checks; that room was made accessible before, and nobody else has a page there.
final class MemoryWriter: ResidentWriter {
  let base: Head
  let version: Version
  private let content: MemoryContent
  private let path: String
  private var ledger = WriteLedger()
  private var hasEnded = false
  private let sizeLimit: SizeLimit?

  init(content: MemoryContent, base: Head, path: String, maximumByteCount: Int?) {
    sizeLimit = maximumByteCount.map { limit in
      let present = try? content.withSpace(path: path) { space, _ in space.totalByteCount }
      return SizeLimit(limit, present: present ?? 0)
    }
    self.content = content
    self.base = base
    self.path = path
    version = base.version + 1
  }

  deinit { abort() }

  private func ensureRunning() {
    precondition(!hasEnded, "The write has ended; begin another one.")
  }

  func reserve(byteCount: Int) throws(StoreError) {
    ensureRunning()
    try content.withSpace(path: path) { space, grow throws(StoreError) in
      // Who may not have so much gets it page by page, as far as it goes.
      do throws(StoreError) {
        try space.reserve(byteCount: byteCount) { blockCount throws(StoreError) in
          try checkSize(blockCount, usesSpare: false)
          try grow(blockCount)
        }
      } catch .sizeLimitReached {}
    }
  }

  private func checkSize(_ blockCount: Int, usesSpare: Bool) throws(StoreError) {
    try sizeLimit?.check(
      (blockCount + 1) * BlockMap.blockByteCount, usesSpare: usesSpare, path: path)
  }

  /// Throws when more is in use than a write may take that only adds, and this one does.
  private func checkSize() throws(StoreError) {
    if sizeLimit == nil || ledger.isShrinking() { return }
    let used = try content.withSpace(path: path) { space, _ in
      space.blocks.blockCount - space.blocks.freeBlockCount
    }
    try checkSize(used, usesSpare: false)
  }

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    ensureRunning()
    try StoreLimits.checkPage(byteCount: byteCount)
    let usesSpare = ledger.isShrinking(adding: Extent.unitCount(forByteCount: byteCount))
    let extent = try content.withSpace(path: path) { space, grow throws(StoreError) in
      try space.allocate(byteCount: byteCount) { blockCount throws(StoreError) in
        try checkSize(blockCount, usesSpare: usesSpare)
        try grow(blockCount)
      }
    }
    ledger.take(extent)
    return extent
  }

  func write(
    _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    ensureRunning()
    ledger.noteWritten(bytes.count, to: extent)
    guard let memory = unsafe content.memory.base else { return }
    let target = unsafe UnsafeMutableRawBufferPointer(
      start: memory + extent.byteOffset, count: bytes.count)
    unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
  }

  func free(_ reference: PageReference) {
    ensureRunning()
    guard ledger.free(reference, version: version) else { return }
    // Taking back cannot make the space grow.
    try? content.withSpace(path: path) { space, _ in space.takeBack(reference.extent) }
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    ensureRunning()
    precondition(!root.reference.isDirty, "The root must be written before it is published.")
    let head = Head(version: version, epoch: base.epoch, root: root)
    do throws(StoreError) {
      try StoreLimits.check(metadata: metadata)
      try checkSize()
      let pin = try content.publish(
        head, allocations: ledger.allocations, freed: ledger.freed, metadata: metadata)
      hasEnded = true
      beforeNext(head)
      content.leave()
      return pin
    } catch {
      abort()
      throw error
    }
  }

  /// Not where the size is limited, since pages in memory are not counted; and those that go through a codec are not
  /// to be there without.
  var keepsPagesInMemory: Bool { sizeLimit == nil && content.codec.isEmpty }

  func mayKeep(_ change: ResidentChange) -> Bool { true }

  func publish(
    root: TreeRoot, residence: Residence, durability: Durability, metadata: [UInt8],
    record: () -> ResidenceRecord, beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    ensureRunning()
    precondition(
      ledger.freed.isEmpty && ledger.allocations.live.isEmpty,
      "What is published in memory has no page in the store.")
    try StoreLimits.check(metadata: metadata)
    var head = Head(version: version, epoch: base.epoch, root: root)
    head.residence = residence
    let pin = content.publish(head, metadata: metadata)
    hasEnded = true
    beforeNext(head)
    content.leave()
    return pin
  }

  func abort() {
    if hasEnded { return }
    hasEnded = true
    if content.isForked { return }
    // Rolling back cannot make the space grow.
    try? content.withSpace(path: path) { space, _ in space.rollBack(ledger.allocations) }
    content.leave()
  }
}
