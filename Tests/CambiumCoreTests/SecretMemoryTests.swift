import CPlatform
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore

/// Memory for decrypted pages: zeroed, apart from each other, wiped, and not in core dumps.
struct SecretMemoryTests {
  private struct Block {
    var memory: UnsafeMutableRawPointer
    var byteCount: Int
    var mark: UInt8
  }

  @Test func `a child has secret memory whatever its parent's threads did when it was forked`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let isDone = Mutex(false)
      let hasEnded = DispatchSemaphore(value: 0)
      Thread {
        while isDone.withLock({ !$0 }) {
          for _ in 0..<100 { _ = PageBuffer(byteCount: 4096, isSecret: true) }
        }
        hasEnded.signal()
      }.start()
      for _ in 0..<200 {
        let status = ForkedChild.status {
          _ = PageBuffer(byteCount: 4096, isSecret: true)
          return 0
        }
        #expect(status == 0)
        if status != 0 { break }
      }
      isDone.withLock { $0 = true }
      hasEnded.wait()
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `blocks are zeroed, aligned and their own`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var blocks: [Block] = []
    func release(_ block: Block) {
      let bytes = UnsafeRawBufferPointer(start: block.memory, count: block.byteCount)
      #expect(bytes.allSatisfy { $0 == block.mark })
      cambium_undumped_free(block.memory, block.byteCount)
    }
    for _ in 0..<3_000 {
      if blocks.count < 60 || Int.random(in: 0..<100, using: &generator) < 48 {
        let byteCount =
          Int.random(in: 0..<20, using: &generator) == 0
          ? Int.random(in: 0...300_000, using: &generator)
          : [1, 64, 1_024, 1_025, 4_160, 8_000][Int.random(in: 0..<6, using: &generator)]
        let memory = try #require(cambium_undumped_allocate(byteCount))
        #expect(Int(bitPattern: memory) % 64 == 0)
        let bytes = UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
        #expect(bytes.allSatisfy { $0 == 0 })
        let mark = UInt8.random(in: 1...255, using: &generator)
        bytes.initializeMemory(as: UInt8.self, repeating: mark)
        blocks.append(Block(memory: memory, byteCount: byteCount, mark: mark))
      } else {
        release(blocks.remove(at: Int.random(in: 0..<blocks.count, using: &generator)))
      }
    }
    for block in blocks { release(block) }
  }

  @Test func `a chain with a secret part makes all its pages secret`() throws {
    struct Plain: PageCodec {
      let name = "plain"
      var isSecret = false
      var needsPlace: Bool { false }
      func encode(
        _ page: Span<UInt8>, kind: PageKind
      ) throws(StoreError) -> [UInt8] { Array(copying: page) }
      func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}
      func open(
        _ body: Span<UInt8>, context: PageContext
      ) throws(StoreError) -> PageBuffer {
        PageBuffer(byteCount: body.count, isSecret: context.isSecret)
      }
    }
    let context = PageContext(
      storeHigh: 1, storeLow: 2, kind: .keyLeaf, address: 64, born: 1)
    let body = [UInt8](repeating: 1, count: 64)
    for (isSecret, chain) in [
      (false, CodecChain([Plain(), Plain()])),
      (true, CodecChain([Plain(), Plain(isSecret: true)])),
    ] {
      #expect(chain.isSecret == isSecret)
      let page = try chain.open(body.span, context: context)
      #expect(page.isSecret == isSecret)
    }
  }

  #if os(Linux)
    @Test func `secret pages and keys are left out of core dumps, others are not`() throws {
      let small = PageBuffer(byteCount: 8_000, isSecret: true)
      let large = PageBuffer(byteCount: 1 << 20, isSecret: true)
      let plain = PageBuffer(byteCount: 8_000)
      let key = CodecKey(copying: [UInt8](repeating: 5, count: 64).span)
      let mappings = try Mappings()
      #expect(mappings.areDumped(at: UnsafeRawPointer(small.bytes)) == false)
      #expect(mappings.areDumped(at: UnsafeRawPointer(large.bytes)) == false)
      #expect(mappings.areDumped(at: UnsafeRawPointer(plain.bytes)) == true)
      #expect(
        key.withBytes { $0.withUnsafeBytes { mappings.areDumped(at: $0.baseAddress) } } == false)
      withExtendedLifetime((small, large, plain)) {}
    }
  #endif
}

#if os(Linux)
  /// What the system says of this process's memory.
  private struct Mappings {
    private var list: [(range: Range<UInt>, flags: Set<Substring>)] = []

    init() throws {
      // Its size is not known ahead, as that of ordinary files is.
      let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
      defer { try? file.close() }
      let text = String(decoding: try #require(try file.readToEnd()), as: UTF8.self)
      var range: Range<UInt> = 0..<0
      for line in text.split(separator: "\n") {
        if line.hasPrefix("VmFlags:") {
          list.append((range, Set(line.split(separator: " ").dropFirst())))
        } else {
          let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap {
            UInt($0, radix: 16)
          }
          if ends.count == 2, ends[0] <= ends[1] { range = ends[0]..<ends[1] }
        }
      }
    }

    /// Nil where nothing is known of the address.
    func areDumped(at address: UnsafeRawPointer?) -> Bool? {
      let place = UInt(bitPattern: address)
      return list.first { $0.range.contains(place) }.map { !$0.flags.contains("dd") }
    }
  }
#endif
