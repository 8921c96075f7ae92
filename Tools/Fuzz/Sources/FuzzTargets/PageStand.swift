import CambiumCore
import Synchronization

/// A store whose pages are whatever was planted, for reading crafted pages as trees.
final class PageStand: PageStore {
  private struct State {
    var pages: [UInt64: PageBuffer] = [:]
    var nextAddress: UInt64 = 64
  }

  private let state = Mutex(State())
  let identity = StoreIdentity(
    kind: "fuzz", path: "fuzz", uuid: (1, 2), formatVersion: 1, codec: "", isReadOnly: false)
  private let head = Head(version: 1, epoch: 1, root: .empty(.key))

  /// Stores `bytes`, padded to whole units, as a page of `kind`.
  func plant(_ bytes: UnsafeRawBufferPointer, _ kind: PageKind) -> PageReference {
    let unitCount = min(65_535, max(1, Extent.unitCount(forByteCount: bytes.count)))
    let buffer = PageBuffer(byteCount: Int(unitCount) * Extent.unitByteCount)
    UnsafeMutableRawBufferPointer(start: buffer.bytes, count: buffer.byteCount)
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(buffer.byteCount)))
    let extent = state.withLock { state in
      let extent = Extent(address: state.nextAddress, unitCount: unitCount)
      state.nextAddress += unitCount
      state.pages[extent.address] = buffer
      return extent
    }
    return PageReference(
      checksum: buffer.withBytes { Checksum.hash($0) }, extent: extent, kind: kind, born: 1)
  }

  /// Forgets all pages; their addresses are not used again.
  func clear() { state.withLock { $0.pages = [:] } }

  func newestHead() throws(StoreError) -> Head { head }
  func pin() throws(StoreError) -> Pin { Pin(head: head) {} }

  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    guard let buffer = state.withLock({ $0.pages[reference.address] }) else {
      throw .damaged(Damage(.reference, at: reference, "no page was ever planted there"))
    }
    return buffer.page
  }

  func beginWrite() throws(StoreError) -> any PageWriter { Writer(stand: self, base: head) }
  func sync() throws(StoreError) {}
  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version { 1 }
  func audit() throws(StoreError) -> StoreAudit { StoreAudit(of: try pin()) { _ in [] } }
  func close() throws(StoreError) {}

  func statistics() throws(StoreError) -> StoreStatistics {
    StoreStatistics(
      totalByteCount: 0, freeByteCount: 0, pendingByteCount: 0, newestVersion: 1,
      durableVersion: 1, pinnedVersions: [])
  }

  private final class Writer: PageWriter {
    let stand: PageStand
    let base: Head
    let version: Version = 2

    init(stand: PageStand, base: Head) {
      self.stand = stand
      self.base = base
    }

    func reserve(byteCount: Int) throws(StoreError) {}

    func allocate(byteCount: Int) throws(StoreError) -> Extent {
      stand.state.withLock { state in
        let extent = Extent(
          address: state.nextAddress, unitCount: Extent.unitCount(forByteCount: byteCount))
        state.nextAddress += extent.unitCount
        return extent
      }
    }

    func write(
      _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
    ) throws(StoreError) {
      let buffer = PageBuffer(copying: bytes)
      stand.state.withLock { $0.pages[extent.address] = buffer }
    }

    func free(_ reference: PageReference) {}

    func publish(
      root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
    ) throws(StoreError) -> Pin {
      let head = Head(version: version, epoch: 1, root: root)
      beforeNext(head)
      return Pin(head: head) {}
    }

    func abort() {}
  }
}

/// Runs `body`; what it throws is one of the ways in which damage may end.
func tolerating(_ body: () throws(StoreError) -> Void) {
  do throws(StoreError) { try body() } catch {}
}
