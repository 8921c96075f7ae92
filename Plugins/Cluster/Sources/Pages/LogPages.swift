import CambiumCore
import Synchronization

/// The pages that the log carries, and that therefore need not be in their blocks yet.
///
/// Thread-safe.
///
/// Pointers: a page that is given out lies in a buffer that is its owner; that it lies there whole was
/// checked when it came in.
final class LogPages: Sendable {
  private struct Slot {
    var buffer: PageBuffer
    var offset: Int
  }

  private let slots = Mutex<[UInt64: Slot]>([:])
  /// The lowest address of all pages; most reads are of older ones.
  private let first = Atomic(UInt64.max)

  /// The page at a location, as a reference names it; nil when it is in its block.
  func page(_ location: UInt64) -> Page? {
    if location >> 16 < first.load(ordering: .acquiring) { return nil }
    guard let slot = slots.withLock({ $0[location] }) else { return nil }
    return unsafe Page(
      bytes: slot.buffer.bytes + slot.offset,
      byteCount: Int(location & 0xffff) * Extent.unitByteCount,
      owner: slot.buffer)
  }

  /// The lowest address of all pages; nil when there are none.
  var firstAddress: UInt64? {
    let address = first.load(ordering: .acquiring)
    return address == .max ? nil : address
  }

  /// Keeps pages, which lie one after the other from `offset` of a buffer on.
  func add(_ locations: [UInt64], in buffer: PageBuffer, from offset: Int) {
    if locations.isEmpty { return }
    slots.withLock { slots in
      var offset = offset
      for location in locations {
        let byteCount = Int(location & 0xffff) * Extent.unitByteCount
        precondition(offset + byteCount <= buffer.byteCount, "A page lies outside of its buffer.")
        slots[location] = Slot(buffer: buffer, offset: offset)
        offset += byteCount
        lower(to: location >> 16)
      }
    }
  }

  /// Keeps a page in a buffer of its own.
  func add(_ location: UInt64, _ buffer: PageBuffer) { add([location], in: buffer, from: 0) }

  /// Forgets the pages below `address`: they are in their blocks.
  func removeAll(below address: UInt64) {
    slots.withLock { slots in
      slots = slots.filter { $0.key >> 16 >= address }
      first.store(slots.keys.min().map { $0 >> 16 } ?? .max, ordering: .releasing)
    }
  }

  /// Forgets these pages.
  func remove(_ locations: [UInt64]) {
    if locations.isEmpty { return }
    slots.withLock { slots in
      for location in locations { slots[location] = nil }
      if slots.isEmpty { first.store(.max, ordering: .releasing) }
    }
  }

  /// The locations of the pages from `address` on, in the order of their addresses.
  func locations(from address: UInt64, to end: UInt64) -> [UInt64] {
    slots.withLock { $0.keys.filter { $0 >> 16 >= address && $0 >> 16 < end } }.sorted()
  }

  private func lower(to address: UInt64) {
    if address < first.load(ordering: .relaxed) { first.store(address, ordering: .releasing) }
  }
}
