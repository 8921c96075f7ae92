import Synchronization

/// Branches that a source has decoded and keeps for as long as it lives, found without a lock.
///
/// Every way down a tree begins with the same few pages; all others are found in the cache. A branch
/// whose place is taken by another one is left to the cache, too, so that a source holds 256 at most.
///
/// Unchecked: an entry is written before its address is, by one atomic exchange, and never again.
final class HeldBranches: @unchecked Sendable {
  private struct Entry {
    var reference: PageReference
    var bytes: UnsafeRawPointer
    var byteCount: Int
    var buffer: PageBuffer
  }

  private static let count = 256
  private let places: UnsafeMutablePointer<Atomic<UInt>>

  init() {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Self.count * MemoryLayout<Atomic<UInt>>.stride, alignment: 64)
    memory.initializeMemory(
      as: UInt8.self, repeating: 0, count: Self.count * MemoryLayout<Atomic<UInt>>.stride)
    places = memory.assumingMemoryBound(to: Atomic<UInt>.self)
  }

  deinit {
    for index in 0..<Self.count {
      guard let entry = entry(index) else { continue }
      entry.deinitialize(count: 1)
      entry.deallocate()
    }
    UnsafeMutableRawPointer(places).deallocate()
  }

  private func entry(_ index: Int) -> UnsafeMutablePointer<Entry>? {
    UnsafeMutablePointer(bitPattern: places[index].load(ordering: .acquiring))
  }

  private func index(_ reference: PageReference) -> Int {
    Int(truncatingIfNeeded: reference.checksum) & (Self.count - 1)
  }

  /// The page at `reference`, if it is held; it stays as long as this object.
  func page(_ reference: PageReference) -> Page? {
    guard let entry = entry(index(reference)), entry.pointee.reference == reference else {
      return nil
    }
    return Page(bytes: entry.pointee.bytes, byteCount: entry.pointee.byteCount, owner: nil)
  }

  /// Holds `buffer`, unless its place is taken.
  func insert(_ buffer: PageBuffer, for reference: PageReference) {
    let place = index(reference)
    if places[place].load(ordering: .relaxed) != 0 { return }
    let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
    entry.initialize(
      to: Entry(
        reference: reference, bytes: UnsafeRawPointer(buffer.bytes), byteCount: buffer.byteCount,
        buffer: buffer))
    let result = places[place].compareExchange(
      expected: 0, desired: UInt(bitPattern: entry), ordering: .releasing)
    if !result.exchanged {
      entry.deinitialize(count: 1)
      entry.deallocate()
    }
  }
}
