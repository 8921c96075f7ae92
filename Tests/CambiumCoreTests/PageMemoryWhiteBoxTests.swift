import Foundation
import Synchronization
import Testing

@testable import CambiumCore

/// Memory for pages in the making.
struct PageMemoryWhiteBoxTests {
  @Test func `blocks have the room that was asked for, are aligned, and are nobody else's`() {
    var taken: [(start: UnsafeMutableRawPointer, byteCount: Int, mark: UInt8)] = []
    for round in 0..<3 {
      for (index, byteCount) in [1, 64, 1023, 1024, 1025, 8064, 16384, 16385, 70000].enumerated() {
        for copy in 0..<6 {
          let start = PageMemory.take(byteCount: byteCount)
          #expect(Int(bitPattern: start) % 64 == 0)
          let mark = UInt8(index * 20 + copy)
          start.initializeMemory(as: UInt8.self, repeating: mark, count: byteCount)
          taken.append((start, byteCount, mark))
        }
      }
      for block in taken {
        let bytes = UnsafeRawBufferPointer(start: block.start, count: block.byteCount)
        #expect(bytes.allSatisfy { $0 == block.mark }, "\(block.byteCount) bytes, round \(round)")
        PageMemory.giveBack(block.start, byteCount: block.byteCount)
      }
      taken = []
    }
  }

  @Test func `a small transaction uses the memory of the one before`() {
    var isFound = false
    // Other tests may be quicker.
    for _ in 0..<10_000 where !isFound {
      let first = PageMemory.take(byteCount: 5000)
      PageMemory.giveBack(first, byteCount: 5000)
      // The allocator has no idea of it.
      let others = (0..<4).map { _ in
        UnsafeMutableRawPointer.allocate(byteCount: 5120, alignment: 64)
      }
      let second = PageMemory.take(byteCount: 5000)
      isFound = first == second && !others.contains(first)
      PageMemory.giveBack(second, byteCount: 5000)
      for other in others { other.deallocate() }
      if !isFound { usleep(1_000) }
    }
    #expect(isFound)
  }

  @Test func `nobody waits for a thread that may not be there any more`() {
    let (locked, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread {
      PageMemory.spares.withLock { _ in
        locked.signal()
        isDone.wait()
      }
    }.start()
    locked.wait()
    let page = PageMemory.take(byteCount: 5000)
    page.initializeMemory(as: UInt8.self, repeating: 1, count: 5000)
    PageMemory.giveBack(page, byteCount: 5000)
    isDone.signal()
  }
}
