import CambiumCore
import Synchronization

/// A store in which the bytes of some pages are not what was written, as on a medium that rots or
/// that somebody has changed.
///
/// Lends no memory, so that every page is seen.
final class TamperingStore: RelayingStore {
  private struct State {
    var generator = SeededGenerator(seed: 0)
    var isTampering = false
    var tamperedCount = 0
  }

  let inner: any PageStore
  private let state = Mutex(State())

  init(_ inner: any PageStore) { self.inner = inner }

  /// From now on every fourth page has another bit somewhere.
  func tamper(seed: UInt64) {
    state.withLock { state in
      state.generator = SeededGenerator(seed: seed)
      state.isTampering = true
    }
  }

  /// How many pages were changed.
  var tamperedCount: Int { state.withLock { $0.tamperedCount } }

  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    let page = try inner.read(reference, at: pin)
    let place = state.withLock { state -> Int? in
      guard state.isTampering, Int.random(in: 0..<4, using: &state.generator) == 0 else {
        return nil
      }
      state.tamperedCount += 1
      return Int.random(in: 0..<(reference.byteCount * 8), using: &state.generator)
    }
    guard let place else { return page }
    defer { withExtendedLifetime(page) {} }
    let buffer = PageBuffer(byteCount: reference.byteCount)
    unsafe buffer.bytes.copyMemory(from: page.bytes, byteCount: reference.byteCount)
    let byte = unsafe buffer.bytes.load(fromByteOffset: place / 8, as: UInt8.self)
    unsafe buffer.bytes.storeBytes(
      of: byte ^ 1 << (place % 8), toByteOffset: place / 8, as: UInt8.self)
    return buffer.page
  }

  func pin() throws(StoreError) -> Pin {
    let pin = try inner.pin()
    return unsafe Pin(head: pin.head) { withExtendedLifetime(pin) {} }
  }

  func makeDurable(_ version: Version) throws(StoreError) { try inner.makeDurable(version) }
}
